// Package overlay connects vertices: it provides the links between neighbours,
// their authentication, and the event loop that drives one vertex. It does all I/O
// of the tree.
package overlay

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"sdm/protocol/wire"
)

// Link is a reliable, ordered, bidirectional connection to one neighbour. One
// goroutine may call Send while another calls Receive. Close may be called by any
// goroutine, more than once, and ends both.
type Link interface {
	// Send sends packets. It may block while the neighbour does not read, and
	// returns on Close or when the neighbour is lost. The link keeps no reference
	// to them.
	Send(msgs ...wire.Message) error
	// Receive returns the next packet; its bodies belong to the caller.
	Receive() (wire.Message, error)
	Close() error
	// Peer describes the other end in messages: "127.0.0.1:4711", "fd 3".
	Peer() string
}

// sender is the sending side of a link as the loop uses it. No method waits for the
// neighbour, except settle. put and flush belong to one goroutine at a time.
type sender interface {
	// put adds a packet to the batch; no reference to it is kept.
	put(m *wire.Message) error
	// flush offers the batch to the transport in one write. What the transport does
	// not accept at once is queued. Failures are reported by the link's reader.
	flush()
	// queued returns the number of bytes that the transport has not accepted yet.
	queued() int
	// onRoom registers room, which is called by any goroutine whenever queued has
	// decreased. Unless stall is 0, it also ends the link when the neighbour
	// accepts nothing for that long. It is called before the first put.
	onRoom(room func(), stall time.Duration)
	// settle waits until everything is accepted, the link has ended, or d is over.
	settle(d time.Duration)
}

// batchReader is a Link that can report whether a whole packet has arrived, so that
// Receive returns it without waiting.
type batchReader interface{ ready() bool }

// waiter is a Link that can wait for the first byte of a packet, or for the end of
// the link, with a small stack. A root has a thousand readers that only wait, a
// simulated tree tens of thousands, and the stack of a waiting goroutine determines
// how much memory it keeps.
type waiter interface{ await() }

// driven is a Link that a ReaderPool reads instead of a goroutine of its own.
type driven interface {
	// drive registers work, which is called whenever something may be read, by one
	// goroutine at a time.
	drive(work func())
	// wake requests one more call of work.
	wake()
	// aside runs a function that may wait on another goroutine; work calls it.
	aside(do func())
	// pending reports whether Receive has something to start with.
	pending() bool
}

// ErrTooLong is the error of Send for a packet longer than wire.MaxPacket. The link
// stays usable, and no packet of that call has been sent.
var ErrTooLong = errors.New("packet is too long")

// errStalled ends a link whose neighbour does not read.
var errStalled = errors.New("the other side does not read")

// errSilentHost ends a link whose other host does not answer.
var errSilentHost = errors.New("the other host does not answer")

// linkError is an error with the operation and the peer.
type linkError struct {
	op, peer string
	err      error
}

func (e *linkError) Error() string { return e.op + " " + e.peer + ": " + e.err.Error() }
func (e *linkError) Unwrap() error { return e.err }

// cause describes in a few words why a link ended, without the addresses that
// package net and linkError put in front: the caller's message names the host.
func cause(err error) string {
	if link, ok := err.(*linkError); ok {
		err = link.err
	}
	switch {
	case err == errStalled, err == errSilentHost:
		return err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "closed by the other side in the middle of a packet"
	case errors.Is(err, io.EOF):
		return "closed by the other side"
	case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrClosed):
		return "closed"
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}
