package server

import "sync"

// serialQueue runs jobs one after the other, in the order in which they were given: only one
// goroutine at a time may call the back end, and a command that follows a launch must find its
// ranks there. A quick job runs at once on the goroutine that gives it if the queue is free, which
// saves a goroutine switch for each command. A slow job runs on a goroutine of its own, and later
// jobs wait for it. The queue is bounded by the number of requests that the session has
// outstanding.
type serialQueue struct {
	mu    sync.Mutex
	queue []job
	busy  bool
	slow  sync.WaitGroup
}

type job struct {
	run  func()
	slow bool // may block; must not run on the goroutine of the tree's loop
}

// do may be called by any goroutine, also from within a job; a job that is given by a job runs
// after it.
func (l *serialQueue) do(j job) {
	l.mu.Lock()
	l.queue = append(l.queue, j)
	if l.busy {
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	l.work(false)
}

// work runs jobs until the queue is empty. If mayBlock is false it stops at a slow job, and a new
// goroutine continues.
func (l *serialQueue) work(mayBlock bool) {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.busy = false
			l.mu.Unlock()
			return
		}
		next := l.queue[0]
		if next.slow && !mayBlock {
			l.slow.Go(func() { l.work(true) })
			l.mu.Unlock()
			return
		}
		l.queue[0] = job{}
		l.queue = l.queue[1:]
		l.mu.Unlock()
		next.run()
	}
}

// wait returns when all goroutines of the queue have ended. No slow jobs may be given meanwhile.
func (l *serialQueue) wait() { l.slow.Wait() }
