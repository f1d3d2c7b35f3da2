// The time of the vertex, and its timer.

package overlay

import (
	"time"

	"sdm/tree"
)

// The clock of the root stands while its process is stopped (Ctrl-Z, SIGSTOP): what it waits for is late because it has
// not run. It looks at its clock once in maxAlarm, and has been stopped if that is overdue by maxLate, which is more
// than busy machines delay it.
const (
	maxAlarm = time.Second
	maxLate  = 2 * time.Second
)

// now returns the time since the loop was made, without the times in which the root was stopped. The caller holds the
// vertex lock.
func (l *Loop) now() time.Duration {
	now := time.Since(l.start)
	if late := now - l.alarm; l.isRoot() && l.alarm != 0 && late > maxLate {
		l.start = l.start.Add(late)
		return l.alarm
	}
	return now
}

func (l *Loop) isRoot() bool { return l.cfg.Up != nil }

// arm sets the timer to the time of the next Wake, unless it is set to an earlier
// time already. Most Wakes are replaced before their time, and setting a timer costs
// more than a timer that fires too early.
func (l *Loop) arm() {
	if l.wake == 0 || l.alarm != 0 && l.alarm <= l.wake {
		return
	}
	now := l.now()
	l.alarm = l.wake
	if l.isRoot() {
		l.alarm = min(l.alarm, now+maxAlarm)
	}
	l.timer.Reset(max(l.alarm-now, 0))
}

// tick is called when the timer has fired.
func (l *Loop) tick() {
	now := l.now()
	l.alarm = 0
	if l.wake == 0 {
		return
	}
	if now < l.wake {
		l.arm()
		return
	}
	l.wake = 0
	l.step(tree.Tick{})
}
