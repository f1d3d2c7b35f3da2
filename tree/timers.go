// Deadlines of requests.

package tree

import (
	"container/heap"
	"time"
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

// share returns the wait for children of a vertex that may itself wait this long.
// It is shorter, so that partial replies of the children arrive in time. A
// sixteenth is for merging in large trees; 5 ms are for a loaded machine, or a
// quarter of shorter waits. 0 means no limit and stays 0; no other wait becomes 0.
func share(wait time.Duration) time.Duration {
	return wait - max(wait/16, min(5*time.Millisecond, wait/4))
}
