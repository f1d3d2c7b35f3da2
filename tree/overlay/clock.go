// The time of the vertex, and its timer.

package overlay

import (
	"time"

	"sdm/tree"
)

// maxAlarm is how long the root may not look at its clock, which stands while the process is stopped.
const maxAlarm = time.Second

// now returns the time since the loop was made, without the times in which the root was stopped. The caller holds the
// vertex lock.
func (l *Loop) now() time.Duration {
	due := l.alarm
	if !l.isRoot() {
		due = 0
	}
	return l.watch.At(time.Now(), due)
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
