// Package sendqueue orders the packets that wait to be sent up a link: answers and
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
package sendqueue

import (
	"slices"

	"sdm/protocol/wire"
)

// Queue is a queue of packets to be sent up. The zero value is empty. It is not safe
// for concurrent use. It has no limit of its own: the caller checks Size.
type Queue struct {
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
// kept, not copied; size is its size for Size and Urgent.
func (q *Queue) Add(m wire.Message, size int) {
	it := item{m, ScopeOf(&m), size}
	i := len(q.waiting)
	for i > 0 && it.scope.Passes(&q.waiting[i-1].scope) {
		i--
	}
	q.waiting = slices.Insert(q.waiting, i, it)
	q.size += size
	if it.scope.Class == Output {
		q.outputs += size
	}
}

// First returns the class of the next packet; false if there is none.
func (q *Queue) First() (Class, bool) {
	if len(q.waiting) == 0 {
		return 0, false
	}
	return q.waiting[0].scope.Class, true
}

// Take removes and returns the next packet. The queue must not be empty.
func (q *Queue) Take() (m wire.Message, size int) {
	first := &q.waiting[0]
	if first.scope.Class == Output {
		q.outputs -= first.size
	}
	m, size = first.msg, first.size
	*first = item{}
	if q.waiting = q.waiting[1:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	q.size -= size
	return m, size
}

// Size returns the sum of the sizes.
func (q *Queue) Size() int { return q.size }

// Urgent returns the sum of the sizes of packets that are not only output.
func (q *Queue) Urgent() int { return q.size - q.outputs }
