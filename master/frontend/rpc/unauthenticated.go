// Limits for unauthenticated connections.

package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sdm/master/peer"
)

// maxUnauthenticated bounds the number of unauthenticated connections.
const maxUnauthenticated = 64

// ownTime is how long one of them surely keeps its place. It is several round trips within a cluster,
// of which an authentication takes two, and lets 320 others in each second.
const ownTime = 200 * time.Millisecond

// unauthenticated are the unauthenticated connections. If all places are taken, a new one displaces the
// oldest of the peer that has most of them, after ownTime. So strangers, however many they are and
// whatever they have sent of a greeting, cannot keep the other side out, and one who has a few places
// keeps them.
type unauthenticated struct {
	mu   sync.Mutex
	all  []unauthenticatedConn // in the order in which they came
	free chan struct{}         // has one element when a place has become free

	refused int      // how many have left without a proof
	peers   []string // the first different ones of these, up to maxPeers
}

// maxPeers limits the number of peers that are named.
const maxPeers = 4

type unauthenticatedConn struct {
	conn  net.Conn
	peer  string // its address, on this host with the user
	since time.Time
}

func newUnauthenticated() *unauthenticated { return &unauthenticated{free: make(chan struct{}, 1)} }

// peerOf returns who is at the other end, as far as that is known without a proof.
func peerOf(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return "this host" // a Unix socket
	}
	if uid, found, err := peer.User(c); found && err == nil {
		return fmt.Sprintf("%s, user %d", host, uid)
	}
	return host
}

// enter waits for a place; false if ctx is done first.
func (s *unauthenticated) enter(ctx context.Context, c net.Conn) bool {
	came := unauthenticatedConn{c, peerOf(c), time.Now()}
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

// take takes a place, or returns how long the one that is to be displaced may keep its own.
func (s *unauthenticated) take(came unauthenticatedConn) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	came.since = time.Now() // it may have waited
	if len(s.all) >= maxUnauthenticated {
		i := s.oldest()
		if wait := ownTime - time.Since(s.all[i].since); wait > 0 {
			return wait
		}
		s.all[i].conn.Close() // this ends its handshake
		s.refuse(s.all[i])
		s.all = slices.Delete(s.all, i, i+1)
	}
	s.all = append(s.all, came)
	return 0
}

// oldest returns the oldest connection of the peer that has most.
func (s *unauthenticated) oldest() (first int) {
	count, most := map[string]int{}, 0
	for _, one := range s.all {
		count[one.peer]++
		most = max(most, count[one.peer])
	}
	return slices.IndexFunc(s.all, func(one unauthenticatedConn) bool { return count[one.peer] == most })
}

func (s *unauthenticated) refuse(c unauthenticatedConn) {
	s.refused++
	if len(s.peers) < maxPeers && !slices.Contains(s.peers, c.peer) {
		s.peers = append(s.peers, c.peer)
	}
}

// with adds to the error that nobody came how many connections have not proved the secret.
func (s *unauthenticated) with(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == 0 {
		return err
	}
	what := "connections have"
	if s.refused == 1 {
		what = "connection has"
	}
	return fmt.Errorf("%w; %d %s not proved our secret (from %s)", err, s.refused, what, strings.Join(s.peers, "; "))
}

// errReplaced is the error of a connection whose place was given to another one.
var errReplaced = errors.New("it took too long while other connections waited")

// leave returns the place of c; false if it was given to another connection, and c closed. proved says
// whether c has proved the secret.
func (s *unauthenticated) leave(c net.Conn, proved bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.all, func(other unauthenticatedConn) bool { return other.conn == c })
	if i < 0 {
		return false
	}
	if !proved {
		s.refuse(s.all[i])
	}
	s.all = slices.Delete(s.all, i, i+1)
	select {
	case s.free <- struct{}{}:
	default: // it is known already that there is a free place
	}
	return true
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
