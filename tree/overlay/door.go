// Who may come in at a listening port.

package overlay

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// Bounds on strangers at a door.
const (
	maxHandshakes = 16
	handshakeTime = 5 * time.Second
	// silence is how long a connection that has not said the word may hold a
	// place that others wait for: many round trips within a cluster, as a true peer
	// speaks at once, and 320 strangers shown out in a second.
	silence = 50 * time.Millisecond
	// dawdle is that of a connection that has said a word and does not get on with its
	// handshake: a peer on a busy machine needs some time, and comes again.
	dawdle = 2 * time.Second
)

// guest is somebody who has proved the secret and said Hello.
type guest struct {
	link  *stream
	hello hello
}

// door is a listening port that lets in who proves the secret. A stranger learns
// nothing: no byte is sent to him. He costs one of maxHandshakes places for at
// most handshakeTime, and when places are wanted the one who has been silent
// longest goes, after silence, or after dawdle if it has said a word.
//
// Goroutines: accept, until close; one for each place (handshake, Hello, then
// until somebody takes the guest, for handshakeTime at most). close ends them all
// and waits for them.
type door struct {
	l   net.Listener
	own *credentials

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	guests chan guest
	dead   chan struct{} // closed by accept when it cannot go on; err tells why
	err    error

	mu     sync.Mutex
	places []*place // oldest first
	free   chan struct{}
}

// place is one connection that has not proved the secret yet.
type place struct {
	conn  net.Conn
	since time.Time
	known bool // has said a word
}

func newDoor(l net.Listener, s Secret, p purpose) (*door, error) {
	own, err := newCredentials(s, p)
	if err != nil {
		l.Close()
		return nil, err
	}
	d := &door{l: l, own: own, guests: make(chan guest), dead: make(chan struct{}), free: make(chan struct{}, 1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.group.Go(d.accept)
	return d, nil
}

// next waits for a guest.
func (d *door) next(ctx context.Context) (guest, error) {
	select {
	case g := <-d.guests:
		return g, nil
	case <-ctx.Done():
		return guest{}, context.Cause(ctx)
	case <-d.ctx.Done():
		return guest{}, net.ErrClosed
	case <-d.dead:
		return guest{}, d.err
	}
}

// close ends the door and everybody who still stands in it.
func (d *door) close() error {
	d.cancel()
	err := d.l.Close()
	d.group.Wait()
	return err
}

func (d *door) accept() {
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

// admit gives a connection a place, when there is one.
func (d *door) admit(conn net.Conn) {
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

// take enters p, or tells how long it takes until a silent one is to go; the one
// for which it is time goes.
func (d *door) take(p *place) (wait time.Duration, ok bool) {
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

// leave gives the place back.
func (d *door) leave(p *place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, other := range d.places {
		if other == p {
			d.places = append(d.places[:i:i], d.places[i+1:]...)
			select {
			case d.free <- struct{}{}:
			default: // somebody has been told already
			}
			return
		}
	}
}

// serve takes one connection from its first byte to the hands of next.
func (d *door) serve(p *place) {
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
	alarm := time.NewTimer(handshakeTime) // nobody waits longer for a Welcome
	defer alarm.Stop()
	select {
	case d.guests <- guest{s, h}:
	case <-alarm.C:
		s.Close()
	case <-d.ctx.Done():
		s.Close()
	}
}

// check does the handshake and hears the Hello, both within handshakeTime.
func (d *door) check(s *stream) (hello, error) {
	ctx, cancel := context.WithTimeout(d.ctx, handshakeTime)
	defer cancel()
	if err := s.tls.HandshakeContext(ctx); err != nil {
		return hello{}, err
	}
	stop := closeAtEnd(ctx, s)
	h, err := hear(s)
	return h, stop(err)
}
