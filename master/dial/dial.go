// Package dial provides a master's way to a front end that listens.
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

// Tries is how often a master tries to reach its front end.
const Tries = 10

// DefaultWait is how long a master tries to reach its front end: an IDE may still be
// opening its port while the starter starts the master.
const DefaultWait = 30 * time.Second

// Unreached is the error of a try that met nobody: nothing listens, or what listens
// hangs up at once, as the near end of a tunnel does.
type Unreached struct{ Err error }

func (e *Unreached) Error() string { return e.Err.Error() }
func (e *Unreached) Unwrap() error { return e.Err }

// FrontEnd dials "HOST:PORT" or "unix:PATH": ten tries with growing pauses within wait.
// What a try has met is given to welcome, whose error ends the tries, unless it is
// Unreached; then welcome has not kept the connection. The error names the address and
// the reason.
func FrontEnd[T any](ctx context.Context, addr string, wait time.Duration, log *slog.Logger, welcome func(context.Context, net.Conn) (T, error)) (T, error) {
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
		if last == nil || ctx.Err() == nil { // that time is over says less than what was met before
			last = unreached.Err
		}
		log.Debug("front end not reached", "addr", addr, "try", tries, "err", last)
		if try == Tries-1 || !pause(ctx, wait, try) {
			break
		}
	}
	return none, name(addr, fmt.Errorf("%w (%s in %v)", last, counted(tries), time.Since(began).Round(100*time.Millisecond)))
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

// Split gives network and address of "HOST:PORT" or "unix:PATH".
func Split(addr string) (network, address string) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", path
	}
	return "tcp", addr
}

// KeepAlive finds a front end or master that vanished without a word, as a
// laptop that was closed does, within 30 s.
func KeepAlive(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{ // without it the system's own two hours count
			Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4,
		})
	}
}
