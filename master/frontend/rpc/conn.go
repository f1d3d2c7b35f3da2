// Package rpc provides the JSON-RPC door of a session: a master serves a front
// end that may be far away, and a front end that is written in Go sees it as a
// session. docs/protocol.md is its manual.
package rpc

import (
	"bufio"
	"io"
	"sync"
)

// Conn is a connection to the other side that has proved who it is. One
// goroutine reads; any may write; Close may be called by anyone, more than once,
// and ends both.
type Conn struct {
	rw   io.ReadWriteCloser
	r    *bufio.Reader
	peer string
	max  int // bytes of a body that is read

	mu  sync.Mutex
	w   *bufio.Writer
	one sync.Once
	err error // of Close
}

// newConn makes a connection over a stream; max bounds the bodies that are read,
// in bytes.
func newConn(rw io.ReadWriteCloser, peer string, max int) *Conn {
	return &Conn{
		rw: rw, peer: peer, max: max,
		r: bufio.NewReaderSize(rw, maxHeader), w: bufio.NewWriterSize(rw, 64<<10),
	}
}

// Stdio is the master's door to a front end that started it: the streams are
// private to the two, so nobody proves anything. A Read of in that Close cannot
// interrupt, as of a terminal, keeps one goroutine until the process ends.
func Stdio(in io.Reader, out io.Writer) *Conn {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err)
	}()
	return newConn(&stdio{Reader: r, Writer: out, pipe: r}, "stdio", maxRequest)
}

type stdio struct {
	io.Reader
	io.Writer
	pipe *io.PipeReader
}

func (s *stdio) Close() error { return s.pipe.Close() }

// Peer describes the other end for people.
func (c *Conn) Peer() string { return c.peer }

// Close ends the connection.
func (c *Conn) Close() error {
	c.one.Do(func() { c.err = c.rw.Close() })
	return c.err
}

// read gives the next body.
func (c *Conn) read() ([]byte, error) { return readFrame(c.r, c.max) }

// write sends bodies in one go.
func (c *Conn) write(bodies ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range bodies {
		if _, err := c.w.Write(appendFrame(nil, body)); err != nil {
			return err
		}
	}
	return c.w.Flush()
}
