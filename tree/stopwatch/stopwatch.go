// Package stopwatch measures time without the times in which the process was stopped (Ctrl-Z, SIGSTOP): what a process
// waits for is late then because the process itself has not run. It is pure.
package stopwatch

import "time"

// MaxLate is how long after it is due somebody may look at the time, before the process counts as stopped in between.
// That is longer than busy machines delay it.
const MaxLate = 2 * time.Second

// Watch is a running stopwatch. Its user looks at it again and again, and knows when the next look is due.
type Watch struct{ start time.Time }

// Start returns a watch that shows 0 now.
func Start(now time.Time) Watch { return Watch{now} }

// At returns what the watch shows now. due is what it should have shown at the latest when it was looked at; 0: nobody
// had to look. If that is exceeded by more than MaxLate, the watch has stood since then.
func (w *Watch) At(now time.Time, due time.Duration) time.Duration {
	shown := now.Sub(w.start)
	if late := shown - due; due != 0 && late > MaxLate {
		w.Skip(late)
		return due
	}
	return shown
}

// Skip takes a time off what the watch shows.
func (w *Watch) Skip(t time.Duration) { w.start = w.start.Add(t) }
