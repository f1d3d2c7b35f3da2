package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"sdm/backend"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config is what a server is given at its start.
type Config struct {
	ID   protocol.ServerID
	Host string // for events and faults; "" is the machine's own name
	// Forker starts the ranks and is closed by the server at its end. nil: ranks
	// are simulated by the back end, nothing is started.
	Forker *local.Forker
	// SimulatedPID is what stands for the process id of a simulated rank; nil
	// is 0 for all.
	SimulatedPID func(rank.ID) int
	// Answers is how many of its last answers the server keeps for expand. 0 is 8.
	Answers int
	// NewBackend makes the back end. Required.
	NewBackend func(backend.Sink) (backend.Backend, error)
	// Engine names the debugger and its version, for people; it may take a moment.
	// nil: nobody knows.
	Engine func() string
	// Env is the environment that ranks start from, NAME=VALUE; nil is ours.
	Env []string
	// Slot is the program that a starter gave us for our rank, in a slot of its
	// job; nil outside of one. Its program and arguments go before those of the
	// session's launch.
	Slot *protocol.Job
	// SlotRank is the rank of our own slot: as it ended, so do we.
	SlotRank rank.ID
	// Guests hold the ranks of the other slots of our node. They stay the caller's.
	Guests map[rank.ID]*local.Guest
	// Existing are processes of our ranks that run already: a launch attaches to
	// them, whatever program it names. nil: there are none.
	Existing map[rank.ID]int
	// Note is said to the person with the first ranks that we get; "" is nothing.
	Note string
	// Stage takes a piece of a gdb that is brought here; nil: that cannot be. It may
	// block.
	Stage func(protocol.Piece) error
	// Like is called with the process of a rank before we first attach to one: it may
	// change our environment and working directory, so that gdb finds what the person
	// has set up for the job. An error is logged. nil: nothing is to be done.
	Like func(pid int) error
	// Through gives ranks our own standard streams: a slot whose output belongs
	// to the starter.
	Through bool
	// Rest takes what ranks that were let go write when the session is over: stream
	// is protocol.KindStdout or KindStderr, text ends with a newline as a rule. It
	// may block, and may be called by several goroutines. nil: it is dropped.
	Rest func(stream protocol.Kind, text []byte)
	// Linger is how long the ranks stay as they are when the master is lost,
	// before the session is over for us. 0: not at all.
	Linger time.Duration
	// LetRun lets ranks that we started run on when the master does not come back;
	// otherwise they are killed then. Others run on in any case.
	LetRun bool
	// AdoptWait is the same when a server above us is lost, whose parent adopts us:
	// that takes milliseconds when its link breaks, and as long as its silence is
	// borne when it says nothing (15 s). 0 is a minute, for when the one who is to
	// adopt us has gone silent as well.
	AdoptWait time.Duration
	// CloseWait bounds the kindness at the end, for detaching and killing
	// properly; what is left then is killed. 0 is 5 s: gdb needs up to 2 s to
	// let go of a big program.
	CloseWait time.Duration
	// Ending brings words about the end that the starter has announced (a
	// signal); they are passed on, and EndingGrace later the session is over for
	// us. nil: never.
	Ending <-chan string
	// Signals are those that a starter sends to a rank and that reach us instead;
	// they are passed on to the ranks. nil: none.
	Signals <-chan syscall.Signal
	// EndingGrace is how long a note about the end may travel. 0 is 500 ms: the
	// tree holds events back for at most 100 ms, and starters kill after some
	// seconds.
	EndingGrace time.Duration
	// LetGo is called when the session is over for us, but ranks that the person
	// detached from, which are our children, run on: we stay until they end. It
	// may be nil.
	LetGo func()
	Log   *slog.Logger // nil: nothing is logged
}

// withDefaults fills in what zero stands for.
func (c Config) withDefaults() Config {
	if c.Host == "" {
		c.Host, _ = os.Hostname()
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if c.AdoptWait == 0 {
		c.AdoptWait = time.Minute
	}
	if c.CloseWait == 0 {
		c.CloseWait = 5 * time.Second
	}
	if c.EndingGrace == 0 {
		c.EndingGrace = 500 * time.Millisecond
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate says which field is wrong and why.
func (c Config) Validate() error {
	switch {
	case c.ID < 0 || rank.ID(c.ID) > rank.MaxID:
		return fmt.Errorf("server number %d is not from 0 to %d", c.ID, rank.MaxID)
	case c.NewBackend == nil:
		return errors.New("no back end")
	case c.Answers < 0:
		return fmt.Errorf("%d answers cannot be kept", c.Answers)
	case c.Linger < 0:
		return fmt.Errorf("linger %v is negative", c.Linger)
	case c.Slot != nil && c.Slot.Program == "":
		return errors.New("a slot without a program (sdm-server ... -- PROGRAM)")
	}
	return nil
}
