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
	silence = 50 * time.Millisecond
	// dawdle is the same limit for a connection that has sent a valid token and
	// does not finish its handshake. A peer on a busy machine needs some time, and
	// connects again if it is closed.
	dawdle = 2 * time.Second
)

// peer is a peer that has proved the secret and sent its Hello.
type peer struct {
	link  *stream
	hello hello
}

// acceptor is a listening port that authenticates peers. Other connections are sent no
// byte. They occupy one of maxHandshakes places for at most handshakeTime. When all
// places are taken, the connection that has been silent longest is closed, after
// silence, or after dawdle if it has sent a valid token.
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
	d := &acceptor{l: l, own: own, peers: make(chan peer), dead: make(chan struct{}), free: make(chan struct{}, 1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.group.Go(d.accept)
	return d, nil
}

// next waits for an authenticated peer.
func (d *acceptor) next(ctx context.Context) (peer, error) {
	select {
	case g := <-d.peers:
		return g, nil
	case <-ctx.Done():
		return peer{}, context.Cause(ctx)
	case <-d.ctx.Done():
		return peer{}, net.ErrClosed
	case <-d.dead:
		return peer{}, d.err
	}
}

// close closes the listener and all connections that next has not returned.
func (d *acceptor) close() error {
	d.cancel()
	err := d.l.Close()
	d.group.Wait()
	return err
}

func (d *acceptor) accept() {
	pause := time.Duration(0)
	for {
		conn, err := d.l.Accept()
		switch {
		case err == nil:
			pause = 0
			d.admit(conn)
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			pause = min(max(2*pause, firstPause), lastPause)
			if !rest(d.ctx, pause) {
				return
			}
		default:
			if d.err = err; d.ctx.Err() != nil {
				d.err = net.ErrClosed
			}
			close(d.dead)
			return
		}
	}
}

// admit starts serving a connection as soon as there is a place.
func (d *acceptor) admit(conn net.Conn) {
	p := &place{conn: conn, since: time.Now()}
	for {
		wait, ok := d.take(p)
		if ok {
			break
		}
		alarm := time.NewTimer(wait)
		select {
		case <-alarm.C:
		case <-d.free:
		case <-d.ctx.Done():
			conn.Close()
			return
		}
		alarm.Stop()
	}
	d.group.Go(func() { d.serve(p) })
}

// take enters p, or returns how long to wait until a silent connection may be
// closed. It closes a connection whose time is over.
func (d *acceptor) take(p *place) (wait time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.places) < maxHandshakes {
		d.places = append(d.places, p)
		return 0, true
	}
	wait = handshakeTime
	for i, other := range d.places {
		left := silence - time.Since(other.since)
		if other.known {
			left += dawdle - silence
		}
		if left <= 0 {
			other.conn.Close()
			d.places = append(append(d.places[:i:i], d.places[i+1:]...), p)
			return 0, true
		}
		wait = min(wait, left)
	}
	return wait, false
}

// leave frees a place.
func (d *acceptor) leave(p *place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, other := range d.places {
		if other == p {
			d.places = append(d.places[:i:i], d.places[i+1:]...)
			select {
			case d.free <- struct{}{}:
			default: // the notification is pending already
			}
			return
		}
	}
}

// serve handles one connection from its first byte until next takes it.
func (d *acceptor) serve(p *place) {
	s := accepted(p.conn, d.own, func() {
		d.mu.Lock()
		p.known = true
		d.mu.Unlock()
	})
	h, err := d.check(s)
	d.leave(p)
	if err != nil {
		s.Close()
		return
	}
	alarm := time.NewTimer(handshakeTime) // the peer does not wait longer for a Welcome
	defer alarm.Stop()
	select {
	case d.peers <- peer{s, h}:
	case <-alarm.C:
		s.Close()
	case <-d.ctx.Done():
		s.Close()
	}
}

// check does the handshake and receives the Hello, both within handshakeTime.
func (d *acceptor) check(s *stream) (hello, error) {
	ctx, cancel := context.WithTimeout(d.ctx, handshakeTime)
	defer cancel()
	if err := s.tls.HandshakeContext(ctx); err != nil {
		return hello{}, err
	}
	stop := closeAtEnd(ctx, s)
	h, err := receiveHello(s)
	return h, stop(err)
}
