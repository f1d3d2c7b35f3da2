package console

import (
	"bytes"
	"slices"
	"time"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// held are stops, ends and notes that wait for equal ones of other ranks, so that
// a person reads one line where the tree, which lets the first one through at
// once, brings two or three. They wait until no rank runs any more, something
// else is to be written that must not overtake them, or none has come for
// Config.Fold, and at most foldMost times that. Only text is folded; ndjson has the
// events as they come.
type held struct {
	groups []protocol.Group // in the order in which they came
	ranks  rank.Set
	timer  *time.Timer
	due    <-chan time.Time
	window time.Duration
	more   bool // something has come in this window
	passed int  // windows
}

// FoldWait is the default of Config.Fold: longer than the last merge of a tree
// takes (80 ms) and too short for a person to wait for.
const FoldWait = 100 * time.Millisecond

// foldStart is how many times longer the first stops of a job are held: gdbs need
// their time, and there is nothing to be done before.
const foldStart = 5

// foldMost bounds how long one that comes after the other can hold them all, in
// windows: nobody waits longer than a second for the first stop, 5 s at a start.
const foldMost = 10

// folds tells whether events of this kind are held.
func folds(k protocol.Kind) bool {
	switch k {
	case protocol.KindStopped, protocol.KindNote, protocol.KindLogged, protocol.KindJob:
		return true
	}
	return k.IsEnd()
}

// add takes a group in. It joins an equal one unless that would carry it past
// something else of the same ranks.
func (h *held) add(g protocol.Group) {
	h.ranks = h.ranks.Union(g.Ranks)
	for i := len(h.groups) - 1; i >= 0; i-- {
		if equal(h.groups[i], g) {
			h.groups[i] = joined(h.groups[i], g)
			return
		}
		if h.groups[i].Ranks.Intersects(g.Ranks) {
			break
		}
	}
	h.groups = append(h.groups, g)
}

// forget drops the ends of ranks that could not be started: why they could not is
// said, and that they are gone is no news.
func (h *held) forget(ranks rank.Set) {
	h.groups = slices.DeleteFunc(h.groups, func(g protocol.Group) bool {
		return g.Kind.IsEnd() && g.Ranks.Minus(ranks).IsEmpty()
	})
}

// arm begins a window, or notes that something has come in this one.
func (h *held) arm(window time.Duration) {
	if h.timer == nil {
		h.timer, h.window = time.NewTimer(window), window
		h.due = h.timer.C
		return
	}
	h.more = true
}

// expired tells at the end of a window whether they have been held long enough;
// otherwise another window begins.
func (h *held) expired() bool {
	if h.passed++; !h.more || h.passed == foldMost {
		return true
	}
	h.more = false
	h.timer.Reset(h.window)
	return false
}

// take gives what was held: where no rank is in two groups the biggest first,
// among equals the lowest rank, as with answers.
func (h *held) take() []protocol.Group {
	groups := h.groups
	if h.timer != nil {
		h.timer.Stop()
	}
	*h = held{}
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

func equal(a, b protocol.Group) bool {
	sameName := func(x, y column.Column) bool { return x.Name == y.Name }
	return a.Kind == b.Kind && bytes.Equal(a.Body, b.Body) && !a.Ranks.Intersects(b.Ranks) &&
		slices.EqualFunc(a.Columns, b.Columns, sameName)
}

func joined(a, b protocol.Group) protocol.Group {
	g := protocol.Group{Kind: a.Kind, Ranks: a.Ranks.Union(b.Ranks), Body: a.Body}
	for i, c := range a.Columns {
		g.Columns = append(g.Columns, c.Merge(b.Columns[i]))
	}
	return g
}
