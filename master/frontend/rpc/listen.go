package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"sdm/master/dial"
)

// Listener is a door at which one side awaits the other: a front end its master
// (Accept), or a master its front end (AcceptFrontEnd). Who listens does not change
// who proves what, and that the master is the server of TLS.
type Listener struct {
	l net.Listener
	o Options
}

// Listen opens a door at "HOST:PORT" (port 0 picks one, see Addr; no host is this
// host alone) or "unix:PATH".
func Listen(addr string, o Options) (*Listener, error) {
	network, address := dial.Split(addr)
	if network == "tcp" {
		if err := o.needSecret(); err != nil {
			return nil, err
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("%w (write HOST:PORT, or unix:PATH)", err)
		}
		if host == "" {
			address = net.JoinHostPort("127.0.0.1", port)
		}
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		if err := os.Chmod(address, 0o600); err != nil {
			l.Close()
			return nil, err
		}
	}
	return &Listener{l, o.withDefaults()}, nil
}

// Addr is where the master must dial.
func (l *Listener) Addr() net.Addr { return l.l.Addr() }

// Close stops listening; a client that was accepted lives on.
func (l *Listener) Close() error { return l.l.Close() }

// Accept awaits one master that proves the secret and then closes the door.
// Strangers are logged and cost at most 16 connections for 10 s each; when more
// come, those that came first have to go after 1 s. All that was begun has ended
// when it returns.
func (l *Listener) Accept(ctx context.Context) (*Client, error) {
	c, err := l.accept(ctx, l.o.greet)
	if err != nil {
		return nil, fmt.Errorf("no master came: %w", err)
	}
	return newClient(c, l.o), nil
}

// AcceptFrontEnd is Accept for a master: it awaits one front end, within the
// options' wait.
func (l *Listener) AcceptFrontEnd(ctx context.Context) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Wait)
	defer cancel()
	c, err := l.accept(ctx, func(ctx context.Context, c net.Conn) (*Conn, error) {
		dial.KeepAlive(c)
		return l.o.welcome(ctx, c)
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("nobody in %v", l.o.Wait)
	}
	if err != nil {
		return nil, fmt.Errorf("no front end came to %s: %w", l.Addr(), err)
	}
	return c, nil
}

// accept awaits one connection that greet is content with.
func (l *Listener) accept(ctx context.Context, greet greeter) (*Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.l.Close() })
	defer stop()
	defer l.l.Close()
	found := make(chan *Conn, 1)
	var wg sync.WaitGroup
	err := l.acceptAll(ctx, &wg, greet, func(c *Conn) {
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
		return nil, err
	}
}

// greeter is one side's part on a fresh connection.
type greeter func(context.Context, net.Conn) (*Conn, error)

// acceptAll greets whoever comes, a bounded number at a time, until the door is
// closed.
func (l *Listener) acceptAll(ctx context.Context, wg *sync.WaitGroup, greet greeter, proved func(*Conn)) error {
	places := newStrangers()
	var told refusals
	for {
		c, err := l.l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return err
		}
		if !places.enter(ctx, c) {
			c.Close()
			return ctx.Err()
		}
		wg.Go(func() {
			conn, err := greet(ctx, c)
			if !places.leave(c) {
				err = errShownOut
			}
			if err != nil {
				c.Close()
				if ctx.Err() == nil { // else the door was closed on it
					told.tell(l.o.Log, c, err)
				}
				return
			}
			proved(conn)
		})
	}
}

// greet is the front end's part on a fresh connection: TLS over TCP, then the proofs.
func (o Options) greet(ctx context.Context, c net.Conn) (*Conn, error) {
	if u, ok := c.(*net.UnixConn); ok {
		if err := checkPeer(u); err != nil {
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
	conn := newConn(c, c.RemoteAddr().String(), maxStranger)
	if _, err := introduce(conn, o.Secret, bound); err != nil {
		return nil, overtime(ctx, err)
	}
	conn.max = maxAnswer
	return conn, nil
}
