// The timer of the vertex.

package overlay

import "sdm/tree"

// arm sets the timer to the time of the next Wake, unless it is set to an earlier
// time already. Most Wakes are replaced before their time, and setting a timer costs
// more than a timer that fires too early.
func (l *Loop) arm() {
	if l.wake == 0 || l.alarm != 0 && l.alarm <= l.wake {
		return
	}
	l.alarm = l.wake
	l.timer.Reset(max(l.wake-l.now(), 0))
}

// tick is called when the timer has fired.
func (l *Loop) tick() {
	l.alarm = 0
	if l.wake == 0 {
		return
	}
	if l.now() < l.wake {
		l.arm()
		return
	}
	l.wake = 0
	l.step(tree.Tick{})
}
