// Types for all tests of this package.

package sim

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sdm/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a Sink that records its calls.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) Reply(id protocol.RequestID, groups ...protocol.Group) {
	l.add(fmt.Sprintf("%d: ", id), groups)
}
func (l *log) Event(groups ...protocol.Group) { l.add("", groups) }

func (l *log) add(prefix string, groups []protocol.Group) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range groups {
		l.lines = append(l.lines, prefix+g.String())
	}
}

// take returns and clears the recorded lines.
func (l *log) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// handClock is a clock that a test moves.
type handClock struct {
	now    time.Time
	alarms []*alarm
}

type alarm struct {
	at time.Time
	f  func()
}

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	a := &alarm{c.now.Add(d), f}
	c.alarms = append(c.alarms, a)
	return func() { c.alarms = slices.DeleteFunc(c.alarms, func(b *alarm) bool { return a == b }) }
}

// advance moves the clock from timer to timer.
func (c *handClock) advance(d time.Duration) {
	end := c.now.Add(d)
	for {
		var first *alarm
		for _, a := range c.alarms {
			if !a.at.After(end) && (first == nil || a.at.Before(first.at)) {
				first = a
			}
		}
		if first == nil {
			c.now = end
			return
		}
		c.alarms = slices.DeleteFunc(c.alarms, func(a *alarm) bool { return a == first })
		c.now = first.at
		first.f()
	}
}
