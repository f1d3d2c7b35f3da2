// Where servers wait for parents.

package overlay

import (
	"context"
	"net"
)

// Listener is where a server waits for parents. Its port is bounded and silent
// towards strangers; see door, which also lists the goroutines.
type Listener struct {
	door *door
	self func() Identity
}

// Listen opens addr, "host:port" or, when that port is in use, one of the ports-1
// next ones (0 is 1, at most MaxPorts). Port 0 leaves the choice to the system,
// an empty host is refused: all interfaces must be asked for. self is called for
// each parent that comes, by Accept.
func Listen(addr string, ports int, secret Secret, self func() Identity) (*Listener, error) {
	l, err := listen(addr, ports)
	if err != nil {
		return nil, err
	}
	return FromListener(l, secret, self)
}

// FromListener is Listen on a port that is open already, such as an inherited
// one. It takes l over, also when it fails.
func FromListener(l net.Listener, secret Secret, self func() Identity) (*Listener, error) {
	d, err := newDoor(l, secret, forLinks)
	if err != nil {
		return nil, err
	}
	return &Listener{door: d, self: self}, nil
}

// Addr is the address that is listened on, "127.0.0.1:4711".
func (l *Listener) Addr() string { return l.door.l.Addr().String() }

// Accept waits for a parent that proves the secret, the session and, by looking
// for our number, that it means us. Who is refused learns why, and Accept goes on
// waiting. It ends with the cause of ctx, with net.ErrClosed after Close, or when
// the port can no longer be listened on. One goroutine at a time may call it.
func (l *Listener) Accept(ctx context.Context) (Link, Identity, error) {
	for {
		g, err := l.door.next(ctx)
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

// Close ends Accept and everybody who was about to come in; links that Accept
// has given live on.
func (l *Listener) Close() error { return l.door.close() }
