// Configuration of a server.

package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"sdm/backend"
	"sdm/launch"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config configures a server.
type Config struct {
	ID   protocol.ServerID // number of the server, from 0
	Host string            // for events and faults; "" is the host name of the machine
	// Forker starts the ranks; the server closes it at its end. nil: the back end simulates the
	// ranks, and nothing is started.
	Forker *local.Forker
	// SimulatedPID gives the process id that is shown for a simulated rank. nil: 0 for all.
	SimulatedPID func(rank.ID) int
	// Answers is how many of its last answers the server keeps for expand. 0 is 8.
	Answers int
	// NewBackend makes the back end. Required.
	NewBackend func(backend.Sink) (backend.Backend, error)
	// Engine returns the name and version of the debugger, for users. It may block for a moment.
	// nil: they are unknown.
	Engine func() string
	// Env is the environment that ranks start from, as NAME=VALUE; nil is the server's own.
	Env []string
	// Slot is the program that the starter gave for the rank of this slot, if the server runs in a
	// slot of a starter's job; nil otherwise. Its program and arguments take precedence over the
	// session's launch.
	Slot *protocol.Job
	// SlotRank is the rank of the server's own slot. The server exits with its status.
	SlotRank rank.ID
	// Remotes hold the ranks of the other slots of this node. The caller closes them.
	Remotes map[rank.ID]*local.Remote
	// Existing gives the processes of ranks that run already, by rank. A launch attaches to them,
	// whatever program it names. nil: there are none.
	Existing map[rank.ID]int
	// RankFrom names the environment variables from which the rank of a process of this host is
	// read.
	RankFrom launch.RankFrom
	// Note is sent to the user with the first ranks that the server gets; "": nothing is sent.
	Note string
	// Stage takes a piece of a gdb that the session sends to this host. It may block. nil: a gdb
	// cannot be sent here.
	Stage func(protocol.Piece) error
	// TakeSettings is called with the process of a rank before the server first attaches to one. It may
	// change the environment and the working directory of the server, so that gdb finds what the
	// user has set up for the job. An error is logged. nil: nothing is changed.
	TakeSettings func(pid int) error
	// Through gives ranks the standard streams of the server itself, for a slot whose output
	// belongs to the starter.
	Through bool
	// LateOutput takes the output that detached ranks write after the end of the session. stream is
	// protocol.KindStdout or KindStderr; text ends with a newline as a rule. LateOutput may block, and
	// several goroutines may call it. nil: the output is dropped.
	LateOutput func(stream protocol.Kind, text []byte)
	// Linger is how long the ranks stay as they are when the master is lost. After it the server
	// ends its session. 0: at once.
	Linger time.Duration
	// LetRun detaches all ranks when the master does not come back. Otherwise ranks that this
	// server started, and ranks of a job that the session started, are killed; other ranks are
	// detached and run on.
	LetRun bool
	// AdoptWait is the grace period when a parent server is lost: the parent of that server adopts
	// this one. That takes milliseconds if the link breaks, and the keep-alive wait (15 s) if the
	// parent falls silent. 0 is a minute, which covers an adopting server that is silent as well.
	AdoptWait time.Duration
	// CloseWait bounds the time in which gdb detaches from ranks and kills them at the end of the
	// session. Processes that are left after it are killed. 0 is 5 s: gdb needs up to 2 s to detach
	// from a big program.
	CloseWait time.Duration
	// Ending delivers a text about the end of the job that the starter has announced (a signal).
	// The text is passed on, and EndingGrace later the server ends its session. nil: never.
	Ending <-chan string
	// Signals are the signals that a starter sends to a rank and that reach the server instead.
	// They are passed on to the ranks. nil: none.
	Signals <-chan syscall.Signal
	// EndingGrace is the time that the event about the end has to reach the user. 0 is 500 ms: the
	// tree holds events back for at most 100 ms, and starters kill after some seconds.
	EndingGrace time.Duration
	// LetGo is called when the session has ended but detached ranks, which are children of this
	// process, still run: the server stays until they end. It may be nil.
	LetGo func()
	Log   *slog.Logger // nil: nothing is logged
}

// withDefaults replaces zero values by their defaults.
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

// Validate returns an error that names a wrong field and the reason.
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
