package master

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
)

// DefaultWait is how long answers are held back when neither the call nor the
// session says: long enough for gdb to read big symbol tables, short enough
// that a person does not think that all is dead.
const DefaultWait = 10 * time.Second

// A server that gives no sign of life for DefaultSilence is given up: longer than
// a busy machine or a network that is being mended takes, shorter than a person
// waits for an answer before he thinks that all is dead.
const (
	DefaultHeartbeat = 5 * time.Second
	DefaultSilence   = 15 * time.Second
)

// Config is what a Master needs to know beforehand.
type Config struct {
	// Dial reaches a child of the root and proves both identities; it is called
	// with the child's line of the routing table and ends with its context.
	Dial func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error)
	// Wait is the wait of calls that do not say; 0 is DefaultWait.
	Wait time.Duration
	// Heartbeat is how often servers are asked for a sign of life by the vertex
	// above them, and Silence how long one may give none before it is given up.
	// 0 are DefaultHeartbeat and DefaultSilence; a negative Heartbeat is never.
	// A routing table that says otherwise counts.
	Heartbeat, Silence time.Duration
	// CheckProgram may say why a program cannot run in this session. A launch of
	// it is refused; of one that a starter chose, a note warns when it has been
	// started. It is asked once for each program and may read its file. nil lets
	// everything pass.
	CheckProgram func(program string) error
	// Partial goes on without servers that are not ready when the tree is built, as
	// long as one is: their ranks are lost from the start. Otherwise there is no
	// session without all.
	Partial bool
	// Job is the resource manager's name for the job, for its events; "" is unknown.
	Job string
	// Log takes what is worth knowing when something goes wrong; nil drops it.
	Log *slog.Logger

	// newRoot makes the root of the tree; nil is the real one. Tests set it.
	newRoot func(up func(wire.Message), tryUp func(wire.Message) bool) root
}

// Validate says which field is wrong and why.
func (c Config) Validate() error {
	switch {
	case c.Dial == nil && c.newRoot == nil:
		return errors.New("master: Dial: the root of the tree must be able to reach its children")
	case c.Heartbeat >= 0 && c.Silence != 0 && c.Silence < c.Heartbeat:
		return errors.New("master: Silence: must not be shorter than Heartbeat")
	case c.Wait < 0:
		return errors.New("master: Wait: must not be negative (a call may ask for no limit)")
	}
	return nil
}

// root is the root of the tree, as the master sees it: overlay.Loop.
type root interface {
	// Post hands inputs over; it never blocks.
	Post(in ...tree.Input)
	// Run lives until the session has ended or ctx is over.
	Run(ctx context.Context) error
}

func (c Config) withDefaults() Config {
	if c.Wait == 0 {
		c.Wait = DefaultWait
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = DefaultHeartbeat
	}
	if c.Silence == 0 {
		c.Silence = max(DefaultSilence, 3*c.Heartbeat)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.newRoot == nil {
		c.newRoot = func(up func(wire.Message), tryUp func(wire.Message) bool) root {
			return overlay.NewLoop(overlay.LoopConfig{Node: tree.New(0), Dial: c.Dial, Up: up, TryUp: tryUp})
		}
	}
	return c
}
