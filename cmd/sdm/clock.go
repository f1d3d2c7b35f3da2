// The time limit for the start of a job.

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sdm/master/session"
)

// startClock is the deadline that --connect-wait sets for servers, gdbs and attaches together,
// counted from the start of the job. Its methods are safe for concurrent use. left, servers and
// tell accept a nil clock, which is without limit.
type startClock struct {
	wait time.Duration // 0: no limit

	mu    sync.Mutex
	began time.Time
}

func (o *options) startClock() *startClock {
	return &startClock{wait: o.connectWait, began: time.Now()}
}

// restart counts from now: the job has left the queue, or its table of held ranks has arrived.
func (c *startClock) restart() { c.shift(c.since()) }

// except leaves the time until over is called out of account.
func (c *startClock) except() (over func()) {
	from := time.Now()
	return func() { c.shift(time.Since(from)) }
}

func (c *startClock) shift(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = c.began.Add(by)
}

// since returns how long the start has taken so far.
func (c *startClock) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began)
}

// left returns the time that remains for gdbs and attaches; 0: no limit.
func (c *startClock) left() time.Duration {
	if c == nil || c.wait == 0 {
		return 0
	}
	return max(c.wait-c.since(), time.Millisecond)
}

// servers returns the time that servers may take from now on; 0: no limit. It is two thirds of what
// remains, so that there is time left to start the gdbs of the servers that have registered.
func (c *startClock) servers() time.Duration { return c.left() * 2 / 3 }

// tell adds the remaining time to a call that starts or attaches to ranks.
func (c *startClock) tell(call *session.Call) *session.Call {
	if left := c.left(); left > 0 && (call.Command == "launch" || call.Command == "attach") {
		timed := *call
		timed.Args.Within = left.String()
		return &timed
	}
	return call
}

// over returns the error that servers have not registered in time.
func (c *startClock) over(what string) error {
	return fmt.Errorf("%s in %v (of --connect-wait %v, which gdbs have a part of)", what, c.since().Round(time.Second/10), c.wait)
}

// bounded returns a context that ends after the time given by a flag; 0: no limit.
func bounded(ctx context.Context, wait time.Duration, flag string) (context.Context, context.CancelFunc) {
	if wait == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, wait, fmt.Errorf("the time is over (%s %v)", flag, wait))
}
