// Looking for a server.

package overlay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/tree"
)

// Back-off between two rounds over all addresses and ports.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Patience with one port in the first round and at most: a port may belong to a
// program that accepts and says nothing, and the next port may be the right one.
// One that has proved the secret belongs to a server of ours, which may be slow to
// answer on a busy machine. Giving it up costs it a parent, so it gets longer, and
// both are doubled from round to round.
const (
	firstPatience = time.Second
	lastPatience  = handshakeTime
	firstHearing  = 5 * time.Second
	lastHearing   = time.Minute
)

// firstWindow is how many ports that refuse the first round tries; each round
// tries twice as many. A server takes the first free port, so ports far up are
// unlikely, and a server that does not listen yet must not make us look like a
// port scanner.
const firstWindow = 8

// thereRounds is how many rounds are made for a server that has listened before, when
// its ports are closed: a program that has ended does not come back. They take 70 ms
// and try 64 ports.
const thereRounds = 4

// Dial finds vertex want, a server, at one of the addresses, "host:port", best
// first, or up to ports-1 ports further (0 is 1, at most MaxPorts). It proves
// the secret, makes sure of the other side's number and session, and goes on
// trying until ctx ends, since a server may come late or at another port; the
// error then tells what was wrong, per address. A refusal that waiting cannot
// heal ends it at once: errors.Is with ErrVersion, ErrEpoch, ErrRefused.
func Dial(ctx context.Context, addrs []string, ports int, secret Secret, self Identity, want tree.NodeID) (Link, Identity, error) {
	own, err := newCredentials(secret, forLinks)
	if err != nil {
		return nil, Identity{}, err
	}
	var found Identity
	link, err := search(ctx, addrs, ports, func(ctx context.Context, addr string) (*stream, error) {
		return connect(ctx, addr, own)
	}, func(ctx context.Context, s *stream) (err error) {
		found, err = Greet(ctx, s, self, want) // closes s when it fails
		return err
	})
	if err != nil {
		return nil, Identity{}, err
	}
	return link, found, nil
}

// connect proves the secret to whoever listens at addr, and has it proved.
func connect(ctx context.Context, addr string, own *credentials) (*stream, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := dialled(conn, own)
	if err := s.tls.HandshakeContext(ctx); err != nil {
		s.Close()
		return nil, handshakeError(ctx, err)
	}
	return s, nil
}

// ErrSecret tells that somebody listens who does not know the secret: a server
// of another session, or another program.
var ErrSecret = errors.New("wrong secret")

// handshakeError says what the other side's behaviour means.
func handshakeError(ctx context.Context, err error) error {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, errKey):
		return fmt.Errorf("%w: the other side proves another one", ErrSecret)
	case ctx.Err() != nil:
		return fmt.Errorf("%w, or no server of ours: the other side accepts and says nothing", ErrSecret)
	case errors.As(err, &record), errors.As(err, &alert):
		return fmt.Errorf("%w, or no server of ours: %v", ErrSecret, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w, or no server of ours: the other side closes without an answer", ErrSecret)
	}
	return err
}

// search tries addresses and ports in rounds until one is good, a refusal is
// final, or ctx ends. connect makes a link to a port that proves the secret, greet
// makes sure that it leads to the right server, and closes it otherwise.
func search(ctx context.Context, addrs []string, ports int, connect connector, greet func(context.Context, *stream) error) (*stream, error) {
	if len(addrs) == 0 {
		return nil, errors.New("no address is known")
	}
	for _, addr := range addrs {
		if _, _, err := splitAddr(addr); err != nil {
			return nil, err
		}
	}
	pause, patience, hearing, window := firstPause, firstPatience, firstHearing, firstWindow
	failures := make(failures, len(addrs))
	for rounds := 1; ; rounds++ {
		for i, addr := range addrs {
			r := round{addr: addr, ports: ports, patience: patience, hearing: hearing, window: window, connect: connect, greet: greet}
			s, err := r.run(ctx)
			if err == nil || isFinal(err) {
				return s, err
			}
			if ctx.Err() == nil || failures[i] == nil { // the end of ctx says less than an earlier round
				failures[i] = err
			}
		}
		if rounds >= thereRounds && errandOf(ctx).there && failures.areAbsence() || !rest(ctx, pause) {
			return nil, failures
		}
		pause = min(2*pause, lastPause)
		patience, hearing = min(2*patience, lastPatience), min(2*hearing, lastHearing)
		window = min(2*window, MaxPorts)
	}
}

// failures is what went wrong in the last full round, for each address.
type failures []error

func (f failures) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (f failures) Unwrap() []error { return f }

// areAbsence tells whether all ports are closed, or belong to other servers.
func (f failures) areAbsence() bool {
	for _, err := range f {
		if !errors.Is(err, errClosed) && !errors.Is(err, ErrNumber) {
			return false
		}
	}
	return true
}

// errClosed tells that nobody listens at a port.
var errClosed = errors.New("connection refused")

// isFinal tells the refusals of a peer that we looked for and that waiting
// cannot change.
func isFinal(err error) bool {
	return errors.Is(err, ErrVersion) || errors.Is(err, ErrEpoch) || errors.Is(err, ErrRefused)
}

// round is one pass over the ports of one address.
type round struct {
	addr     string
	ports    int
	patience time.Duration // for one port to prove the secret
	hearing  time.Duration // for one that has proved it to answer the greeting
	window   int           // ports that refuse before the round is over
	connect  connector
	greet    func(context.Context, *stream) error
}

// connector makes a link to an address that proves the secret.
type connector func(ctx context.Context, addr string) (*stream, error)

// run gives the first good link, a final refusal, or what tells most about the
// ports: the last thing that somebody who listens has said, else what the base
// port did.
func (r round) run(ctx context.Context) (*stream, error) {
	host, first, _ := splitAddr(r.addr) // search has looked at it
	var telling, closed error
	for port := first; port <= lastPort(first, r.ports) && r.window > 0; port++ {
		addr := net.JoinHostPort(host, strconv.Itoa(port))
		s, err := r.one(ctx, addr)
		switch {
		case err == nil:
			return s, nil
		case isFinal(err):
			return nil, fmt.Errorf("%s: %w", addr, err)
		case errors.Is(err, syscall.ECONNREFUSED):
			r.window--
			if closed == nil {
				closed = fmt.Errorf("%s: %w", addr, errClosed)
			}
		case isNoConnection(err) || ctx.Err() != nil:
			// The host does not answer: its other ports will not either.
			return nil, r.sum(err, telling, addr)
		default:
			telling = fmt.Errorf("%s: %w", addr, err)
		}
	}
	if telling != nil {
		return nil, telling
	}
	return nil, closed
}

// sum is the error of a round that was broken off at addr.
func (r round) sum(err, telling error, addr string) error {
	if telling != nil {
		return telling
	}
	if isNoConnection(err) {
		return err // has the address in it
	}
	return fmt.Errorf("%s: %w", addr, err)
}

func (r round) one(ctx context.Context, addr string) (*stream, error) {
	short, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	s, err := r.connect(short, addr)
	if err != nil {
		return nil, err
	}
	long, cancel := context.WithTimeout(ctx, r.hearing)
	defer cancel()
	err = r.greet(long, s)
	if err == context.DeadlineExceeded && ctx.Err() == nil { // connect tells more itself
		err = fmt.Errorf("proves the secret and then says nothing for %v", r.hearing)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// isNoConnection tells errors of connecting from those of a conversation.
func isNoConnection(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// rest waits for d and tells whether ctx goes on.
func rest(ctx context.Context, d time.Duration) bool {
	alarm := time.NewTimer(d)
	defer alarm.Stop()
	select {
	case <-alarm.C:
		return true
	case <-ctx.Done():
		return false
	}
}
