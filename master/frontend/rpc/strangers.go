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

// maxStrangers bounds the connections that have not proved anything yet.
const maxStrangers = 16

// silence is how long one of them may hold a place that others wait for. A true
// master proves itself in two round trips.
const silence = time.Second

// strangers are those connections. When all places are taken the one that came
// first goes, after silence, so that nobody who says nothing keeps a master out.
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

// enter waits for a place; false if ctx ends first.
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

// take gives a place, or how long it takes until the first is to go.
func (s *strangers) take(came stranger) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxStrangers {
		if wait := silence - time.Since(s.all[0].since); wait > 0 {
			return wait
		}
		s.all[0].conn.Close() // its own handshake sees that
		s.all = s.all[1:]
	}
	s.all = append(s.all, came)
	return 0
}

// errShownOut tells of a connection whose place was given to another one.
var errShownOut = errors.New("it took so long that others had to be heard")

// leave gives the place of c back; false if it has been taken away, and c closed.
func (s *strangers) leave(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.all {
		if other.conn == c {
			s.all = append(s.all[:i:i], s.all[i+1:]...)
			select {
			case s.free <- struct{}{}:
			default: // somebody has been told already
			}
			return true
		}
	}
	return false
}

// maxRefusals is how many refused connections are told to the person, who also reads
// other things: a stranger may come a thousand times.
const maxRefusals = 8

// refusals counts those that were told.
type refusals struct{ told atomic.Int32 }

// tell tells of those that have said something wrong. The others, who only held a
// place, may be very many.
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
