// The time limit for the start of a job.

package servers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/tree/stopwatch"
)

// Clock is the deadline that --connect-wait sets for servers, gdbs and attaches together,
// counted from the start of the job. It stands while this process is stopped (Ctrl-Z, SIGSTOP). Its
// methods are safe for concurrent use. Left, ForServers and Tell accept a nil clock, which is without
// limit.
//
// Goroutine: one looks at the time until Stop.
type Clock struct {
	wait time.Duration // 0: no limit
	over chan struct{} // closed by Stop

	mu    sync.Mutex
	watch stopwatch.Watch
	seen  time.Duration // what it showed when it was looked at
}

// NewClock starts a clock; 0 is without limit.
func NewClock(wait time.Duration) *Clock {
	c := newClock(wait)
	go func() {
		looks := time.NewTicker(clockLook)
		defer looks.Stop()
		for {
			select {
			case <-looks.C:
				c.since()
			case <-c.over:
				return
			}
		}
	}()
	return c
}

// newClock returns a clock whose user looks at it once in clockLook.
func newClock(wait time.Duration) *Clock {
	return &Clock{wait: wait, over: make(chan struct{}), watch: stopwatch.Start(time.Now())}
}

// Stop ends the goroutine of the clock. It is called once.
func (c *Clock) Stop() { close(c.over) }

// clockLook is the time between two looks at a clock.
const clockLook = 250 * time.Millisecond

// Restart counts from now: the job has left the queue, or its table of held ranks has arrived.
func (c *Clock) Restart() { c.shift(c.since()) }

// except excludes the time from now until the call of over.
func (c *Clock) except() (over func()) {
	from := time.Now()
	return func() { c.shift(time.Since(from)) }
}

// shift moves the start of the time limit.
func (c *Clock) shift(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch.Skip(by)
	c.seen -= by
}

// since returns how long the start has taken so far.
func (c *Clock) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = c.watch.At(time.Now(), c.seen+clockLook)
	return c.seen
}

// Left returns the time that remains for gdbs and attaches; 0: no limit.
func (c *Clock) Left() time.Duration {
	if c == nil || c.wait == 0 {
		return 0
	}
	return max(c.wait-c.since(), time.Millisecond)
}

// ForServers returns the time that servers may take from now on; 0: no limit. It is two thirds of
// what remains, so that there is time left to start the gdbs of the servers that have registered.
func (c *Clock) ForServers() time.Duration { return c.Left() * 2 / 3 }

// Tell adds the remaining time to a call that starts or attaches to ranks; nil stays nil.
func (c *Clock) Tell(call *session.Call) *session.Call {
	if left := c.Left(); left > 0 && call != nil && (call.Command == "launch" || call.Command == "attach") {
		timed := *call
		timed.Args.Within = left.String()
		return &timed
	}
	return call
}

// Over returns the error that servers have not registered in time.
func (c *Clock) Over(what string) error {
	return fmt.Errorf("%s in %v (of --connect-wait %v, which gdbs have a part of)", what, c.since().Round(time.Second/10), c.wait)
}

// Bounded returns a context that ends after the time given by a flag, in which times do not count when this process is
// stopped; 0: no limit.
//
// Goroutine: one counts the time; it ends with the context.
func Bounded(ctx context.Context, wait time.Duration, flag string) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithCancelCause(ctx)
	if wait > 0 {
		go func() {
			c := newClock(wait)
			look := time.NewTimer(min(wait, clockLook))
			defer look.Stop()
			for {
				select {
				case <-look.C:
				case <-bounded.Done():
					return
				}
				left := wait - c.since()
				if left <= 0 {
					cancel(fmt.Errorf("the time is over (%s %v)", flag, wait))
					return
				}
				look.Reset(min(left, clockLook))
			}
		}()
	}
	return bounded, func() { cancel(nil) }
}
