package stopwatch

import (
	"testing"
	"time"
)

func TestTheWatchStandsWhileItsUserIsStopped(t *testing.T) {
	began := time.Unix(0, 0)
	for _, c := range []struct {
		name            string
		due, then, want time.Duration // then is what it shows a second later
	}{
		{"nobody had to look", 0, 61 * time.Second, time.Minute},
		{"the look is late by as much as busy machines delay it", 58 * time.Second, 61 * time.Second, time.Minute},
		{"the process was stopped", 5 * time.Second, 6 * time.Second, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Start(began)
			if got := w.At(began.Add(time.Minute), c.due); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if got := w.At(began.Add(61*time.Second), 0); got != c.then {
				t.Errorf("a second later %v, want %v", got, c.then)
			}
		})
	}
	w := Start(began)
	if w.Skip(time.Second); w.At(began.Add(3*time.Second), 0) != 2*time.Second {
		t.Error("what is skipped counts")
	}
}
