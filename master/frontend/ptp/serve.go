// Package ptp connects a session to Eclipse PTP, by the protocol of the original SDM (package
// protocol/ptp).
package ptp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/ptp"
)

// ErrGone is the error of Serve when the connection has ended without QUIT.
var ErrGone = errors.New("the front end is gone")

// Open builds the session. The error may be a *session.NotReady.
type Open func(ctx context.Context) (session.Session, session.Report, error)

// Serve serves a session to the front end of a connection, until QUIT (nil), the front end has gone
// (ErrGone), or ctx is done. It builds the session at once, without a request. If the session cannot
// be built, the front end is told so in the answer to START SESSION, and the connection stays until
// QUIT: Eclipse waits for commands without limit if the connection ends earlier. Serve then returns
// the error of open. It closes the connection; the caller closes the session.
//
// Goroutines: Serve itself processes commands and events, in order; one reads, one writes, one
// opens the session, and each action (action.go) has one. All have ended when Serve returns.
func Serve(ctx context.Context, conn io.ReadWriteCloser, open Open, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := newFront(log)
	in := make(chan command)
	broken := make(chan error, 2) // of the reader and the writer
	var wg sync.WaitGroup
	wg.Go(func() { broken <- read(ctx, conn, in) })
	wg.Go(func() { broken <- f.out.write(conn) })
	wg.Go(func() { f.open(ctx, open) })
	off := context.AfterFunc(ctx, func() { conn.Close() })
	defer off()
	err := f.loop(ctx, in, broken)
	cancel() // closes the connection, which ends reader and writer
	f.actions.Wait()
	f.out.end()
	wg.Wait()
	return err
}

// maxActions bounds how many commands may be in progress; beyond it, no more are read.
const maxActions = 1000

// loop is the loop of a front end.
func (f *front) loop(ctx context.Context, in <-chan command, broken <-chan error) error {
	opened := f.opened
	var events <-chan session.Event
	for {
		commands, stream := in, events
		if f.unfinished() >= maxActions {
			commands = nil
		}
		if f.out.isFull() {
			stream = nil
		}
		select {
		case c := <-commands:
			if f.commandGuarded(ctx, c) {
				f.out.flush(broken) // sends earlier events
				return f.failure()
			}
		case <-opened:
			if opened = nil; f.failed == nil {
				events = f.sess.Events()
			}
		case e, ok := <-stream:
			if !ok {
				return errors.New("the session has ended")
			}
			f.guard("", func() { f.event(ctx, e) })
		case <-f.held.due:
			f.guard("", func() { f.reportStops(ctx) })
		case <-f.out.room:
		case <-f.settled:
		case err := <-broken:
			return fmt.Errorf("%w: %w", ErrGone, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// failure returns why there is no session; nil if there is one, or if it is not known yet.
func (f *front) failure() error {
	select {
	case <-f.opened:
		return f.failed
	default:
		return nil
	}
}

// commandGuarded processes a command; quit tells that it is the last one.
func (f *front) commandGuarded(ctx context.Context, c command) (quit bool) {
	if bad := f.guard("", func() { quit = f.command(ctx, c) }); bad != nil {
		f.reject(c, ptp.Unknown, bad.Error())
	}
	return quit
}

// read reads packets until the connection ends, or the framing is invalid.
func read(ctx context.Context, r io.Reader, out chan<- command) error {
	buffered := bufio.NewReader(r)
	var d ptp.Decoder
	for {
		var head [ptp.LengthSize]byte
		if _, err := io.ReadFull(buffered, head[:]); err != nil {
			return err
		}
		n, err := ptp.BodyLength(head)
		if err != nil {
			return err
		}
		body, err := readBody(buffered, n)
		if err != nil {
			return err
		}
		p, err := d.Decode(body)
		select {
		case out <- command{p, err}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readBody allocates memory as bytes arrive, not as announced.
func readBody(r io.Reader, n int) ([]byte, error) {
	const first = 64 << 10
	body := make([]byte, min(n, first))
	_, err := io.ReadFull(r, body)
	for err == nil && len(body) < n {
		more := make([]byte, min(n-len(body), len(body)))
		_, err = io.ReadFull(r, more)
		body = append(body, more...)
	}
	return body, err
}

// open builds the session in a goroutine: the end of the connection must be noticed meanwhile.
func (f *front) open(ctx context.Context, open Open) {
	defer close(f.opened)
	sess, report, err := open(ctx)
	var absent *session.NotReady
	if errors.As(err, &absent) {
		report = absent.Report
	}
	f.sess, f.failed, f.all = sess, err, report.Ranks
	f.states = session.NewStates(f.all)
	if last, some := f.all.Max(); some {
		f.out.size(int(last) + 1)
	}
}

// event processes an event of the session.
func (f *front) event(ctx context.Context, e session.Event) {
	if e.IsAnswer() {
		f.answer(e)
		return
	}
	g := e.Group
	if g.Kind.IsEnd() {
		g.Ranks = g.Ranks.Minus(f.ended()) // their end has been reported
	}
	f.feed(e)
	switch {
	case g.Ranks.IsEmpty():
	case g.Kind.IsOutput():
		f.out.send(ptp.EventOutput, g.Ranks, ptp.Latin1(string(g.Body)))
	case g.Kind == protocol.KindStopped:
		f.stopped(ctx, g)
	case g.Kind.IsEnd():
		f.rankEnded(ctx, g)
	case g.Kind == protocol.KindNote:
		f.log.Info("note", "ranks", g.Ranks.String(), "text", string(g.Body))
	}
}
