package watch

import "sync"

// jobs is a queue of functions that one goroutine calls in order. Adding never blocks: the debugger
// reports more while the goroutine is in a call of it. It holds what a session has outstanding.
type jobs struct {
	mu     sync.Mutex
	more   sync.Cond
	list   []func()
	closed bool
	over   chan struct{} // closed when the goroutine has ended
}

func (j *jobs) start() {
	j.more.L = &j.mu
	j.over = make(chan struct{})
	go func() {
		defer close(j.over)
		for do := j.next(); do != nil; do = j.next() {
			do()
		}
	}()
}

// next waits for a function; nil: the queue is closed and empty.
func (j *jobs) next() func() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.list) == 0 && !j.closed {
		j.more.Wait()
	}
	if len(j.list) == 0 {
		return nil
	}
	do := j.list[0]
	j.list = j.list[1:]
	return do
}

// add adds a function; after end it does nothing.
func (j *jobs) add(do func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.list = append(j.list, do)
		j.more.Signal()
	}
}

// end lets the goroutine carry out what is in the queue, and waits for it.
func (j *jobs) end() {
	j.mu.Lock()
	j.closed = true
	j.more.Signal()
	j.mu.Unlock()
	<-j.over
}
