// What signals mean to a server.

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/startup"
)

// listenToSignals translates signals for the server until stop is called. Its goroutine ends then.
//
//	SIGTERM, SIGINT, SIGHUP  announce the end, in a slot by the starter: the server
//	                         tells the session and ends soon; a second one ends it
//	                         at once
//	SIGUSR1, SIGUSR2         are passed on to the rank of the slot
//	SIGPIPE                  is ignored: the starter has closed standard error
func (p *program) listenToSignals(cancel context.CancelFunc) (stop func()) {
	signals := make(chan os.Signal, 8)
	ending, forward := make(chan string, 1), make(chan syscall.Signal, 8)
	p.ending, p.cfg.Ending, p.cfg.Signals = ending, ending, forward
	// They are caught and not ignored, because ranks inherit ignored signals.
	startup.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE)
	var group sync.WaitGroup
	group.Go(func() {
		told := false
		for s := range signals {
			sig := s.(syscall.Signal)
			switch {
			case sig == syscall.SIGPIPE:
			case sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2:
				select {
				case forward <- sig:
				default: // enough signals are pending
				}
			case told:
				cancel()
			default:
				told = true
				ending <- p.whoEnds() + " (" + unix.SignalName(sig) + ")"
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(signals)
		group.Wait()
	}
}

// whoEnds tells what a terminating signal means: in the slot of a rank it is the starter's.
func (p *program) whoEnds() string {
	if p.cfg.Slot != nil {
		return "the starter is ending the job"
	}
	return "the server on " + p.o.host + " was told to end"
}

// unlessEnding waits in do for others, unless the starter ends the job: then ctx of do ends. While it
// runs, nothing else reads p.ending. The goroutine of unlessEnding ends with the call.
func (p *program) unlessEnding(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var end string
	group.Go(func() {
		select {
		case end = <-p.ending:
			cancel()
		case <-ctx.Done():
		}
	})
	err := do(ctx)
	cancel()
	group.Wait()
	switch {
	case end == "":
	case err != nil:
		err = errors.New(end)
	default:
		select {
		case p.ending <- end: // it has come just before, as the parent: what follows reports the end
		default: // another text about the end has come since
		}
	}
	return err
}
