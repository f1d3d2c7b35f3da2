// Attaching to a target.

package debugger

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// attachment is the progress of an attach.
//
//	-target-attach ─→ all threads stopped ─→ answer ─┬─ held: SIGCONT, go to stopAt
//	                                                 └─ else: reported as stopped
type attachment struct {
	*core
	groupStop   *groupStop
	first       *firstStop
	symbols     *symbols
	wrapper     *wrapper
	termination *termination
	then        func(*values.Thread)    // called when the target is under control, with its first thread
	refused     func(f *protocol.Fault) // called if it cannot be attached to
}

// begin attaches for a request, and calls then or refused. frozen says that the target is stopped by SIGSTOP.
func (att *attachment) begin(
	q *request.Request, frozen bool, then func(*values.Thread), refused func(*protocol.Fault),
) {
	att.attaching, att.warned = q, nil
	att.then, att.refused = then, refused
	*att.groupStop = groupStop{core: att.core, frozen: frozen && !att.IsCore()}
	*att.wrapper = wrapper{core: att.core, first: att.first}
	att.first.place = ""
	att.symbols.startOver()
	if att.IsCore() {
		att.openCore(q)
		return
	}
	att.groupStop.passStarterSignals()
	att.wrapper.passValgrindSignals(att.Target.Program)
	if att.groupStop.frozen {
		att.groupStop.ignoreSIGCONT()
	}
	att.GDB.beginAttach(att.core)
	att.ask(q, att.attached, "-target-attach", append(att.here(), strconv.Itoa(att.Target.PID))...)
	att.GDB.waitForAttach(att.core)
}

func (att *attachment) attached(a request.Answer) {
	if !a.Failed() {
		return // its threads stop one by one; see settle
	}
	att.refused(att.attachFault(a.Results.Str("msg")))
}

// attachFault translates gdb's error, with what the kernel says of the process.
func (att *attachment) attachFault(words string) *protocol.Fault {
	// the process is in the event started
	f := &protocol.Fault{Kind: protocol.FaultLaunch, Message: "cannot attach: " + strings.ReplaceAll(words, "\n", "; ")}
	if att.Host.WhyRefused != nil {
		f.Hint = att.Host.WhyRefused(att.Target.PID)
	}
	return f
}

// attachDue returns the time at which a gdb that does not attach is given up; 0: never.
func (att *attachment) attachDue() time.Duration {
	d := att.GDB
	if att.isOpening() {
		return att.openingDue()
	}
	if att.attaching == nil || !d.Startup.Speaks || att.isTakenOver() || att.waitsForOther() {
		return 0
	}
	others := slices.ContainsFunc(d.ranks, func(o *core) bool {
		return o != att.core && o.attaching != nil && o.waitsForOther()
	})
	return d.Bound.attachUntil(others)
}

// waitsForOther reports whether gdb is busy with another rank, so that this one is not
// the one that hangs.
func (c *core) waitsForOther() bool {
	if turns := c.GDB.attachOrder; len(turns) > 0 {
		return turns[0].of != c
	}
	k := c.GDB.Calls.current()
	return k != nil && k.by != nil && k.by != c
}

// isOpening reports whether gdb has the target, and its stop has not been reported.
func (att *attachment) isOpening() bool {
	has := att.phase == held || att.phase == leaving || att.phase == closing && att.attaching == nil
	return has && att.State == backend.Attaching && !att.IsCore()
}

// openingDue returns the time at which a gdb that has attached and does not answer is given up; 0: never.
func (att *attachment) openingDue() time.Duration {
	k := att.GDB.Calls.current()
	if k == nil || att.isTakenOver() || att.waitsForOther() {
		return 0
	}
	return att.GDB.Bound.answerUntil(k.sent)
}

// attachOverdue gives up a gdb that has started and does not attach. The other ranks
// that share it get new gdbs.
func (att *attachment) attachOverdue() {
	if t := att.attachDue(); t == 0 || att.now < t {
		return
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: "gdb " + att.notTaken(), Hint: "--connect-wait gives it more time"}
	att.GDB.Kill = true
	opening := att.isOpening()
	att.dies()
	att.enter(failed)
	if opening {
		att.Event(protocol.KindLost, protocol.Missing{Cause: f.Message})
		att.termination.finish()
		return
	}
	att.termination.finishAttach(f)
	att.termination.discard()
}

// settle continues when all threads have stopped.
func (att *attachment) settle() {
	q := att.attaching
	first := att.threads.Find(1)
	if q == nil || first == nil || first.Stop == nil || att.threads.AnyRunning() {
		return
	}
	att.attaching = nil
	att.GDB.endAttach(att.core)
	att.GDB.sendNext()
	att.GDB.Bound.from = att.now // gdb makes progress
	if att.GDB.isGDB10 {
		att.note(gdb10Warning)
	}
	if !att.Target.Held && protocol.WrappingOf(att.Target.Program) == protocol.WrapsInside {
		att.note(insideValgrind)
	}
	att.choose(request.Selection{Thread: 1})
	if att.phase == closing {
		att.termination.leaveAsFound()
		return
	}
	if att.phase == attaching {
		att.enter(held)
	}
	att.then(first)
}
