// Connections of this user only, and not too many of them.

package web

import (
	"log/slog"
	"net"
	"sync"

	"sdm/master/peer"
)

// Peers returns a listener that closes connections whose other end is of another user, and those beyond maxConns.
func Peers(l net.Listener, log *slog.Logger) net.Listener {
	return &peers{Listener: l, log: log, free: make(chan struct{}, maxConns)}
}

type peers struct {
	net.Listener
	log  *slog.Logger
	free chan struct{} // holds an entry for each connection
}

// Accept returns the next connection that is let in.
func (p *peers) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if err := peer.OfThisUser(c); err != nil {
			p.log.Warn("refused", "err", err)
			c.Close()
			continue
		}
		select {
		case p.free <- struct{}{}:
			return &counted{Conn: c, free: sync.OnceFunc(func() { <-p.free })}, nil
		default:
			p.log.Warn("refused: too many connections", "limit", maxConns)
			c.Close()
		}
	}
}

// counted is a connection that makes room for another one when it is closed.
type counted struct {
	net.Conn
	free func()
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.free()
	return c.Conn.Close()
}
