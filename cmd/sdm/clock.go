// How long the start of a job may take.

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sdm/master/session"
)

// startClock is --connect-wait: one deadline for servers, gdbs and attaches, counted from the start of the job. Its
// methods may be called from any goroutine. nil knows no limit.
type startClock struct {
	wait time.Duration // 0 is no limit

	mu    sync.Mutex
	began time.Time
}

func (o *options) startClock() *startClock {
	return &startClock{wait: o.connectWait, began: time.Now()}
}

// restart counts from now: the job has left the queue, or has said where its ranks are held.
func (c *startClock) restart() { c.shift(c.since()) }

// except leaves out what has no part in the start, from its beginning until the function is called.
func (c *startClock) except() (over func()) {
	from := time.Now()
	return func() { c.shift(time.Since(from)) }
}

func (c *startClock) shift(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = c.began.Add(by)
}

// since is how long the start has taken.
func (c *startClock) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began)
}

// left is how long gdbs and attaches may take from now on; 0 is no limit.
func (c *startClock) left() time.Duration {
	if c == nil || c.wait == 0 {
		return 0
	}
	return max(c.wait-c.since(), time.Millisecond)
}

// servers is how long servers may take from now on: two thirds of what is left, so that those which have come have
// time for their gdbs when others do not come. 0 is no limit.
func (c *startClock) servers() time.Duration { return c.left() * 2 / 3 }

// tell gives the ranks of a call that takes control of them what is left.
func (c *startClock) tell(call *session.Call) *session.Call {
	if left := c.left(); left > 0 && (call.Command == "launch" || call.Command == "attach") {
		timed := *call
		timed.Args.Within = left.String()
		return &timed
	}
	return call
}

// over says that servers have not come in the time that they had.
func (c *startClock) over(what string) error {
	return fmt.Errorf("%s in %v (of --connect-wait %v, which gdbs have a part of)", what, c.since().Round(time.Second/10), c.wait)
}

// bounded is a context that ends by what a flag says; 0 is no limit.
func bounded(ctx context.Context, wait time.Duration, flag string) (context.Context, context.CancelFunc) {
	if wait == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, wait, fmt.Errorf("the time is over (%s %v)", flag, wait))
}
