// catch vfork, and other commands for which a rank needs a gdb of its own.

package breakpoint

import (
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// From version 13 on gdb in non-stop mode does not resume a thread that it has stopped
// At a vfork (infrun.c, proceed: it takes it for another thread of a process whose
// child still uses its memory), and an interrupt has no effect. In all-stop mode it
// does; 10.1, 16.3 and 18.1 do in both modes. 14 and 15 were not tested and get
// all-stop mode, too.
const vforkHangs, vforkRuns = 13, 16

// eventWord returns the event that catch is to catch; further words are gdb's.
func eventWord(event string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(event), " ")
	return word
}

// Catches reports whether a command is catch for an event, such as "vfork".
func Catches(c protocol.Command, event string) bool {
	return c.Name == "catch" && eventWord(c.Args.Event) == event
}

// NeedsOwnGDB reports whether a command needs a gdb with one rank: see insertAt, setCatch.
func NeedsOwnGDB(c protocol.Command) bool {
	return c.Args.Hardware || Catches(c, "vfork") || Catches(c, "syscall")
}

// vforkable calls then if catch vfork works in this gdb: it has one rank, and is in
// all-stop mode if its version needs that. Otherwise it hands the rank over.
func (bc *Commands) vforkable(q *request.Request, then func()) {
	if bc.Process().AllStop {
		then()
		return
	}
	bc.Ask(q, func(a request.Answer) {
		version, _ := a.Results.Int("value")
		hangs := vforkHangs <= version && version < vforkRuns
		switch {
		case hangs && q.Replayed:
			bc.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "this gdb cannot resume a rank that it stops at a vfork", Hint: "catch vfork where the rank stands gives it one that can"})
		case hangs:
			bc.NeedsAllStop(q, "catch vfork (it is interrupted by SIGINT)")
		case bc.Shared() && !q.Replayed:
			bc.NeedsOwnGDB(q, "catch vfork")
		default:
			then()
		}
	}, "-data-evaluate-expression", "$_gdb_major")
}
