// Deadlines of requests.

package tree

import (
	"container/heap"
)

// timers is a heap of requests by deadline, and by number among equal deadlines. It
// implements heap.Interface; use arm and disarm.
type timers []*request

func (t timers) Len() int { return len(t) }

func (t timers) Less(i, j int) bool {
	if t[i].deadline != t[j].deadline {
		return t[i].deadline < t[j].deadline
	}
	return t[i].id < t[j].id
}

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].timer, t[j].timer = i, j
}

func (t *timers) Push(x any) {
	r := x.(*request)
	r.timer = len(*t)
	*t = append(*t, r)
}

func (t *timers) Pop() any {
	last := len(*t) - 1
	r := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	r.timer = noTimer
	return r
}

// noTimer is the heap index of a request that is not in the heap.
const noTimer = -1

func (t *timers) arm(r *request) {
	if r.deadline > 0 {
		heap.Push(t, r)
	}
}

func (t *timers) disarm(r *request) {
	if r.timer != noTimer {
		heap.Remove(t, r.timer)
	}
}
