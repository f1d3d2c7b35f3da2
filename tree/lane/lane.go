// Package lane orders the packets that wait to be sent up a link: answers and
// events overtake output, as far as the order of each rank permits.
//
//	queue, next packet on the left            new packet
//	output 0-2 │ output 0,1                   reply of rank 3:  first
//	output 0-2 │ output 0,1                   stop of rank 2:   after the first
//	output 0-2 │ output 0,1 │ reply of 1      reply of rank 0:  after the second
//
// Packets of one rank never overtake each other. Between ranks no order is
// guaranteed, so a flood of output of some ranks does not delay answers and events
// of others.
package lane

import (
	"slices"

	"sdm/protocol/wire"
)

// Lane is a queue of packets to be sent up. The zero value is empty. It is not safe
// for concurrent use. It has no limit of its own: the caller checks Size.
type Lane struct {
	waiting []item
	size    int
	outputs int // part of size that is only output
}

type item struct {
	msg   wire.Message
	scope Scope
	size  int
}

// Add inserts a packet after the last one that it must not overtake. The packet is
// kept, not copied; size is its size for Size and Pressing.
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

// First returns the class of the next packet; false if there is none.
func (l *Lane) First() (Class, bool) {
	if len(l.waiting) == 0 {
		return 0, false
	}
	return l.waiting[0].scope.Class, true
}

// Take removes and returns the next packet. The lane must not be empty.
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

// Size returns the sum of the sizes.
func (l *Lane) Size() int { return l.size }

// Pressing returns the sum of the sizes of packets that are not only output.
func (l *Lane) Pressing() int { return l.size - l.outputs }
