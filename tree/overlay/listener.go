// Listening for parents.

package overlay

import (
	"context"
	"net"
)

// Listener accepts parents of a server. Its number of unauthenticated connections
// is bounded, and it sends them nothing; see acceptor, which also lists the goroutines.
type Listener struct {
	acceptor *acceptor
	self     func() Identity
}

// NewListener returns a listener on an open port. It owns l, also when it fails.
// Accept calls self for each parent that connects.
func NewListener(l net.Listener, secret Secret, self func() Identity) (*Listener, error) {
	d, err := newAcceptor(l, secret, forLinks)
	if err != nil {
		return nil, err
	}
	return &Listener{acceptor: d, self: self}, nil
}

// Addr returns the address of the port, "127.0.0.1:4711".
func (l *Listener) Addr() string { return l.acceptor.l.Addr().String() }

// Accept waits for a parent that proves the secret and looks for this server of
// this session. A parent that is refused is sent the reason, and Accept continues
// to wait. It returns the cause of ctx, net.ErrClosed after Close, or an error when
// the listener fails. One goroutine at a time may call it.
func (l *Listener) Accept(ctx context.Context) (Link, Identity, error) {
	for {
		g, err := l.acceptor.next(ctx)
		if err != nil {
			return nil, Identity{}, err
		}
		self := l.self()
		err = judgeHello(g.hello, self)
		if failed := reply(g.link, self, err); err == nil && failed == nil {
			return g.link, g.hello.identity(), nil
		}
		g.link.Close()
	}
}

// Close ends Accept and closes all connections that Accept has not returned.
func (l *Listener) Close() error { return l.acceptor.close() }
