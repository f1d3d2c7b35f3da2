// Package backend defines the interface to the debugger of one server's ranks, and the states of a
// rank. The packages below it implement the interface.
package backend

import (
	"context"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Target is a process to be debugged.
type Target struct {
	Rank    rank.ID
	Size    int // number of ranks of the job; 0: not known
	PID     int
	Program string // path for users and, if /proc has none, for symbols
	// Core is the path of a core file to debug in place of a process; "": none.
	Core string
	// Before are commands that were given for the rank before it existed. They are executed
	// before it runs; a failure is reported as KindNote.
	Before []protocol.Command
	// Held reports that the process was started by sdm and is stopped by SIGSTOP before its first
	// instruction: it is killed at the end. Otherwise the process runs or is stopped, and is
	// detached at the end.
	Held bool
	// Wraps reports that the program only prepares the program that it executes in its place, as
	// the shell of a script does: stopAt applies to the latter.
	Wraps bool
	// AllStop reports that the debugger must stop and resume all threads together.
	AllStop bool
	// Within bounds how long it may take until the process is under control, including the start
	// of engines; 0: the engine decides.
	Within time.Duration
	// Root is the root directory of a process that sees other file systems than this one (another
	// mount namespace, a chroot), as seen from here: /proc/PID/root. "": it sees the same.
	Root string
}

// Request is one command for some ranks of the back end.
type Request struct {
	ID      protocol.RequestID
	Ranks   rank.Set
	Wait    time.Duration     // the answer is wanted within this time; 0: no limit
	Command *protocol.Command // never changed
}

// Sink receives the replies and events of a back end. Its methods may be called from any
// goroutine, do not block, and keep the order of calls. The events and answers of a rank are
// passed in the order in which they happened.
type Sink interface {
	// Reply passes answers: each rank of a request exactly once, in any number of groups of kind
	// KindResult or KindFault. Columns may have more values than they may keep (column.OfValues).
	Reply(id protocol.RequestID, groups ...protocol.Group)
	// Event passes events of ranks: KindRunning, KindStopped, …
	Event(groups ...protocol.Group)
}

// Backend debugs a number of targets. All methods except Close return at once; their results come
// through the Sink. One goroutine at a time may call them.
type Backend interface {
	// Attach takes control of targets, for request id: each rank answers once (KindResult with an
	// empty object, or KindFault). Then KindStopped follows as an event, at the place that stopAt
	// names ("main", "entry", "none" or a location). stopAt applies to held targets; running ones
	// are stopped where they are.
	Attach(id protocol.RequestID, targets []Target, stopAt string, wait time.Duration)
	// Do executes a command with Place AtTarget of the table Commands.
	Do(Request)
	// Ended reports that the process of a rank has ended and its parent has waited for it. The
	// back end reports KindExited or KindSignalled from exit, unless the engine has done so.
	Ended(r rank.ID, exit protocol.Exit)
	// Close kills the targets that were held, detaches from the rest, ends every engine process
	// and waits for them. When ctx ends, engines are killed.
	Close(ctx context.Context) error
}
