// The end of a session.

package overlay

import "time"

// quit calls the owner's Quit. It ends the session when that has returned and the
// children have closed their links, or quitGrace is over.
func (l *Loop) quit(masterLost bool) {
	if l.quitting {
		return
	}
	l.quitting = true
	l.group.Go(func() {
		if masterLost && l.cfg.MasterLost != nil {
			l.cfg.MasterLost()
		}
		if l.cfg.Quit != nil {
			l.cfg.Quit()
		}
		l.submit(entry{do: func() {
			l.quitDone = true
			l.checkOver()
		}})
		alarm := time.NewTimer(quitGrace)
		defer alarm.Stop()
		select {
		case <-alarm.C:
			l.endSession()
		case <-l.over:
		case <-l.ctx.Done():
		}
	})
}

func (l *Loop) checkOver() {
	if l.quitDone && len(l.children) == 0 && l.telling == 0 {
		l.endSession()
	}
}

func (l *Loop) endSession() { l.overOnce.Do(func() { close(l.over) }) }
