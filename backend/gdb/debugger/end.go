// The end of a rank, and of its gdb.

package debugger

import (
	"strconv"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// termination is how far the end of a rank has come.
type termination struct {
	*core
	groupStop *groupStop
	first     *firstStop
	wrapper   *wrapper
	runs      *runs
	detach    *request.Request // a detach that waits until the rank has stopped, or nil
	giveUp    time.Duration    // the time at which that detach waits no longer
	exitCode  string           // the value of $_exitcode; "": the target has not ended, or it is not known how
}

// attachEnd is how long gdb may take to complete an attach when the session ends. One that reads
// the symbols of a big program takes longer; it is killed, and the loop releases the target.
const attachEnd = 2 * time.Second

// endWait is how long a gdb may take to end, or to notice that its target has.
const endWait = time.Second

// exited processes a *stopped that reports the end of the target. It returns false for any other.
func (en *termination) exited(stop mi.Tuple) bool {
	switch stop.Str("reason") {
	case "exited-normally":
		en.reportEnd(protocol.Exit{})
	case "exited":
		en.reportEnd(protocol.Exit{Code: octal(stop.Str("exit-code"))})
	case "exited-signalled":
		en.reportEnd(protocol.Exit{Signal: stop.Str("signal-name"), Meaning: stop.Str("signal-meaning")})
	default:
		return false
	}
	return true
}

// groupExited processes =thread-group-exited. Without a code the target was killed by a signal, which a
// *stopped reports unless the target was stopped, or gdb has detached from it.
func (en *termination) groupExited(code string) {
	en.reportMessages()
	switch {
	case code != "":
		en.reportEnd(protocol.Exit{Code: octal(code)})
	case en.fate == gdbNotices:
		en.reportEnd(killed())
	}
}

// octal reads gdb's exit codes: "03" is 3, "0377" is 255.
func octal(code string) int {
	n, err := strconv.ParseInt(code, 8, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

func killed() protocol.Exit { return protocol.Exit{Signal: "SIGKILL", Meaning: "Killed"} }

// reportEnd reports the end of the target.
func (en *termination) reportEnd(exit protocol.Exit) {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	en.wrapper.noProgramStarted(exit)
	if en.Event(kind, exit) {
		switch {
		case exit.Unknown:
		case exit.Signal != "":
			en.exitCode = "void"
		default:
			en.exitCode = strconv.Itoa(exit.Code)
		}
		en.finish()
	}
}

// finish answers the open requests, and lets gdb end if it has no other rank.
func (en *termination) finish() {
	en.over()
	en.groupStop.restoreSIGCONT()
	en.first.arrived()
	for len(en.Open) > 0 {
		q := en.Open[0]
		if info, _ := protocol.LookupCommand(q.Name); info.Ends || q.Name == "interrupt" {
			en.Done(q)
			continue
		}
		if en.GDB.dying && !en.isTakenOver() { // it has run to its end, before another gdb could take it over
			en.Fail(q, &protocol.Fault{Kind: protocol.FaultEngine, Message: en.GDB.deathOf(End{Cause: "a fatal signal"}).String(), Hint: "start the program again"})
			continue
		}
		en.Fail(q, en.State.Refuse(protocol.NeedAlive))
	}
	en.killAt, en.detach = 0, nil
	en.GDB.Leave(en.now)
}

// kill kills the target, and its process group if it leads one. It does not need gdb: a gdb that does not
// answer is killed, too, so that the parent can reap the target.
func (en *termination) kill(q *request.Request) {
	if en.attaching != nil {
		en.finishAttach(wasKilled())
	}
	en.dies()
	en.killTarget()
	if en.GDB.late {
		en.GDB.Kill = true
		return
	}
	en.killAt = en.now + endWait
	if en.StateNow() == backend.Stopped {
		en.notifyEnd()
	}
}

func wasKilled() *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultLaunch, Message: "the rank was killed"}
}

// finishAttach fails an attach that is under way.
func (en *termination) finishAttach(f *protocol.Fault) {
	if q := en.attaching; q != nil {
		en.attaching = nil
		en.GDB.endAttach(en.core)
		en.Fail(q, f)
	}
}

func (en *termination) killTarget() {
	to := ToTarget
	if en.Target.Held {
		to = ToGroup
	}
	en.send(to, sigKill)
}

// notifyEnd makes gdb notice that a stopped target has died: it does not by itself, and the parent cannot
// reap the target before gdb has. A shared gdb is told to detach: in non-stop mode the kill command of gdb
// 13.1 also kills the process of its last inferior.
func (en *termination) notifyEnd() {
	if en.fate == gdbNotices {
		return
	}
	en.fate = gdbNotices
	if en.GDB.Shared() {
		en.selectNeighbour()
		en.Tell("kill", "-target-detach", en.threadGroup)
		return
	}
	en.Tell("kill", "-interpreter-exec", append(en.here(), "console", "kill")...)
}

// escalate kills a gdb that should have ended.
func (en *termination) escalate() {
	if en.killAt != 0 && en.now >= en.killAt {
		en.killAt = 0
		en.GDB.Kill = true
		if en.isTakenOver() {
			en.GDB.Replaced = "it " + en.notTaken()
		}
	}
}

// reportDetached reports that the target runs on without a debugger.
func (en *termination) reportDetached() {
	if en.Event(protocol.KindDetached, struct{}{}) {
		en.Out.Detached = true
		en.finish()
	}
}

// discard ends a machine that never had its target under control. A held target stays with the process
// that holds it, which reports its end through Ended.
func (en *termination) discard() {
	if !en.Target.Held {
		en.Event(protocol.KindDetached, struct{}{})
		en.finish()
	}
}

// attachFailed gives up a target that cannot be attached to.
func (en *termination) attachFailed(f *protocol.Fault) {
	en.finishAttach(f)
	en.dies() // the end of gdb is expected now
	en.enter(failed)
	en.discard()
	en.GDB.Leave(en.now)
}

// lost reports the rank as lost: its gdb has died.
func (en *termination) lost(w death) {
	f := &protocol.Fault{Kind: protocol.FaultEngine, Message: w.String(), Hint: "start the program again"}
	if en.State == backend.Attaching {
		f.Hint = "does gdb work here? --gdb PATH names another"
		if !en.GDB.Startup.Speaks {
			f = en.GDB.Startup.refusal(w.cause)
		}
	}
	for len(en.Open) > 0 {
		en.Fail(en.Open[0], f)
	}
	en.Event(protocol.KindLost, protocol.Missing{Cause: f.Message})
	en.finish()
}

// startOver forgets a detach that has waited.
func (en *termination) startOver() { en.detach, en.giveUp, en.exitCode = nil, 0, "" }
