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

// maxStrangers bounds the number of unauthenticated connections.
const maxStrangers = 16

// silence is how long one of them may keep a place that others wait for. The authentication of a
// master takes two round trips.
const silence = time.Second

// strangers are the unauthenticated connections. If all places are taken, the oldest connection is
// closed after silence, so that silent peers cannot block a master.
type strangers struct {
	mu   sync.Mutex
	all  []stranger    // in the order in which they came
	free chan struct{} // has one element when a place has become free
}

type stranger struct {
	conn  net.Conn
	since time.Time
}

func newStrangers() *strangers { return &strangers{free: make(chan struct{}, 1)} }

// enter waits for a place; false if ctx is done first.
func (s *strangers) enter(ctx context.Context, c net.Conn) bool {
	came := stranger{c, time.Now()}
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
func (s *strangers) take(came stranger) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxStrangers {
		if wait := silence - time.Since(s.all[0].since); wait > 0 {
			return wait
		}
		s.all[0].conn.Close() // this ends its handshake
		s.all = s.all[1:]
	}
	s.all = append(s.all, came)
	return 0
}

// errShownOut is the error of a connection whose place was given to another one.
var errShownOut = errors.New("it took so long that others had to be heard")

// leave returns the place of c; false if it was given to another connection, and c closed.
func (s *strangers) leave(c net.Conn) bool {
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

// maxRefusals is how many refused connections are shown to the user: a stranger may come a thousand
// times.
const maxRefusals = 8

// refusals counts those that were shown.
type refusals struct{ told atomic.Int32 }

// tell shows connections that have sent something invalid. Those that only held a place, which may
// be many, are logged for debugging only.
func (r *refusals) tell(log *slog.Logger, c net.Conn, err error) {
	level, n := slog.LevelDebug, int32(0)
	if !errors.Is(err, errShownOut) {
		n = r.told.Add(1)
	}
	if 0 < n && n <= maxRefusals {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "refused a connection", "addr", c.RemoteAddr().String(), "err", err)
	if n == maxRefusals {
		log.Warn("further refused connections are told with --log-level debug only")
	}
}
