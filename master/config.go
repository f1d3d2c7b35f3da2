// Configuration of a master.

package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
)

// DefaultWait is the wait for answers when neither the call nor Config sets one: long enough for
// gdb to read large symbol tables, short enough that the user does not think that the session
// hangs.
const DefaultWait = 10 * time.Second

// A server that does not answer heartbeats for DefaultSilence is lost. That is longer than a busy
// machine or a network failure delays answers, and shorter than a user waits before the session
// seems to hang.
const (
	DefaultHeartbeat = 5 * time.Second
	DefaultSilence   = 15 * time.Second
)

// Config configures a Master.
type Config struct {
	// Dial connects to a child of the root and authenticates both sides. It is called with the
	// child's line of the routing table and ends when its context does.
	Dial func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error)
	// Wait is the wait of calls that set none; 0 is DefaultWait.
	Wait time.Duration
	// Heartbeat is the interval at which a vertex sends heartbeats to its children, and Silence the
	// time without an answer after which a server is lost. A Heartbeat of 0 is DefaultHeartbeat, a
	// negative one is none; a Silence of 0 is DefaultSilence, and at least three Heartbeats. A
	// Heartbeat in the routing table takes precedence.
	Heartbeat, Silence time.Duration
	// CheckProgram returns an error if a program cannot be debugged in this session. A launch of it
	// is refused; if a starter has started it, a note warns. It is called once for each program and
	// may read its file. nil accepts all programs.
	CheckProgram func(program string) error
	// Partial continues without servers that are not ready when the tree is built, as long as at
	// least one is: their ranks are lost from the start. Otherwise all servers must be ready.
	Partial bool
	// Job is the resource manager's name of the job, for events; "" is unknown.
	Job string
	// Log receives diagnostic messages; nil discards them.
	Log *slog.Logger

	// newRoot makes the root of the tree; nil makes the real one. Set in tests only.
	newRoot func(up func(wire.Message)) root
}

// Validate returns an error that names the first invalid field and the reason.
func (c Config) Validate() error {
	heartbeat, silence := c.heartbeat()
	switch {
	case c.Dial == nil && c.newRoot == nil:
		return errors.New("master: Dial: the root of the tree must be able to reach its children")
	case heartbeat >= 0 && silence < heartbeat:
		return fmt.Errorf("master: Silence: %v must not be shorter than Heartbeat, %v", silence, heartbeat)
	case c.Wait < 0:
		return errors.New("master: Wait: must not be negative (a call may ask for no limit)")
	}
	return nil
}

// root is the root of the tree as the master uses it: overlay.Loop.
type root interface {
	// Post queues inputs; it does not block.
	Post(in ...tree.Input)
	// Run returns when the session has ended or ctx is done.
	Run(ctx context.Context) error
}

// heartbeat returns Heartbeat and Silence, or their defaults.
func (c Config) heartbeat() (interval, silence time.Duration) {
	interval = cmp.Or(c.Heartbeat, DefaultHeartbeat)
	return interval, cmp.Or(c.Silence, max(DefaultSilence, 3*interval))
}

func (c Config) withDefaults() Config {
	if c.Wait == 0 {
		c.Wait = DefaultWait
	}
	c.Heartbeat, c.Silence = c.heartbeat()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.newRoot == nil {
		c.newRoot = func(up func(wire.Message)) root {
			return overlay.NewLoop(overlay.LoopConfig{Node: tree.New(0), Dial: c.Dial, Up: up})
		}
	}
	return c
}
