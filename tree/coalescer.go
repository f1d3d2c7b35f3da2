// Coalescing of events and output: how long a vertex holds them back so that equal
// ones become one group.

package tree

import (
	"time"

	"sdm/protocol/rank"
)

// Maximum hold-back times. Each vertex on the way may hold events back, and the
// last of many stops must be at the root within 100 ms, so the vertices below the
// root share a time. The root may hold them longest, because a user reads what it
// sends.
const (
	holdStop   = 10 * time.Millisecond // first window; doubled with each further one
	holdOutput = 20 * time.Millisecond
	holdState  = 50 * time.Millisecond // started, running: no user waits for them
	holdBelow  = 50 * time.Millisecond // all vertices below the root together
	holdRoot   = 30 * time.Millisecond // the root, after the last stop
	// holdLongest is the longest window of stops at the root while more of them
	// arrive.
	holdLongest = 320 * time.Millisecond
	// holdQuick is the number of windows after which the root waits longer than
	// holdRoot for further stops, twice as long with each window: stops then come
	// in bursts.
	holdQuick = 10
	// holdStart is how long the root holds stops and changes of state while ranks
	// that were started have not run yet. The gdbs of a node start one after the
	// other, and no command can go to only some of them.
	holdStart = 2 * time.Second
)

// holdLimits are the hold-back limits of one vertex.
type holdLimits struct {
	most    time.Duration // of each class
	longest time.Duration // of stops, while more arrive
	quiet   time.Duration // of stops, after the last one
	starts  time.Duration // of stops and changes of state, while ranks start
}

// holdLimitsOf returns the limits of a vertex in a tree with this number of levels,
// the root included.
func holdLimitsOf(id NodeID, levels int) holdLimits {
	if id == 0 {
		return holdLimits{most: holdRoot, longest: holdLongest, quiet: holdRoot, starts: holdStart}
	}
	share := holdBelow / time.Duration(max(levels-1, 1))
	return holdLimits{most: share, longest: share, quiet: share}
}

// bound limits a hold-back time to what this vertex may use.
func (p holdLimits) bound(d time.Duration) time.Duration { return min(d, p.most) }

// coalescer is the coalescing state of one class of groups. The first group passes at
// once and opens a window. Groups within the window wait for its end.
//
//	stops:    1   2 3 4     5 6 7 8  9   …      10
//	windows:  |-10-|---20---|------40------| …  (closed again)
//	sent:     1    2-4      5-8                 10
type coalescer struct {
	until  time.Duration // end of the window
	window time.Duration // length of the window
	waits  bool          // a group of the class is in the list
	came   int           // ranks in the waiting groups
	sent   int           // times that the class was sent in this series
	by     time.Duration // when the waiting groups must be sent
}

// admit processes a group of some ranks and returns the time by which it must be
// sent: at once after the window, else at the end of the window or when none has
// arrived for the time quiet. quiet doubles with each sending after holdQuick, so
// that many stops need few packets even if they come in bursts. A series of windows
// ends when no group has arrived for the length of a window after its end. A group
// that arrives earlier belongs to the series, even if it need not wait.
func (h *coalescer) admit(now time.Duration, ranks int, quiet, longest time.Duration) time.Duration {
	if !h.waits && now >= h.until+h.window {
		h.until, h.window, h.sent = now, 0, 0
	}
	h.waits = true
	h.came += ranks
	h.by = h.until
	for n := h.sent; n >= holdQuick && quiet < longest; n-- {
		quiet *= 2
	}
	if now+quiet > now {
		h.by = min(h.by, now+quiet)
	}
	return h.by
}

// passed records that the waiting groups were sent and opens the next window. It is
// twice as long as the last one if that one has coalesced several ranks.
func (h *coalescer) passed(now, first, longest time.Duration) {
	if !h.waits {
		return
	}
	if h.came > 1 {
		h.window = max(first, min(2*h.window, longest))
	} else {
		h.window = first
	}
	h.until, h.waits, h.came = now+h.window, false, 0
	h.sent++
}

// reset ends the series because no rank is left that could add to it. The next group
// of the class starts a new series and waits no longer than after a single group.
func (h *coalescer) reset(now, first time.Duration) {
	if !h.waits {
		h.until, h.window, h.sent = min(h.until, now+first), min(h.window, first), 0
	}
}

// starting is the set of ranks that were started and have not run yet.
type starting struct {
	ranks rank.Set
	until time.Duration // end of the wait for them
}

// began adds ranks that were started. When the wait for earlier ones is over, they
// are removed.
func (s *starting) began(now time.Duration, ranks rank.Set, longest time.Duration) {
	if !s.waits(now) {
		s.ranks, s.until = rank.Set{}, now+longest
	}
	s.ranks = s.ranks.Union(ranks)
}

// over removes ranks that run, or have stopped or ended before they ran.
func (s *starting) over(ranks rank.Set) { s.ranks = s.ranks.Minus(ranks) }

// waits reports whether ranks are still awaited.
func (s *starting) waits(now time.Duration) bool { return now < s.until && !s.ranks.IsEmpty() }

// due returns when groups that are due at a time must be sent.
func (s *starting) due(at time.Duration) time.Duration {
	if s.ranks.IsEmpty() {
		return at
	}
	return max(at, s.until)
}
