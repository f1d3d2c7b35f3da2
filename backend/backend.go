// Package backend provides the debugger of the ranks of one server, whatever
// engine it uses.
package backend

import (
	"context"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Target is a process to be taken under control.
type Target struct {
	Rank    rank.ID
	Size    int // how many ranks there are in all; 0 is not known
	PID     int
	Program string // path for people and, where /proc does not tell, for symbols
	// Core is the path of a core file, which is debugged in place of a process; "" is
	// none.
	Core string
	// Before are commands that were given for the rank before it was there. They are carried
	// out before it runs; what cannot be is told as KindNote.
	Before []protocol.Command
	// Held tells that it stands before its first instruction, stopped by
	// SIGSTOP, and was started by us: it is killed at the end. Otherwise it
	// runs, or is stopped, and is detached from at the end.
	Held bool
	// Wraps tells that its program only prepares what it starts in its place, as the shell of a
	// script does: it stops where that one does.
	Wraps bool
	// AllStop tells that its debugger must stop and resume all of its threads together.
	AllStop bool
	// Within bounds how long it may take until it is under control, whatever the engine has to start for that; 0 leaves
	// it to the engine.
	Within time.Duration
	// Root is the root directory of a process that sees other file systems than we
	// do (another mount namespace, a chroot), as we see it: /proc/PID/root. "" is ours.
	Root string
}

// Request is one command for some ranks of the back end.
type Request struct {
	ID      protocol.RequestID
	Ranks   rank.Set
	Wait    time.Duration     // the answer is wanted within; 0: no limit
	Command *protocol.Command // nobody changes it
}

// Sink takes what a back end has to say. Its methods may be called from any
// goroutine, do not block, and keep the order of calls. A rank's events and
// answers are handed over in the order in which they happened.
type Sink interface {
	// Reply gives answers: each rank of a request exactly once, in as many
	// groups as the back end likes, of kind KindResult or KindFault. Columns may
	// have more values than they may keep (column.OfValues).
	Reply(id protocol.RequestID, groups ...protocol.Group)
	// Event gives what happened to ranks unasked: KindRunning, KindStopped, …
	Event(groups ...protocol.Group)
}

// Backend debugs a number of targets. All methods return at once; what they
// bring about comes through the Sink. They may be called by one goroutine.
type Backend interface {
	// Attach takes control of targets, for request id: each rank answers once
	// (KindResult with an empty object, or KindFault). Then, as events:
	// KindStopped where stopAt says ("main", "entry", "none" or a location).
	// stopAt applies to held targets; running ones are stopped where they are.
	Attach(id protocol.RequestID, targets []Target, stopAt string, wait time.Duration)
	// Do carries out a command with Place AtTarget of the table Commands.
	Do(Request)
	// Ended tells that the process of a rank has been reaped by its parent: the
	// back end reports KindExited or KindSignalled from it unless the engine
	// has already.
	Ended(r rank.ID, exit protocol.Exit)
	// Close kills the targets that were held, detaches from the rest, ends
	// every engine process and waits for them; the context bounds the kindness,
	// not the end: when it is over, engines are killed.
	Close(ctx context.Context) error
}
