// Stops that wait for equal ones.

package console

import (
	"slices"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/aggregate"
)

// foldBuffer are stops, ends and notes that wait for equal ones of other ranks, to show one line:
// the tree forwards the first one at once, and the others in one or two more packets. They are
// written when no rank runs any more, before another text that must not overtake them, or when none
// has come within Config.Fold, after foldMost windows at the latest. Only text is folded; NDJSON
// has all events as they come.
type foldBuffer struct {
	groups aggregate.Pending
	ranks  rank.Set
	timer  *time.Timer
	due    <-chan time.Time
	window time.Duration
	more   bool // an event has come in this window
	passed int  // number of windows
}

// FoldWait is the default of Config.Fold: longer than the last merge in the tree takes (80 ms) and
// too short to be noticed.
const FoldWait = 100 * time.Millisecond

// foldStart is the factor for the first stops of a job: gdbs start slowly, and the user can do
// nothing before.
const foldStart = 5

// foldMost bounds the number of windows: the first stop is shown after at most one second, or 5 s
// at a start.
const foldMost = 10

// folds reports whether an event is held. One that is about no rank is equal to no other.
func folds(g protocol.Group) bool {
	if g.Ranks.IsEmpty() {
		return false
	}
	switch g.Kind {
	case protocol.KindStopped, protocol.KindWatched, protocol.KindNote, protocol.KindLogged, protocol.KindJob:
		return true
	}
	return g.Kind.IsEnd()
}

// add adds a group, which joins an equal one as in the tree.
func (h *foldBuffer) add(g protocol.Group) {
	h.ranks = h.ranks.Union(g.Ranks)
	h.groups.Add(g)
}

// forget drops the ends of ranks that could not be started, because their errors are reported.
func (h *foldBuffer) forget(ranks rank.Set) {
	for _, g := range h.groups.Take() {
		if !g.Kind.IsEnd() || !g.Ranks.Minus(ranks).IsEmpty() {
			h.groups.Add(g)
		}
	}
}

// arm begins a window, or records that an event has come in this one.
func (h *foldBuffer) arm(window time.Duration) {
	if h.timer == nil {
		h.timer, h.window = time.NewTimer(window), window
		h.due = h.timer.C
		return
	}
	h.more = true
}

// expired is called at the end of a window. It reports whether to write the events; otherwise another
// window begins.
func (h *foldBuffer) expired() bool {
	if h.passed++; !h.more || h.passed == foldMost {
		return true
	}
	h.more = false
	h.timer.Reset(h.window)
	return false
}

// take returns the held groups. If no rank is in two of them, they are sorted by descending size,
// then by lowest rank, as answers are.
func (h *foldBuffer) take() []protocol.Group {
	groups := h.groups.Take()
	if h.timer != nil {
		h.timer.Stop()
	}
	*h = foldBuffer{}
	var seen rank.Set
	for _, g := range groups {
		if seen.Intersects(g.Ranks) {
			return groups
		}
		seen = seen.Union(g.Ranks)
	}
	slices.SortStableFunc(groups, func(a, b protocol.Group) int {
		if d := b.Ranks.Len() - a.Ranks.Len(); d != 0 {
			return d
		}
		x, _ := a.Ranks.Min()
		y, _ := b.Ranks.Min()
		return int(x) - int(y)
	})
	return groups
}
