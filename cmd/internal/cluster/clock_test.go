package cluster

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// rung records which alarms have rung, and when.
type rung struct {
	mu    sync.Mutex
	began time.Time
	at    map[int]time.Duration
}

func (r *rung) ring(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.at[n]; twice {
		n = -n // makes the test fail
	}
	r.at[n] = time.Since(r.began)
}

// TestClock checks that each alarm rings once and in time, in whatever order they were set, and
// that stopped ones do not ring.
func TestClock(t *testing.T) {
	for _, ringers := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			c := newClock(ringers)
			defer c.close()
			r := &rung{began: time.Now(), at: map[int]time.Duration{}}
			want := map[int]time.Duration{}
			for _, n := range rand.Perm(300) {
				d := time.Duration(n/2+1) * time.Millisecond // two at a time
				stop := c.AfterFunc(d, func() { r.ring(n + 1) })
				if n%3 == 0 {
					stop()
					stop() // no effect
				} else {
					want[n+1] = d
				}
			}
			<-time.After(time.Second)
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			for n, d := range want {
				if got, ok := r.at[n]; !ok || got != d {
					t.Errorf("alarm %d of %v rang at %v (%v)", n, d, got, ok)
				}
			}
			if len(r.at) != len(want) {
				t.Errorf("%d alarms have rung, want %d", len(r.at), len(want))
			}
		})
	}
}

// TestClockOneByOne checks that an alarm may set another one, and that a single ringer calls them
// in the order of their times.
func TestClockOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(1)
		defer c.close()
		var order []int // written by the only ringer
		over := make(chan struct{})
		c.AfterFunc(2*time.Millisecond, func() {
			order = append(order, 2)
			c.AfterFunc(0, func() { order = append(order, 3) })
			c.AfterFunc(time.Millisecond, func() { order = append(order, 4); close(over) })
		})
		c.AfterFunc(time.Millisecond, func() { order = append(order, 1) })
		c.AfterFunc(-time.Second, func() { order = append(order, 0) })
		<-over
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("they rang as %v", order)
		}
	})
}

// TestClockCloses checks that no alarm rings after close has returned.
func TestClockCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(2)
		r := &rung{began: time.Now(), at: map[int]time.Duration{}}
		for n := range 20 {
			c.AfterFunc(time.Duration(n)*time.Millisecond, func() { r.ring(n + 1) })
		}
		<-time.After(9*time.Millisecond + 500*time.Microsecond)
		c.close()
		<-time.After(time.Second)
		if len(r.at) != 10 {
			t.Errorf("%d alarms have rung, want 10", len(r.at))
		}
	})
}
