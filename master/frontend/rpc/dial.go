package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Tries is how often a master tries to reach its front end.
const Tries = 10

// Dial is the master's way to a front end that listens at "HOST:PORT" or
// "unix:PATH": ten tries with growing pauses within the options' wait, then the
// mutual proof. A front end that is there but refuses, or is refused, is not
// tried again. The error names the address and the reason.
func Dial(ctx context.Context, addr string, o Options) (*Conn, error) {
	o = o.withDefaults()
	network, address := splitAddr(addr)
	if network == "tcp" {
		if err := o.needSecret(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	var last error
	tries := 0
	for try := range Tries {
		tries = try + 1
		conn, err := o.dialOnce(ctx, network, address)
		var silent *silentError
		if err == nil || !errors.As(err, &silent) {
			return conn, nameFrontEnd(addr, err)
		}
		if last == nil || ctx.Err() == nil { // that time is over says less than what was met before
			last = silent.err
		}
		o.Log.Debug("front end not reached", "addr", addr, "try", tries, "err", last)
		if try == Tries-1 || !pause(ctx, o.Wait, try) {
			break
		}
	}
	return nil, nameFrontEnd(addr, fmt.Errorf("%w (%s in %v)", last, counted(tries), o.Wait))
}

func counted(tries int) string {
	if tries == 1 {
		return "1 try"
	}
	return strconv.Itoa(tries) + " tries"
}

func nameFrontEnd(addr string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("front end at %s: %w", addr, err)
}

// pause waits between two tries: wait/700 first, then twice as long each time,
// which is 73 % of the wait for all nine and leaves some for the tries. It tells whether there is time for
// another try.
func pause(ctx context.Context, wait time.Duration, try int) bool {
	t := time.NewTimer(wait / 700 << try)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// silentError is the error of a try that met nobody: nothing listens, or what
// listens hangs up at once, as the near end of a tunnel does.
type silentError struct{ err error }

func (e *silentError) Error() string { return e.err.Error() }
func (e *silentError) Unwrap() error { return e.err }

func (o Options) dialOnce(ctx context.Context, network, address string) (*Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, &silentError{err}
	}
	keepAlive(c)
	conn, err := o.welcome(ctx, c)
	if err != nil {
		c.Close()
		return nil, err
	}
	return conn, nil
}

// welcome is the master's part on a fresh connection. The front end speaks
// first, and by its first byte the master sees whether it wants TLS.
func (o Options) welcome(ctx context.Context, c net.Conn) (*Conn, error) {
	if u, ok := c.(*net.UnixConn); ok {
		if err := checkPeer(u); err != nil {
			return nil, err
		}
		return newConn(c, c.RemoteAddr().String(), maxRequest), nil
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	stop := closeAfter(ctx, c)
	defer stop()
	peeked := &peekedConn{Conn: c, r: bufio.NewReaderSize(c, maxHeader)}
	first, err := peeked.r.Peek(1)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("it says nothing")
		}
		return nil, &silentError{err}
	}
	const tlsHandshake = 22 // RFC 8446, section 5.1: ContentType of a ClientHello
	if first[0] == tlsHandshake {
		secured, bound, err := serveTLS(ctx, peeked)
		if err != nil {
			return nil, err
		}
		return o.admit(ctx, secured, bound)
	}
	if !o.local(c.RemoteAddr()) {
		if !o.Plaintext {
			return nil, reject(newConn(peeked, "", maxStranger), nil, "it speaks plain TCP, which others can read and change (let it start TLS, or permit this with --plaintext)")
		}
		o.Log.Warn("the connection to the front end is plain text: others can read and change it", "addr", c.RemoteAddr().String())
	}
	return o.admit(ctx, peeked, bindingPlain)
}

func (o Options) admit(ctx context.Context, c net.Conn, bound string) (*Conn, error) {
	conn := newConn(c, c.RemoteAddr().String(), maxStranger)
	if err := admit(conn, o.Secret, o.Build, bound); err != nil {
		return nil, overtime(ctx, err)
	}
	conn.max = maxRequest
	return conn, nil
}

// overtime says that time was the reason, where it was.
func overtime(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no proof in %v", handshakeWait)
	}
	return err
}

// closeAfter closes a connection when ctx is over, which ends reads and writes,
// until stop is called.
func closeAfter(ctx context.Context, c net.Conn) (stop func()) {
	off := context.AfterFunc(ctx, func() { c.Close() })
	return func() { off() }
}

// peekedConn gives the bytes again that were looked at.
type peekedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *peekedConn) Read(b []byte) (int, error) { return c.r.Read(b) }
