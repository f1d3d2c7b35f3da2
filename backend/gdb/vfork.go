// catch vfork, and what else needs a gdb that no other rank shares.

package gdb

import (
	"strings"

	"sdm/protocol"
)

// From version 13 on a gdb in non-stop does not resume a thread that it has stopped at a vfork (infrun.c, proceed: it takes
// it for another thread of a process whose child still uses its memory), and an interrupt does nothing. In all-stop it
// resumes it, and so do 10.1, 16.3 and 18.1 in both modes; 14 and 15 were not run, and get all-stop, too.
const vforkHangs, vforkRuns = 13, 16

// eventWord is the first word of what catch is told to catch; the others are gdb's.
func eventWord(event string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(event), " ")
	return word
}

func catches(c protocol.Command, event string) bool {
	return c.Name == "catch" && eventWord(c.Args.Event) == event
}

// needsOwn tells whether a rank needs a gdb of its own for a command: see insertAt, setCatch.
func needsOwn(c protocol.Command) bool {
	return c.Args.Hardware || catches(c, "vfork") || catches(c, "syscall")
}

// vforkable goes on with catch vfork in a gdb where it works: one of the rank alone, and in all-stop where its version needs it.
func (m *machine) vforkable(q *request, then func()) {
	if m.target.AllStop {
		then()
		return
	}
	m.ask(q, func(a answer) {
		version, _ := a.Results.Int("value")
		hangs := vforkHangs <= version && version < vforkRuns
		switch {
		case hangs && q.again:
			m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "this gdb cannot resume a rank that it stops at a vfork", Hint: "catch vfork where the rank stands gives it one that can"})
		case hangs:
			m.aloneFor(q, "catch vfork (it is interrupted by SIGINT)")
			if m.moving != nil {
				m.moving.allStop = true
			}
		case m.gdb.shared() && !q.again:
			m.aloneFor(q, "catch vfork")
		default:
			then()
		}
	}, "-data-evaluate-expression", "$_gdb_major")
}
