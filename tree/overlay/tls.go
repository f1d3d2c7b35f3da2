// Links over TCP with TLS.

package overlay

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
	"time"

	"sdm/protocol/wire"
)

// queuedConn is a connection whose Write never blocks, because package tls makes a
// connection unusable when a write under it was interrupted.
type queuedConn struct {
	net.Conn
	in  io.Reader
	out *outbox
	// discards makes Write discard its bytes: a listener sends an unauthenticated peer
	// nothing, not even the alerts of package tls.
	discards *atomic.Bool
}

func (e *queuedConn) Read(p []byte) (int, error) { return e.in.Read(p) }

func (e *queuedConn) Write(p []byte) (int, error) {
	if e.discards.Load() {
		return len(p), nil
	}
	return e.out.Write(p)
}

// SetWriteDeadline does nothing, since no Write blocks. Package tls sets an expired
// deadline after its close alert, which would end what the outbox still writes.
func (e *queuedConn) SetWriteDeadline(time.Time) error { return nil }

// dialled returns the dialling side of a link over TLS, before the handshake.
func dialled(conn net.Conn, c *credentials) *stream {
	s, under := newTLSStream(conn)
	s.setTLS(tls.Client(under, c.config(c.tokens.fresh())))
	return s
}

// accepted returns the accepting side. Nothing is sent to the other side before
// known is called.
func accepted(conn net.Conn, c *credentials, known func()) *stream {
	s, under := newTLSStream(conn)
	under.discards.Store(true)
	s.setTLS(tls.Server(under, c.listening(func() {
		under.discards.Store(false)
		known()
	})))
	return s
}

func newTLSStream(conn net.Conn) (*stream, *queuedConn) {
	s := &stream{peer: conn.RemoteAddr().String(), rw: conn, limit: wire.MaxPacket}
	s.out = newOutbox(conn, s.failed)
	s.unwatch = watchHost(conn, func() { s.out.end(errSilentHost) })
	return s, &queuedConn{Conn: conn, in: &counter{reading(conn), &s.bytes}, out: s.out, discards: new(atomic.Bool)}
}

func (s *stream) setTLS(conn *tls.Conn) {
	s.tls = conn
	s.in = bufio.NewReaderSize(conn, readBuffer)
}
