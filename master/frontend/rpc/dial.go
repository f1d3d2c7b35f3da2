// The master's side of a connection that it dials.

package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"

	"sdm/master/dial"
	"sdm/master/peer"
	"sdm/protocol/envelope"
)

// Dial connects a master to a front end that listens at "HOST:PORT" or "unix:PATH": at most
// dial.Tries attempts with growing pauses within the options' wait, then the mutual authentication.
// If that fails, there are no further attempts. The error names the address and the reason.
func Dial(ctx context.Context, addr string, o Options) (*Conn, error) {
	o = o.withDefaults()
	if network, _ := dial.Split(addr); network == "tcp" {
		if err := o.needSecret(); err != nil {
			return nil, err
		}
	}
	return dial.FrontEnd(ctx, addr, o.Wait, o.Log, o.welcome)
}

// welcome is the master's part on a new connection. The front end sends first, and its first byte
// shows whether it uses TLS. Plain TCP is refused on loopback too: a process that has taken the
// front end's port could relay the proofs between two plain connections, and then act as the front
// end.
func (o Options) welcome(ctx context.Context, c net.Conn) (*Conn, error) {
	if u, ok := c.(*net.UnixConn); ok {
		if err := peer.OfThisUser(u); err != nil {
			return nil, err
		}
		return newConn(c, c.RemoteAddr().String(), maxRequest), nil
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	stop := closeAfter(ctx, c)
	defer stop()
	peeked := &peekedConn{Conn: c, r: bufio.NewReaderSize(c, envelope.MaxHeader)}
	first, err := peeked.r.Peek(1)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("it says nothing")
		}
		return nil, &dial.Unreached{Err: err}
	}
	const tlsHandshake = 22 // RFC 8446, section 5.1: ContentType of a ClientHello
	if first[0] == tlsHandshake {
		secured, bound, err := serveTLS(ctx, peeked)
		if err != nil {
			return nil, err
		}
		return o.admit(ctx, secured, bound)
	}
	if !o.Plaintext {
		return nil, reject(newConn(peeked, "", maxUnauthenticatedBody), nil, "it speaks plain TCP, which others can read and change (let it start TLS, or permit this with --plaintext)")
	}
	o.Log.Warn("the connection to the front end is plain text: others can read and change it", "addr", c.RemoteAddr().String())
	return o.admit(ctx, peeked, bindingPlain)
}

func (o Options) admit(ctx context.Context, c net.Conn, bound string) (*Conn, error) {
	conn := newConn(c, c.RemoteAddr().String(), maxUnauthenticatedBody)
	if err := admit(conn, o.Secret, o.Build, bound); err != nil {
		return nil, timeoutError(ctx, err)
	}
	conn.max = maxRequest
	return conn, nil
}

// timeoutError replaces an error after the end of ctx by one that tells so.
func timeoutError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no proof in %v", handshakeWait)
	}
	return err
}

// closeAfter closes a connection when ctx is done, which ends reads and writes, unless stop is
// called before.
func closeAfter(ctx context.Context, c net.Conn) (stop func()) {
	off := context.AfterFunc(ctx, func() { c.Close() })
	return func() { off() }
}

// peekedConn is a connection whose first bytes have been peeked at.
type peekedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *peekedConn) Read(b []byte) (int, error) { return c.r.Read(b) }
