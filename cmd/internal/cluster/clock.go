// The clock of all ranks of a cluster.

package cluster

import (
	"container/heap"
	"runtime"
	"sync"
	"time"
)

// clock calls the timer functions of all servers of a cluster. With one timer of package time for
// each, thousands that are due at once would become thousands of goroutines, and those that carry
// packets would have to wait for them all, as if the network stood still. Here a few goroutines, the
// ringers, make the calls one after the other. If the machine is too slow for its ranks, the ranks
// stop later, but packets are still carried.
//
// Goroutines: the ringers, from newClock until close.
type clock struct {
	mu      sync.Mutex
	changed sync.Cond // an alarm is due, or the clock is closed
	alarms  alarms
	timer   *time.Timer
	at      time.Time // when timer fires; zero: it is not set
	ended   bool
	ringers sync.WaitGroup
}

// newClock starts the given number of ringers. close must be called.
func newClock(ringers int) *clock {
	c := &clock{}
	c.changed.L = &c.mu
	c.timer = time.AfterFunc(time.Hour, c.due)
	c.timer.Stop()
	for range max(ringers, 1) {
		c.ringers.Go(c.run)
	}
	return c
}

// close ends the ringers and waits for them.
func (c *clock) close() {
	c.mu.Lock()
	c.ended = true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.timer.Stop()
	c.ringers.Wait()
}

// Now returns the current time.
func (c *clock) Now() time.Time { return time.Now() }

// AfterFunc calls f after d or a little later; see sim.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) (stop func()) {
	a := &alarm{at: time.Now().Add(d), ring: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	heap.Push(&c.alarms, a)
	if a.place == 0 {
		c.set()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if a.place >= 0 {
			heap.Remove(&c.alarms, a.place)
		}
	}
}

// set sets the timer for the first alarm, unless it fires early enough. mu must be held.
func (c *clock) set() {
	if len(c.alarms) == 0 || !c.at.IsZero() && !c.alarms[0].at.Before(c.at) {
		return
	}
	c.at = c.alarms[0].at
	c.timer.Reset(time.Until(c.at))
}

// due is called when the timer fires.
func (c *clock) due() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
	c.changed.Signal()
	c.set()
}

// run is a ringer.
func (c *clock) run() {
	for {
		a := c.next()
		if a == nil {
			return
		}
		a.ring()
		runtime.Gosched() // lets goroutines that carry packets run first
	}
}

// next waits for an alarm that is due; nil: the clock is closed.
func (c *clock) next() *alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch now := time.Now(); {
		case c.ended:
			return nil
		case len(c.alarms) > 0 && !c.alarms[0].at.After(now):
			a := heap.Pop(&c.alarms).(*alarm)
			if len(c.alarms) > 0 && !c.alarms[0].at.After(now) {
				c.changed.Signal()
			}
			return a
		}
		c.set()
		c.changed.Wait()
	}
}

// alarm is a pending call.
type alarm struct {
	at    time.Time
	ring  func()
	place int // in the heap; -1: not in it
}

// alarms is a heap with the earliest on top; see heap.Interface.
type alarms []*alarm

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }

func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].place, a[j].place = i, j
}

func (a *alarms) Push(x any) {
	n := x.(*alarm)
	n.place = len(*a)
	*a = append(*a, n)
}

func (a *alarms) Pop() any {
	last := len(*a) - 1
	n := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	n.place = -1
	return n
}
