// A queue that runs one task at a time.

package server

import "sync"

// serialQueue runs tasks one after the other, in the order in which they were given: only one
// goroutine at a time may call the back end, and a command that follows a launch must find its
// ranks there. A quick task runs at once on the goroutine that gives it if the queue is free, which
// saves a goroutine switch for each command. A slow task runs on a goroutine of its own, and later
// tasks wait for it. The queue is bounded by the number of requests that the session has
// outstanding.
type serialQueue struct {
	mu    sync.Mutex
	queue []task
	busy  bool
	slow  sync.WaitGroup
}

// task is one function that the queue runs.
type task struct {
	run  func()
	slow bool // may block; must not run on the goroutine of the tree's loop
}

// do may be called by any goroutine, also from within a task; a task that is given by a task runs
// after it.
func (q *serialQueue) do(t task) {
	q.mu.Lock()
	q.queue = append(q.queue, t)
	if q.busy {
		q.mu.Unlock()
		return
	}
	q.busy = true
	q.mu.Unlock()
	q.work(false)
}

// work runs tasks until the queue is empty. If mayBlock is false it stops at a slow task, and a new
// goroutine continues.
func (q *serialQueue) work(mayBlock bool) {
	for {
		q.mu.Lock()
		if len(q.queue) == 0 {
			q.busy = false
			q.mu.Unlock()
			return
		}
		next := q.queue[0]
		if next.slow && !mayBlock {
			q.slow.Go(func() { q.work(true) })
			q.mu.Unlock()
			return
		}
		q.queue[0] = task{}
		q.queue = q.queue[1:]
		q.mu.Unlock()
		next.run()
	}
}

// wait returns when all goroutines of the queue have ended. No slow tasks may be given meanwhile.
func (q *serialQueue) wait() { q.slow.Wait() }
