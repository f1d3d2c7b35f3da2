// The front end's side of a session that several share.

package rpc

import (
	"context"
	"errors"
	"io"
	"net"

	"sdm/master/dial"
	"sdm/master/peer"
)

// Join connects a front end to a session that listens at "unix:PATH", "unix:@NAME" or "HOST:PORT", within the
// options' wait. Call Initialize next.
func Join(ctx context.Context, addr string, o Options) (*Client, error) {
	o = o.withDefaults()
	if network, _ := dial.Split(addr); network == "tcp" {
		if err := o.needSecret(); err != nil {
			return nil, err
		}
	}
	c, err := dial.Once(ctx, addr, o.Wait)
	if err != nil {
		return nil, err
	}
	conn, err := o.greet(ctx, c)
	if err != nil {
		c.Close()
		return nil, err
	}
	return newClient(conn, o), nil
}

// Over makes a front end's session over a connection that nobody else can reach: one of a pair of sockets, or the
// standard streams of a remote shell. Call Initialize next.
func Over(c io.ReadWriteCloser) *Client {
	return newClient(newConn(c, "the session process", maxAnswer), Options{})
}

// Private makes a master's side of such a connection.
func Private(c io.ReadWriteCloser) *Conn { return newConn(c, "the first front end", maxRequest) }

// Relay connects in and out to a session that listens on a Unix socket of this host, for a front end on another one,
// until either side ends. The peer is checked. A pending Read of in lasts until the process ends.
func Relay(ctx context.Context, addr string, wait Options, in io.Reader, out io.Writer) error {
	c, err := dial.Once(ctx, addr, wait.withDefaults().Wait)
	if err != nil {
		return err
	}
	defer c.Close()
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("rpc: Relay: not a Unix socket")
	}
	if err := peer.OfThisUser(u); err != nil {
		return err
	}
	stop := closeAfter(ctx, c)
	defer stop()
	go func() { // ends with in, or the process
		_, _ = io.Copy(u, in)
		_ = u.CloseWrite() // the session sees that its front end is gone
	}()
	_, err = io.Copy(out, u)
	return err
}
