package overlay

import (
	"testing"
	"time"

	"sdm/protocol/wire"
	"sdm/tree/stopwatch"
)

func TestClockOfTheRootStandsWhileItIsStopped(t *testing.T) {
	for _, c := range []struct {
		name        string
		root        bool
		alarm, want time.Duration
	}{
		{"it was stopped for a minute", true, 5 * time.Second, 5 * time.Second},
		{"its timer is late", true, 59 * time.Second, time.Minute},
		{"no timer runs", true, 0, time.Minute},
		{"a server", false, 5 * time.Second, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &Loop{watch: stopwatch.Start(time.Now().Add(-time.Minute)), alarm: c.alarm}
			if c.root {
				l.cfg.Up = func(wire.Message) {}
			}
			for range 2 {
				if got := l.now(); got < c.want || got > c.want+time.Second {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
		})
	}
}
