// Package rpc connects a session to a front end by JSON-RPC. Serve is the master's side; Client is
// a session.Session for front ends in Go. docs/protocol.md describes the protocol.
package rpc

import (
	"bufio"
	"io"
	"sync"

	"sdm/master/dial"
	"sdm/protocol"
	"sdm/protocol/envelope"
)

// Limits of received messages, in bytes.
const (
	// maxUnauthenticatedBody bounds a body from an unauthenticated peer.
	maxUnauthenticatedBody = 4096
	// maxRequest bounds a body from a front end: a million process IDs fit.
	maxRequest = protocol.MaxBody
	// maxAnswer bounds a body from a master: all values of a million ranks fit.
	maxAnswer = 16 * protocol.MaxBody
)

// Conn is an authenticated connection to the other side. One goroutine may read; any may write;
// Close may be called from any goroutine, more than once, and ends both.
type Conn struct {
	rw   io.ReadWriteCloser
	r    *bufio.Reader
	peer string
	max  int // of a body that is read, in bytes

	mu  sync.Mutex
	w   *bufio.Writer
	one sync.Once
	err error // of Close
}

// newConn makes a connection over a stream; max bounds the bodies that are read, in bytes.
func newConn(rw io.ReadWriteCloser, peer string, max int) *Conn {
	return &Conn{
		rw: rw, peer: peer, max: max,
		r: bufio.NewReaderSize(rw, envelope.MaxHeader), w: bufio.NewWriterSize(rw, 64<<10),
	}
}

// Stdio is the master's connection to a front end that started it. The streams are private to the
// two, so there is no authentication. If a Read of in cannot be interrupted, as that of a terminal,
// one goroutine remains after Close until the process ends.
func Stdio(in io.Reader, out io.Writer) *Conn {
	return newConn(stdio{dial.Interruptible(in), out}, "stdio", maxRequest)
}

type stdio struct {
	*io.PipeReader
	io.Writer
}

// Peer describes the other end for messages.
func (c *Conn) Peer() string { return c.peer }

// Close ends the connection.
func (c *Conn) Close() error {
	c.one.Do(func() { c.err = c.rw.Close() })
	return c.err
}

// read returns the next body.
func (c *Conn) read() ([]byte, error) { return envelope.Read(c.r, c.max) }

// write sends bodies with one flush.
func (c *Conn) write(bodies ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range bodies {
		if _, err := c.w.Write(envelope.Append(nil, body)); err != nil {
			return err
		}
	}
	return c.w.Flush()
}
