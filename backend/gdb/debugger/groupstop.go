// The group stop (SIGSTOP) in which held ranks are, and the SIGCONT that ends it.

package debugger

import "strings"

// groupStop is the group stop of a rank.
type groupStop struct {
	*core
	frozen         bool // the target is in a group stop (SIGSTOP), as held ranks are
	ignoresSIGCONT bool // the user's handling of SIGCONT must be restored
}

// A target in a group stop must get SIGCONT before it runs. Otherwise the kernel counts
// it as stopped when gdb resumes it: the pending SIGSTOP stops it again, and each
// thread that it creates starts in that stop (signal(7), ptrace(2)). To ignore SIGSTOP
// instead would hide it from the user for good. The SIGCONT arrives with the first
// resume, before any instruction, and must neither stop the rank nor reach the program.
const (
	handleIgnoring = "handle SIGCONT nostop noprint nopass"
	handleDefault  = "handle SIGCONT stop print pass" // gdb's default
)

// handlePassing is for ranks that were not started by sdm, of MPI or at their first instruction: a starter sends them
// SIGCONT and SIGTERM to end the job, and they should end then, not stop.
const handlePassing = "handle SIGCONT nostop noprint pass"

// passStarterSignals makes gdb pass the signals of its starter to the rank.
func (gs *groupStop) passStarterSignals() {
	if gs.Target.Held || gs.GDB.handle == handlePassing || gs.IsCore() || !gs.atEntry && !gs.Host.mpi(gs.Target.PID) {
		return
	}
	gs.GDB.handle = handlePassing
	if !gs.frozen {
		gs.Tell("handle", console, handlePassing)
	}
	gs.Tell("handle", console, "handle SIGTERM nostop noprint pass")
}

// keepHandling keeps the user's handling of SIGCONT while ignoreSIGCONT is in effect.
func (gs *groupStop) keepHandling(text string) {
	if gs.GDB.quietSIGCONT > 0 && strings.HasPrefix(text, "handle") && strings.Contains(text, "SIGCONT") {
		gs.GDB.handle = text
	}
}

// ignoreSIGCONT makes gdb ignore SIGCONT while any of its ranks needs that.
func (gs *groupStop) ignoreSIGCONT() {
	gs.ignoresSIGCONT = true
	gs.GDB.quietSIGCONT++
	if gs.GDB.quietSIGCONT == 1 {
		gs.Tell("handle", console, handleIgnoring)
	}
}

// restoreSIGCONT restores the user's handling, at the first stop of a resumed target.
func (gs *groupStop) restoreSIGCONT() {
	if !gs.ignoresSIGCONT {
		return
	}
	gs.ignoresSIGCONT = false
	gs.GDB.quietSIGCONT--
	if gs.GDB.quietSIGCONT == 0 && !gs.GDB.Gone {
		gs.Tell("handle", console, gs.GDB.handle)
	}
}

// continueFrozen ends the group stop; see handleIgnoring.
func (gs *groupStop) continueFrozen() {
	if gs.frozen {
		gs.frozen = false
		gs.send(ToTarget, sigCont)
	}
}
