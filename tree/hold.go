// How long what ranks do unasked may be held back, so that equal things fold.

package tree

import (
	"time"

	"sdm/protocol/rank"
)

// How long things are held back, at most. Every vertex on the way may hold, and
// the last stop of many is to be at the root within 100 ms, so those below the
// root share a time. The root may hold longest: what it sends, a person reads.
const (
	holdStop   = 10 * time.Millisecond // the first time; then twice as long, and so on
	holdOutput = 20 * time.Millisecond
	holdState  = 50 * time.Millisecond // started, running: nobody waits for them
	holdBelow  = 50 * time.Millisecond // all vertices below the root together
	holdRoot   = 30 * time.Millisecond // the root, when no more stops come
	// holdLongest is what the root holds stops for while more of them keep coming.
	holdLongest = 320 * time.Millisecond
	// holdQuick is how many times stops have gone before those that come in fits and
	// starts are waited for longer than holdRoot: twice as long each time.
	holdQuick = 10
	// holdStart is what the root holds stops and changes of state for while ranks that were started have not run
	// yet: the gdbs of a node come up one after the other, and no command waits for a part of them.
	holdStart = 2 * time.Second
)

// patience is how long one vertex holds.
type patience struct {
	most    time.Duration // bounds each class
	longest time.Duration // stops, while more keep coming
	quiet   time.Duration // and no longer than that after the last
	starts  time.Duration // stops and changes of state, while ranks start
}

// patienceOf gives that of a vertex in a tree of so many vertices from the root to
// the deepest server.
func patienceOf(id NodeID, levels int) patience {
	if id == 0 {
		return patience{most: holdRoot, longest: holdLongest, quiet: holdRoot, starts: holdStart}
	}
	share := holdBelow / time.Duration(max(levels-1, 1))
	return patience{most: share, longest: share, quiet: share}
}

// bound is a time to hold back, cut to what this vertex may.
func (p patience) bound(d time.Duration) time.Duration { return min(d, p.most) }

// hold is what a class of groups has done lately. It is quiet until something
// passes; what comes within the window that then begins waits for its end.
//
//	stops:    1   2 3 4     5 6 7 8  9   …      10
//	windows:  |-10-|---20---|------40------| …  (quiet again)
//	sent:     1    2-4      5-8                 10
type hold struct {
	until  time.Duration // end of the window
	window time.Duration // its length
	waits  bool          // something of the class is in the list
	came   int           // ranks since it waits
	sent   int           // times that it has gone since quiet
	by     time.Duration // when what waits must go
}

// admit takes in a group of so many ranks and gives the time by which it must go: at
// once behind the window, else at its end, or when none has come for a while. It is
// quiet again when as much time as the window has passed behind it; who comes before
// is one of the series, though it need not wait. That while grows with the times that something has gone, so that many stops
// are few packets also where they come in fits and starts.
func (h *hold) admit(now time.Duration, ranks int, quiet, longest time.Duration) time.Duration {
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

// passed tells that what waited of the class has gone. The window that begins is
// twice as long as the one before if that was of use.
func (h *hold) passed(now, first, longest time.Duration) {
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

// calm tells that nobody is left of whom something could come: the next of the class
// are the first of others, and wait no longer than behind one that came alone.
func (h *hold) calm(now, first time.Duration) {
	if !h.waits {
		h.until, h.window, h.sent = min(h.until, now+first), min(h.window, first), 0
	}
}

// starting is those ranks that were started and have not run yet.
type starting struct {
	ranks rank.Set
	until time.Duration // how long they are waited for
}

// began takes in ranks that were started. Those for whom the time has passed are waited for no more.
func (s *starting) began(now time.Duration, ranks rank.Set, longest time.Duration) {
	if !s.waits(now) {
		s.ranks, s.until = rank.Set{}, now+longest
	}
	s.ranks = s.ranks.Union(ranks)
}

// over takes in ranks that run, or that have come to a stop or an end before they did.
func (s *starting) over(ranks rank.Set) { s.ranks = s.ranks.Minus(ranks) }

// waits tells whether more is to come.
func (s *starting) waits(now time.Duration) bool { return now < s.until && !s.ranks.IsEmpty() }

// due is when what was to go at a time must go.
func (s *starting) due(at time.Duration) time.Duration {
	if s.ranks.IsEmpty() {
		return at
	}
	return max(at, s.until)
}
