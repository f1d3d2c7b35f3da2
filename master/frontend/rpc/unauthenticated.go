// Limits for unauthenticated connections.

package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxUnauthenticated bounds the number of unauthenticated connections.
const maxUnauthenticated = 16

// silentTime is how long one of them may keep a place that others wait for. The authentication of a
// master takes two round trips.
const silentTime = time.Second

// unauthenticated are the unauthenticated connections. If all places are taken, the oldest
// connection is closed after silentTime, so that silent peers cannot block a master.
type unauthenticated struct {
	mu   sync.Mutex
	all  []unauthenticatedConn // in the order in which they came
	free chan struct{}         // has one element when a place has become free
}

type unauthenticatedConn struct {
	conn  net.Conn
	since time.Time
}

func newUnauthenticated() *unauthenticated { return &unauthenticated{free: make(chan struct{}, 1)} }

// enter waits for a place; false if ctx is done first.
func (s *unauthenticated) enter(ctx context.Context, c net.Conn) bool {
	came := unauthenticatedConn{c, time.Now()}
	for {
		wait := s.take(came)
		if wait == 0 {
			return true
		}
		alarm := time.NewTimer(wait)
		select {
		case <-alarm.C:
		case <-s.free:
		case <-ctx.Done():
		}
		alarm.Stop()
		if ctx.Err() != nil {
			return false
		}
	}
}

// take takes a place, or returns how long the oldest connection may keep its own.
func (s *unauthenticated) take(came unauthenticatedConn) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxUnauthenticated {
		if wait := silentTime - time.Since(s.all[0].since); wait > 0 {
			return wait
		}
		s.all[0].conn.Close() // this ends its handshake
		s.all = s.all[1:]
	}
	s.all = append(s.all, came)
	return 0
}

// errReplaced is the error of a connection whose place was given to another one.
var errReplaced = errors.New("it took too long while other connections waited")

// leave returns the place of c; false if it was given to another connection, and c closed.
func (s *unauthenticated) leave(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.all {
		if other.conn == c {
			s.all = append(s.all[:i:i], s.all[i+1:]...)
			select {
			case s.free <- struct{}{}:
			default: // it is known already that there is a free place
			}
			return true
		}
	}
	return false
}

// maxRefusals is how many refused connections are shown to the user: an unauthenticated peer may connect a
// thousand times.
const maxRefusals = 8

// refusals counts those that were shown.
type refusals struct{ reported atomic.Int32 }

// report shows connections that have sent something invalid. Those that only held a place, which
// may be many, are logged for debugging only.
func (r *refusals) report(log *slog.Logger, c net.Conn, err error) {
	level, n := slog.LevelDebug, int32(0)
	if !errors.Is(err, errReplaced) {
		n = r.reported.Add(1)
	}
	if 0 < n && n <= maxRefusals {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "refused a connection", "addr", c.RemoteAddr().String(), "err", err)
	if n == maxRefusals {
		log.Warn("further refused connections are logged with --log-level debug only")
	}
}
