// Listening for the other side.

package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"sdm/master/dial"
	"sdm/master/peer"
)

// Listener listens for the other side: a front end for its master (Accept), or a master for its
// front end (AcceptFrontEnd). The authentication is the same in both cases, and the master is
// always the TLS server.
type Listener struct {
	l net.Listener
	o Options
}

// Listen listens at "HOST:PORT" (port 0 chooses one, see Addr; without a host at 127.0.0.1) or
// "unix:PATH", with mode 0600, or "unix:@NAME" for an abstract name (unix(7)).
func Listen(addr string, o Options) (*Listener, error) {
	if network, address := dial.Split(addr); network == "tcp" {
		if err := o.needSecret(); err != nil {
			return nil, err
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("%w (write HOST:PORT, or unix:PATH)", err)
		}
		if host == "" {
			addr = net.JoinHostPort("127.0.0.1", port)
		}
	}
	l, err := dial.Listen(addr)
	if err != nil {
		return nil, err
	}
	return &Listener{l, o.withDefaults()}, nil
}

// Addr returns the address that it listens at.
func (l *Listener) Addr() net.Addr { return l.l.Addr() }

// Close stops listening; an accepted connection remains.
func (l *Listener) Close() error { return l.l.Close() }

// Accept waits for one authenticated master and then stops listening. Unauthenticated connections
// are logged and closed after 10 s; there are at most 64 at a time, see unauthenticated. The error says
// how many there were. All goroutines have ended when it returns.
func (l *Listener) Accept(ctx context.Context) (*Client, error) {
	c, err := l.accept(ctx, context.DeadlineExceeded, l.o.greet)
	if err != nil {
		return nil, fmt.Errorf("no master came: %w", err)
	}
	return newClient(c, l.o), nil
}

// AcceptFrontEnd is Accept for a master: it waits for one front end, within the options' wait.
func (l *Listener) AcceptFrontEnd(ctx context.Context) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Wait)
	defer cancel()
	c, err := l.accept(ctx, fmt.Errorf("none in %v", l.o.Wait), func(ctx context.Context, c net.Conn) (*Conn, error) {
		dial.KeepAlive(c)
		return l.o.welcome(ctx, c)
	})
	if err != nil {
		return nil, fmt.Errorf("no front end came to %s: %w", l.Addr(), err)
	}
	return c, nil
}

// Serve greets front ends for a master and calls serve with each, until ctx is done. serve must return when its
// context is done; it is called by a goroutine for each front end, and all have ended when Serve returns. The listener
// is closed then.
func (l *Listener) Serve(ctx context.Context, serve func(context.Context, *Conn)) error {
	stop := context.AfterFunc(ctx, func() { l.l.Close() })
	defer stop()
	defer l.l.Close()
	var wg, serving sync.WaitGroup
	err := l.acceptAll(ctx, &wg, newUnauthenticated(), func(ctx context.Context, c net.Conn) (*Conn, error) {
		dial.KeepAlive(c)
		return l.o.welcome(ctx, c)
	}, func(c *Conn) {
		serving.Go(func() { serve(ctx, c) })
	})
	wg.Wait()
	serving.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// accept waits for one connection that greet accepts. late is the error if none comes before the
// deadline of ctx.
func (l *Listener) accept(ctx context.Context, late error, greet greeter) (*Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.l.Close() })
	defer stop()
	defer l.l.Close()
	found := make(chan *Conn, 1)
	var wg sync.WaitGroup
	places := newUnauthenticated()
	err := l.acceptAll(ctx, &wg, places, greet, func(c *Conn) {
		select {
		case found <- c:
			cancel() // ends acceptAll and the other handshakes
		default:
			c.Close()
		}
	})
	wg.Wait()
	select {
	case c := <-found:
		return c, nil
	default:
		if errors.Is(err, context.DeadlineExceeded) {
			err = late
		}
		return nil, places.with(err)
	}
}

// greeter is one side's part on a new connection.
type greeter func(context.Context, net.Conn) (*Conn, error)

// acceptAll greets connections, a bounded number at a time, until the listener is closed.
func (l *Listener) acceptAll(ctx context.Context, wg *sync.WaitGroup, places *unauthenticated, greet greeter,
	proved func(*Conn)) error {
	var told refusals
	for {
		c, err := l.l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return err
		}
		if ctx.Err() != nil || !places.enter(ctx, c) { // one that comes in the last moment is not counted
			c.Close()
			return ctx.Err()
		}
		wg.Go(func() {
			conn, err := greet(ctx, c)
			if !places.leave(c, err == nil) {
				err = errReplaced
			}
			if err != nil {
				c.Close()
				if ctx.Err() == nil { // otherwise the listener was closed meanwhile
					told.report(l.o.Log, c, err)
				}
				return
			}
			proved(conn)
		})
	}
}

// greet is the front end's part on a new connection: TLS over TCP, then the authentication.
func (o Options) greet(ctx context.Context, c net.Conn) (*Conn, error) {
	if u, ok := c.(*net.UnixConn); ok {
		if err := peer.OfThisUser(u); err != nil {
			return nil, err
		}
		return newConn(c, "unix:"+c.LocalAddr().String(), maxAnswer), nil
	}
	dial.KeepAlive(c)
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	stop := closeAfter(ctx, c)
	defer stop()
	bound := bindingPlain
	if !o.Plaintext {
		var err error
		if c, bound, err = joinTLS(ctx, c); err != nil {
			return nil, err
		}
	}
	conn := newConn(c, c.RemoteAddr().String(), maxUnauthenticatedBody)
	if _, err := introduce(conn, o.Secret, bound); err != nil {
		return nil, timeoutError(ctx, err)
	}
	conn.max = maxAnswer
	return conn, nil
}
