// Authentication at a listening port.

package overlay

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// Limits for connections that are not authenticated.
const (
	maxHandshakes = 16
	handshakeTime = 5 * time.Second
	// silence is how long a connection that has not sent its token may keep a place
	// that others wait for. It is many round trips within a cluster, because a real
	// peer sends its token at once, and it allows 320 others per second to be
	// closed.
	silentTime = 50 * time.Millisecond
	// tokenTime is the same limit for a connection that has sent a valid token but
	// does not finish its handshake. A peer on a busy machine needs some time, and
	// connects again if it is closed.
	tokenTime = 2 * time.Second
)

// peer is a peer that has proved the secret and sent its Hello.
type peer struct {
	link  *stream
	hello hello
}

// acceptor is a listening port that authenticates peers. Other connections are sent no
// byte. They occupy one of maxHandshakes places for at most handshakeTime. When all
// places are taken, the connection that has been silent longest is closed, after
// silentTime, or after tokenTime if it has sent a valid token.
//
// Goroutines: accept, until close; one for each place (handshake, Hello, then until
// next takes the peer, for handshakeTime at most). close ends them all and waits
// for them.
type acceptor struct {
	l   net.Listener
	own *credentials

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	peers  chan peer
	dead   chan struct{} // closed by accept when it fails; err says why
	err    error

	mu     sync.Mutex
	places []*place // oldest first
	free   chan struct{}
}

// place is one connection that has not proved the secret yet.
type place struct {
	conn  net.Conn
	since time.Time
	known bool // has sent a valid token
}

func newAcceptor(l net.Listener, s Secret, p purpose) (*acceptor, error) {
	own, err := newCredentials(s, p)
	if err != nil {
		l.Close()
		return nil, err
	}
	a := &acceptor{l: l, own: own, peers: make(chan peer), dead: make(chan struct{}), free: make(chan struct{}, 1)}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.group.Go(a.accept)
	return a, nil
}

// next waits for an authenticated peer.
func (a *acceptor) next(ctx context.Context) (peer, error) {
	select {
	case p := <-a.peers:
		return p, nil
	case <-ctx.Done():
		return peer{}, context.Cause(ctx)
	case <-a.ctx.Done():
		return peer{}, net.ErrClosed
	case <-a.dead:
		return peer{}, a.err
	}
}

// close closes the listener and all connections that next has not returned.
func (a *acceptor) close() error {
	a.cancel()
	err := a.l.Close()
	a.group.Wait()
	return err
}

func (a *acceptor) accept() {
	pause := time.Duration(0)
	for {
		conn, err := a.l.Accept()
		switch {
		case err == nil:
			pause = 0
			a.admit(conn)
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			pause = min(max(2*pause, firstPause), lastPause)
			if !sleep(a.ctx, pause) {
				return
			}
		default:
			if a.err = err; a.ctx.Err() != nil {
				a.err = net.ErrClosed
			}
			close(a.dead)
			return
		}
	}
}

// admit starts serving a connection as soon as there is a place.
func (a *acceptor) admit(conn net.Conn) {
	p := &place{conn: conn, since: time.Now()}
	for {
		wait, ok := a.take(p)
		if ok {
			break
		}
		alarm := time.NewTimer(wait)
		select {
		case <-alarm.C:
		case <-a.free:
		case <-a.ctx.Done():
			conn.Close()
			return
		}
		alarm.Stop()
	}
	a.group.Go(func() { a.serve(p) })
}

// take enters p, or returns how long to wait until a silent connection may be
// closed. It closes a connection whose time is over.
func (a *acceptor) take(p *place) (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.places) < maxHandshakes {
		a.places = append(a.places, p)
		return 0, true
	}
	wait = handshakeTime
	for i, other := range a.places {
		left := silentTime - time.Since(other.since)
		if other.known {
			left += tokenTime - silentTime
		}
		if left <= 0 {
			other.conn.Close()
			a.places = append(append(a.places[:i:i], a.places[i+1:]...), p)
			return 0, true
		}
		wait = min(wait, left)
	}
	return wait, false
}

// leave frees a place.
func (a *acceptor) leave(p *place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, other := range a.places {
		if other == p {
			a.places = append(a.places[:i:i], a.places[i+1:]...)
			select {
			case a.free <- struct{}{}:
			default: // the notification is pending already
			}
			return
		}
	}
}

// serve handles one connection from its first byte until next takes it.
func (a *acceptor) serve(p *place) {
	s := accepted(p.conn, a.own, func() {
		a.mu.Lock()
		p.known = true
		a.mu.Unlock()
	})
	h, err := a.check(s)
	a.leave(p)
	if err != nil {
		s.Close()
		return
	}
	alarm := time.NewTimer(handshakeTime) // the peer does not wait longer for a Welcome
	defer alarm.Stop()
	select {
	case a.peers <- peer{s, h}:
	case <-alarm.C:
		s.Close()
	case <-a.ctx.Done():
		s.Close()
	}
}

// check does the handshake and receives the Hello, both within handshakeTime.
func (a *acceptor) check(s *stream) (hello, error) {
	ctx, cancel := context.WithTimeout(a.ctx, handshakeTime)
	defer cancel()
	if err := s.tls.HandshakeContext(ctx); err != nil {
		return hello{}, err
	}
	stop := closeAtEnd(ctx, s)
	h, err := receiveHello(s)
	return h, stop(err)
}
