// Package overlay is the edge of the tree: links between neighbours and the
// one loop that feeds a vertex.
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

// Link is a connection to one neighbour: reliable, ordered, both ways. One
// goroutine may call Send while another calls Receive; Close may be called by
// anyone, more than once, and ends both.
type Link interface {
	// Send hands packets over; it may block while the neighbour does not read
	// and ends on Close or peer loss. The link keeps no reference to them.
	Send(msgs ...wire.Message) error
	// Receive gives the next packet; its bodies belong to the caller.
	Receive() (wire.Message, error)
	Close() error
	// Peer describes the other end for people: "127.0.0.1:4711", "fd 3".
	Peer() string
}

// way is the sending side of a link as the loop uses it: nothing here waits for
// the neighbour, except settle. put and flush belong to one goroutine at a time.
type way interface {
	// put adds a packet to the batch; no reference to it is kept.
	put(m *wire.Message) error
	// flush offers the batch to the transport in one write; what the transport
	// does not take at once waits. The link's reader reports failures.
	flush()
	// queued is how many bytes the transport has not taken yet.
	queued() int
	// watch asks for room to be called, by any goroutine, whenever queued has
	// become smaller, and (unless stall is 0) for the end of the link when the
	// neighbour takes nothing for that long. It is called before the first put.
	watch(room func(), stall time.Duration)
	// settle waits until all is taken, the link has ended, or d is over.
	settle(d time.Duration)
}

// batchReader is a Link that can tell whether a whole packet has arrived
// already, so that Receive would give it without waiting.
type batchReader interface{ ready() bool }

// waiter is a Link that can wait for the first byte of a packet, or for its end,
// with little on the stack: a root has a thousand readers that do nothing else, a
// simulated tree tens of thousands, and what is on the stack of a goroutine
// while it waits decides how much memory it keeps.
type waiter interface{ await() }

// driven is a Link whose reader is somebody else's; see Carriers.
type driven interface {
	// drive has work called whenever something may be read, by one goroutine at a
	// time.
	drive(work func())
	// wake has work called once more.
	wake()
	// aside does something that may wait; work calls it.
	aside(do func())
	// pending tells whether Receive has something to begin with.
	pending() bool
}

// ErrTooLong is what Send returns for a packet longer than wire.MaxPacket; the
// link lives on, and none of the packets of that call has been sent.
var ErrTooLong = errors.New("packet is too long")

// errStalled ends a link whose neighbour does not read.
var errStalled = errors.New("the other side does not read")

// errSilentHost ends a link whose other host does not answer.
var errSilentHost = errors.New("the other host does not answer")

// linkError says what went wrong with which link.
type linkError struct {
	op, peer string
	err      error
}

func (e *linkError) Error() string { return e.op + " " + e.peer + ": " + e.err.Error() }
func (e *linkError) Unwrap() error { return e.err }

// cause says in a few words why a link ended, without the addresses that
// package net and we put in front: who tells people knows the host.
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
