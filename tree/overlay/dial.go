// Dialling a server.

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

// Time limits for one port, in the first round and at most; both are doubled from
// round to round. A port may belong to a program that accepts connections and sends
// nothing, and the next port may be the right one. A port that has proved the
// secret belongs to a server of the session, which may answer slowly on a busy
// machine. Giving it up costs it a parent, so its limit is longer.
const (
	firstProofTimeout = time.Second
	lastProofTimeout  = handshakeTime
	firstHelloTimeout = 5 * time.Second
	lastHelloTimeout  = time.Minute
)

// firstWindow is the number of closed ports that the first round tries; each round
// tries twice as many. A server takes the first free port, so ports far up are
// unlikely. Besides, the attempts must not look like a port scan while a server does
// not listen yet.
const firstWindow = 8

// absentRounds is the number of rounds for a server that has listened before, if its
// ports are closed: a program that has ended does not come back. They take 70 ms
// and try 64 ports.
const absentRounds = 4

// Dial connects to vertex want, a server. It tries the addresses, "host:port", in
// order, and at each of them the given port and up to ports-1 ports after it (0 is 1,
// at most MaxPorts). It proves the secret, verifies the other side's number and
// session, and retries until ctx ends, since a server may start late or use another
// port. The error then has the reason for each address. A final refusal ends Dial at
// once; its error matches ErrVersion, ErrEpoch or ErrRefused.
func Dial(ctx context.Context, addrs []string, ports int, secret Secret, self Identity,
	want tree.NodeID) (Link, Identity, error) {
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

// connect connects to addr; both sides prove the secret.
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

// ErrSecret is the error for a listener that does not know the secret: a server of
// another session, or another program.
var ErrSecret = errors.New("wrong secret")

// handshakeError describes a failed handshake to the user.
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
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w, or no server of ours: the other side closes without an answer", ErrSecret)
	}
	return err
}

// search tries addresses and ports in rounds until one succeeds, a refusal is
// final, or ctx ends. connect makes a link to a port that proves the secret. greet
// verifies that it leads to the right server, and closes it otherwise.
func search(ctx context.Context, addrs []string, ports int, connect connector,
	greet func(context.Context, *stream) error) (*stream, error) {
	if len(addrs) == 0 {
		return nil, errors.New("no address is known")
	}
	for _, addr := range addrs {
		if _, _, err := splitAddr(addr); err != nil {
			return nil, err
		}
	}
	pause, proofTimeout, helloTimeout, window := firstPause, firstProofTimeout, firstHelloTimeout, firstWindow
	failures := make(failures, len(addrs))
	for rounds := 1; ; rounds++ {
		for i, addr := range addrs {
			r := round{addr: addr, ports: ports, proofTimeout: proofTimeout, helloTimeout: helloTimeout, window: window,
				connect: connect, greet: greet}
			s, err := r.run(ctx)
			if err == nil || isFinal(err) {
				return s, err
			}
			if ctx.Err() == nil || failures[i] == nil { // an earlier error says more than the error of ctx
				failures[i] = err
			}
		}
		if rounds >= absentRounds && dialOptionsOf(ctx).listened && failures.areAbsence() || !sleep(ctx, pause) {
			return nil, failures
		}
		pause = min(2*pause, lastPause)
		proofTimeout, helloTimeout = min(2*proofTimeout, lastProofTimeout), min(2*helloTimeout, lastHelloTimeout)
		window = min(2*window, MaxPorts)
	}
}

// failures holds the errors of the last full round, by address.
type failures []error

func (f failures) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (f failures) Unwrap() []error { return f }

// areAbsence reports whether all ports are closed or belong to other servers.
func (f failures) areAbsence() bool {
	for _, err := range f {
		if !errors.Is(err, errClosed) && !errors.Is(err, ErrNumber) {
			return false
		}
	}
	return true
}

// errClosed is the error for a closed port.
var errClosed = errors.New("connection refused")

// isFinal reports whether an error is a refusal that retrying cannot change.
func isFinal(err error) bool {
	return errors.Is(err, ErrVersion) || errors.Is(err, ErrEpoch) || errors.Is(err, ErrRefused)
}

// round is one pass over the ports of one address.
type round struct {
	addr         string
	ports        int
	proofTimeout time.Duration // limit for one port to prove the secret
	helloTimeout time.Duration // limit for one that has proved it to answer the Hello
	window       int           // number of closed ports after which the round ends
	connect      connector
	greet        func(context.Context, *stream) error
}

// connector connects to an address; both sides prove the secret.
type connector func(ctx context.Context, addr string) (*stream, error)

// run returns the first good link, a final refusal, or the most informative error: from the last
// listening port, else from the base port.
func (r round) run(ctx context.Context) (*stream, error) {
	host, first, _ := splitAddr(r.addr) // search has checked it
	var informative, closed error
	for port := first; port <= lastPort(first, r.ports) && r.window > 0; port++ {
		addr := net.JoinHostPort(host, strconv.Itoa(port))
		s, err := r.tryPort(ctx, addr)
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
			// The host does not answer, so its other ports will not either.
			return nil, r.ended(err, informative, addr)
		default:
			informative = fmt.Errorf("%s: %w", addr, err)
		}
	}
	if informative != nil {
		return nil, informative
	}
	return nil, closed
}

// ended returns the error of a round that ended at addr because of err: an earlier
// error that says more, or err.
func (r round) ended(err, informative error, addr string) error {
	if informative != nil {
		return informative
	}
	if isNoConnection(err) {
		return err // contains the address
	}
	return fmt.Errorf("%s: %w", addr, err)
}

// tryPort connects to one port and greets the server there.
func (r round) tryPort(ctx context.Context, addr string) (*stream, error) {
	short, cancel := context.WithTimeout(ctx, r.proofTimeout)
	defer cancel()
	s, err := r.connect(short, addr)
	if err != nil {
		return nil, err
	}
	long, cancel := context.WithTimeout(ctx, r.helloTimeout)
	defer cancel()
	err = r.greet(long, s)
	if err == context.DeadlineExceeded && ctx.Err() == nil { // errors of connect say more
		err = fmt.Errorf("proves the secret and then says nothing for %v", r.helloTimeout)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// isNoConnection reports whether an error is one of connecting.
func isNoConnection(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// rest waits for d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	alarm := time.NewTimer(d)
	defer alarm.Stop()
	select {
	case <-alarm.C:
		return true
	case <-ctx.Done():
		return false
	}
}
