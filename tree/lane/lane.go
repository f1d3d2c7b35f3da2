// Package lane orders what waits to go up a link: what ranks wrote stands back for
// answers and events, as far as the order of each rank allows.
//
//	waits, first to go on the left            comes
//	output 0-2 │ output 0,1                   reply of rank 3:  goes before all
//	output 0-2 │ output 0,1                   stop of rank 2:   goes behind the first
//	output 0-2 │ output 0,1 │ reply of 1      reply of rank 0:  goes behind the second
//
// For one rank nothing ever overtakes anything. Between ranks there is no promise,
// and so a flood of some does not delay what others have to say.
package lane

import (
	"slices"

	"sdm/protocol/wire"
)

// Lane is what waits to go up. The zero value is empty. It is not safe for
// concurrent use, and not bounded by itself: whoever adds looks at Size.
type Lane struct {
	waiting []item
	size    int
	outputs int // of size, what is only output
}

type item struct {
	msg   wire.Message
	scope Scope
	size  int
}

// Add puts a packet in, behind the last one that it may not pass. It is kept, not
// copied; size is what it counts.
func (l *Lane) Add(m wire.Message, size int) {
	it := item{m, ScopeOf(&m), size}
	i := len(l.waiting)
	for i > 0 && it.scope.Passes(&l.waiting[i-1].scope) {
		i--
	}
	l.waiting = slices.Insert(l.waiting, i, it)
	l.size += size
	if it.scope.Class == Output {
		l.outputs += size
	}
}

// First gives the class of the packet that is to go next; false if there is none.
func (l *Lane) First() (Class, bool) {
	if len(l.waiting) == 0 {
		return 0, false
	}
	return l.waiting[0].scope.Class, true
}

// Take takes out the packet that is to go next, of which there is one.
func (l *Lane) Take() (m wire.Message, size int) {
	first := &l.waiting[0]
	if first.scope.Class == Output {
		l.outputs -= first.size
	}
	m, size = first.msg, first.size
	*first = item{}
	if l.waiting = l.waiting[1:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	l.size -= size
	return m, size
}

// Size sums up what waits.
func (l *Lane) Size() int { return l.size }

// Pressing sums up what waits without what is only output.
func (l *Lane) Pressing() int { return l.size - l.outputs }
