// Package dial connects a master to a front end that listens.
package dial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// Tries is the maximal number of attempts to connect to the front end.
const Tries = 10

// DefaultWait is the time limit of all attempts together: an IDE may still be opening its port
// while the starter starts the master.
const DefaultWait = 30 * time.Second

// Unreached is the error of an attempt without a peer: no process listens, or the listener closes
// the connection at once, as the near end of a tunnel does.
type Unreached struct{ Err error }

func (e *Unreached) Error() string { return e.Err.Error() }
func (e *Unreached) Unwrap() error { return e.Err }

// FrontEnd dials "HOST:PORT" or "unix:PATH": at most Tries attempts with growing pauses within
// wait. It calls welcome with each connection. An error of welcome ends the attempts, unless it is
// an Unreached; with any error the connection is closed. The error names the address and the
// reason.
func FrontEnd[T any](ctx context.Context, addr string, wait time.Duration, log *slog.Logger,
	welcome func(context.Context, net.Conn) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	began := time.Now()
	var none T
	var last error
	tries := 0
	for try := range Tries {
		tries = try + 1
		conn, err := once(ctx, addr, welcome)
		if err == nil {
			return conn, nil
		}
		var unreached *Unreached
		if !errors.As(err, &unreached) {
			return none, name(addr, err)
		}
		if last == nil || ctx.Err() == nil { // an earlier error says more than a timeout
			last = unreached.Err
		}
		log.Debug("front end not reached", "addr", addr, "try", tries, "err", last)
		if try == Tries-1 || !pause(ctx, wait, try) {
			break
		}
	}
	return none, name(addr, fmt.Errorf("%w (%s in %v)", last, counted(tries), time.Since(began).Round(100*time.Millisecond)))
}

// Once dials "HOST:PORT" or "unix:PATH" once, within wait: for a front end that listens before it starts
// the master, so that a refusal is for good.
func Once(ctx context.Context, addr string, wait time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := once(ctx, addr, func(_ context.Context, c net.Conn) (net.Conn, error) { return c, nil })
	if err != nil {
		return nil, name(addr, err)
	}
	return conn, nil
}

func once[T any](ctx context.Context, addr string, welcome func(context.Context, net.Conn) (T, error)) (T, error) {
	var none T
	network, address := Split(addr)
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return none, &Unreached{err}
	}
	KeepAlive(c)
	conn, err := welcome(ctx, c)
	if err != nil {
		c.Close()
	}
	return conn, err
}

func counted(tries int) string {
	if tries == 1 {
		return "1 try"
	}
	return strconv.Itoa(tries) + " tries"
}

func name(addr string, err error) error { return fmt.Errorf("front end at %s: %w", addr, err) }

// pause waits between two attempts: wait/700 first, then twice as long each time, which is 73 % of
// the wait for all nine pauses. It reports whether there is time for another attempt.
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

// Split returns network and address of "HOST:PORT" or "unix:PATH".
func Split(addr string) (network, address string) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", path
	}
	return "tcp", addr
}

// KeepAlive makes a TCP connection fail within 30 s after its peer has vanished without closing it,
// as a closed laptop does.
func KeepAlive(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{ // the system's default is two hours
			Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4,
		})
	}
}
