// A queue of functions for one goroutine.

package lazy

import "sync"

// jobs is a queue of functions that one goroutine calls in order. start starts the goroutine, and end waits for
// it. Adding never blocks, since the debugger may report while the goroutine is in a call of it. The length of
// the queue is bounded only by what a session has outstanding.
type jobs struct {
	mu     sync.Mutex
	more   sync.Cond
	list   []func()
	closed bool
	over   chan struct{} // closed when the goroutine has ended
}

// start starts the goroutine. It must be called once, before add.
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

// next waits for a function and removes it from the queue; nil: the queue is closed and empty.
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

// end waits until the goroutine has called all functions in the queue and has ended.
func (j *jobs) end() {
	j.mu.Lock()
	j.closed = true
	j.more.Signal()
	j.mu.Unlock()
	<-j.over
}
