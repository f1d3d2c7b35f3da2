// What the host does for a rank.

package debugger

import (
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// Effects are what the host has to do, in this order: signals, commands for gdb (Debugger.Take),
// answers and events.
type Effects struct {
	Signals       []Signal
	Messages      []Message
	Reads         []*values.MemoryRead
	Follow        int  // process ID of the rank from now on; 0: unchanged
	Move          bool // the rank is to get a gdb of its own, see handover
	Check         bool // check whether the process lives; if not, Missed is called
	ClearChildren bool // breakpoints are to be removed from stopped children before gdb detaches
	Detached      bool // the process runs on without gdb
}

// Signal is a signal to be sent, by its name ("SIGSTOP").
type Signal struct {
	To  Addressee
	Sig string
}

// Addressee is the receiver of a signal.
type Addressee uint8

const (
	// ToTarget is the process of the rank.
	ToTarget Addressee = iota
	// ToGroup is the process group of the rank, if the rank leads it.
	ToGroup
	// ToGDB is gdb with the processes that it has started.
	ToGDB
)

// The signals that ranks and gdbs are sent.
const (
	sigCont  = "SIGCONT"
	sigInt   = "SIGINT"
	sigKill  = "SIGKILL"
	sigStop  = "SIGSTOP"
	sigWinch = "SIGWINCH"
)

// Message is one answer or event; they are passed on in order.
type Message struct {
	Request protocol.RequestID // 0: an event
	Group   protocol.Group
}
