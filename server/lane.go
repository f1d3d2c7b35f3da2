package server

import "sync"

// lane carries out jobs one after the other, in the order in which they were
// given: the back end may be called by one goroutine at a time, and a command
// that follows a launch must find its ranks there. A quick job runs at once on
// the goroutine that gives it when the lane is free, which saves a change of
// goroutine for each command; a slow one runs on a goroutine of its own, and
// what comes meanwhile waits. The queue is bounded by what the session asks.
type lane struct {
	mu    sync.Mutex
	queue []job
	busy  bool
	slow  sync.WaitGroup
}

type job struct {
	run  func()
	slow bool // may block; must not run on the goroutine of the tree's loop
}

// do may be called by any goroutine, jobs included; a job that is given by a job
// runs after it.
func (l *lane) do(j job) {
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

// work runs jobs until none is left or a slow one comes up while it must not
// block; then a new goroutine goes on.
func (l *lane) work(mayBlock bool) {
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

// wait returns when no goroutine of the lane runs any more. Nobody may give
// slow jobs meanwhile.
func (l *lane) wait() { l.slow.Wait() }
