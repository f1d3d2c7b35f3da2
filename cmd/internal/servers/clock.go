// The time limit for the start of a job.

package servers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sdm/master/session"
)

// Clock is the deadline that --connect-wait sets for servers, gdbs and attaches together,
// counted from the start of the job. Its methods are safe for concurrent use. Left,
// ForServers and Tell accept a nil clock, which is without limit.
type Clock struct {
	wait time.Duration // 0: no limit

	mu    sync.Mutex
	began time.Time
}

// NewClock starts a clock; 0 is without limit.
func NewClock(wait time.Duration) *Clock { return &Clock{wait: wait, began: time.Now()} }

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
	c.began = c.began.Add(by)
}

// since returns how long the start has taken so far.
func (c *Clock) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began)
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

// Tell adds the remaining time to a call that starts or attaches to ranks.
func (c *Clock) Tell(call *session.Call) *session.Call {
	if left := c.Left(); left > 0 && (call.Command == "launch" || call.Command == "attach") {
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

// Bounded returns a context that ends after the time given by a flag; 0: no limit.
func Bounded(ctx context.Context, wait time.Duration, flag string) (context.Context, context.CancelFunc) {
	if wait == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, wait, fmt.Errorf("the time is over (%s %v)", flag, wait))
}
