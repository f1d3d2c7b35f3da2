// Package stopwatch measures time without the times in which the process was stopped (Ctrl-Z, SIGSTOP): what a process
// waits for is then late because the process itself has not run. It is pure.
package stopwatch

import "time"

// MaxLate is how late a look at the time may be before the process counts as stopped in between. Busy machines delay
// it less.
const MaxLate = 2 * time.Second

// Watch is a running stopwatch. Its user looks at it repeatedly, and knows when the next look is due.
type Watch struct{ start time.Time }

// Start returns a watch that shows 0 now.
func Start(now time.Time) Watch { return Watch{now} }

// At returns what the watch shows now. due is the time on the watch at which it should have been looked at, at the
// latest; 0: there is none. If the look comes more than MaxLate later, this process was stopped in between, and
// the time since due does not count.
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
