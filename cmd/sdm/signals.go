// Signals and --timeout: how an invocation ends early.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
)

// errTimeout ends an invocation when --timeout is over.
var errTimeout = errors.New("the time is over")

// killed ends an invocation because of a signal.
type killed struct{ sig syscall.Signal }

func (k killed) Error() string { return "ended by " + unix.SignalName(k.sig) }

// lifetime is the context of an invocation, and what Ctrl-C means to the console.
//
//	SIGINT           interrupts the console while it runs; else ends the invocation
//	SIGTERM, SIGHUP  end the invocation
//	SIGPIPE          is ignored: the failed Write reports it
type lifetime struct {
	ctx        context.Context
	end        context.CancelCauseFunc
	interrupts chan struct{} // capacity 1: several are one
	console    chan bool     // tells whether the console runs
	stop       func()
}

// newLifetime handles signals until stop is called. Its goroutine ends then.
func newLifetime(timeout time.Duration) *lifetime {
	ctx, release := deadline(timeout)
	ctx, cancel := context.WithCancelCause(ctx)
	l := &lifetime{ctx: ctx, end: cancel, interrupts: make(chan struct{}, 1), console: make(chan bool)}
	signals := make(chan os.Signal, 4)
	startup.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	done, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		l.listen(signals, quit, cancel)
	}()
	l.stop = func() {
		signal.Stop(signals)
		close(quit)
		<-done
		release()
		cancel(nil)
	}
	return l
}

// deadline returns a context that ends with --timeout, for what is read before a lifetime begins: until then signals
// end the process.
func deadline(timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeoutCause(context.Background(), timeout, fmt.Errorf("%w (--timeout %v)", errTimeout, timeout))
}

// listen handles signals until quit is closed.
func (l *lifetime) listen(signals <-chan os.Signal, quit <-chan struct{}, cancel context.CancelCauseFunc) {
	toConsole := false
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGPIPE {
				continue
			}
			if s == syscall.SIGINT && toConsole {
				select {
				case l.interrupts <- struct{}{}:
				default:
				}
				continue
			}
			cancel(killed{s.(syscall.Signal)})
		case toConsole = <-l.console:
		case <-quit:
			return
		}
	}
}

// statusOf returns the exit status for an error that has ended the invocation; other if the cause
// is not one of the known ones.
func statusOf(err error, other console.Status) console.Status {
	var k killed
	switch {
	case errors.Is(err, errPipe):
		return statusPipe
	case errors.Is(err, errTimeout):
		return console.StatusTimeout
	case errors.As(err, &k):
		return console.Status(128 + int(k.sig))
	}
	return other
}
