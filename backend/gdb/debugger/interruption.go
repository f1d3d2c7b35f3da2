// Handling of a gdb that does not answer.

package debugger

import (
	"fmt"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// interruption is an interrupt that gdb has not processed yet.
type interruption struct {
	*core
	signalAt    time.Duration // when gdb is sent the next signal; 0: never
	unprocessed *call         // that interrupt; nil: none
	since       time.Duration // when the first of these was requested
	continued   bool          // SIGCONT has been sent
}

// signalWait is how long gdb may take to process an interrupt before it is sent a signal:
// SIGCONT first, in case it was stopped itself, then SIGINT. SIGINT ends a long reading
// of symbols and a call in an expression, for which -exec-interrupt waits. It comes
// last because it may also abort gdb's handling of an event of the target.
const signalWait = 250 * time.Millisecond

// interruptLimit is how long gdb may take in total; then it is killed, and another gdb takes
// over its ranks.
const interruptLimit = 5 * time.Second

// interrupt stops a running rank. For a stopped one it aborts what gdb is busy with for
// the rank, if anything.
func (in *interruption) interrupt(q *request.Request) {
	for _, o := range in.waiting { // they have not begun
		in.Fail(o, &protocol.Fault{Kind: protocol.FaultState, Message: "interrupted before it ran"})
	}
	in.waiting = nil
	if len(in.Open) == 1 && !in.GDB.late && in.StateNow() == backend.Stopped {
		in.Done(q)
		return
	}
	if r := in.run; r != nil {
		if r.interrupted && in.now < r.next && !in.GDB.late {
			in.Done(q) // it is stopping
			return
		}
		r.interrupted, r.next = true, in.now+recheckWait
	}
	in.interruptGDB(q)
}

// interruptGDB tells gdb to stop the rank, and checks that gdb processes it.
func (in *interruption) interruptGDB(q *request.Request) {
	if in.unprocessed == nil {
		in.since, in.continued = in.now, false
	}
	in.signalAt = in.now + signalWait
	in.unprocessed = in.ask(q, func(a request.Answer) {
		in.signalAt, in.unprocessed = 0, nil
		in.ThenDone(q)(a)
	}, "-exec-interrupt", "--thread-group", in.threadGroup)
	in.restoreSelection()
	if in.GDB.late {
		in.signalGDB()
	}
}

// signalGDB sends signals to a gdb that is stopped or busy, until it processes the
// interrupt.
func (in *interruption) signalGDB() {
	in.signalAt = 0
	k := in.GDB.Calls.current()
	if in.unprocessed == nil || k == nil {
		return
	}
	if took := in.now - in.since; took >= interruptLimit {
		in.GDB.replace(fmt.Sprintf("ended: it was busy with %s and did not hear an interrupt for %s", k.what(), rounded(took)))
		return
	}
	sig := sigInt
	if !in.continued {
		in.continued, sig = true, sigCont
	}
	in.signalAt = in.now + signalWait
	in.send(ToGDB, sig)
}

// startOver forgets an interrupt of a gdb that has ended.
func (in *interruption) startOver() { *in = interruption{core: in.core} }
