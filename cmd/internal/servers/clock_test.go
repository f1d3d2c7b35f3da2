package servers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestClockStandsWhileTheProcessIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(30 * time.Second)
		defer c.Stop()
		<-time.After(10 * time.Second)
		synctest.Wait()
		if left := c.Left(); left != 20*time.Second {
			t.Errorf("%v are left of 30 s after 10 s", left)
		}
		c.mu.Lock() // as after a stop of a minute, in which the clock was not looked at
		c.watch.Skip(-time.Minute)
		c.mu.Unlock()
		if left, want := c.Left(), 20*time.Second-clockLook; left != want {
			t.Errorf("%v are left, want %v: a minute in which the process was stopped does not count", left, want)
		}
	})
}

func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := Bounded(t.Context(), 1100*time.Millisecond, "--wait")
		defer cancel()
		<-ctx.Done()
		if took := time.Since(began); took != 1100*time.Millisecond || context.Cause(ctx).Error() != "the time is over (--wait 1.1s)" {
			t.Errorf("ended after %v: %v", took, context.Cause(ctx))
		}
	})
}
