// Groups of ranks as threads.

package dap

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol/rank"
)

// maxThreads bounds the list of threads: editors show no more with use, and some ask each for its stack. The last one
// counts the rest.
const maxThreads = 64

// place is what the ranks of a group have in common.
type place struct {
	state       session.State // Running or Stopped
	fn, where   string
	beyondFirst bool   // the groups that are not listed
	callers     string // of a group of a hang file
}

// group is a group of ranks: a thread of DAP. Its number is never given to another one.
type group struct {
	id     int
	place  place
	ranks  rank.Set
	status session.Status // of most of its ranks
	weight int            // those of most weight are listed
}

// groups is the table of groups. It is pure.
type groups struct {
	last   int // number
	all    map[place]*group
	listed []*group
	told   map[int]bool // numbers of the groups of which the client knows
}

// update derives the groups from the states of ranks. Groups of the ranks in first are listed in any case.
func (t *groups) update(states *session.States, first rank.Set) {
	now := map[place]*group{}
	for _, s := range states.Groups(states.All()) {
		at := place{state: s.Status.State, fn: s.Status.Func, where: s.Status.Where}
		switch s.Status.State {
		case session.Running, session.Watched:
			at = place{state: session.Running}
		case session.Stopped:
		default:
			continue
		}
		g := now[at]
		if g == nil {
			g = &group{place: at, status: s.Status}
			if old := t.all[at]; old != nil {
				g.id = old.id
			}
			now[at] = g
		}
		if g.ranks.Len() < s.Ranks.Len() {
			g.status = s.Status
		}
		g.ranks = g.ranks.Union(s.Ranks)
	}
	rest := t.all[place{beyondFirst: true}]
	t.all, t.listed = now, nil
	for _, g := range now {
		t.listed = append(t.listed, g)
	}
	slices.SortFunc(t.listed, byRank)
	for _, g := range t.listed {
		t.number(g)
	}
	if len(t.listed) > maxThreads {
		t.cut(rest, first)
	}
}

// number gives a group its number, if it is new.
func (t *groups) number(g *group) {
	if g.id == 0 {
		t.last++
		g.id = t.last
	}
}

// cut shortens the list. Those that run, those of first, and the greatest stay.
func (t *groups) cut(rest *group, first rank.Set) {
	for _, g := range t.listed {
		switch {
		case g.place.state == session.Running:
			g.weight = int(rank.MaxID) + 2
		case g.ranks.Intersects(first):
			g.weight = int(rank.MaxID) + 1
		default:
			g.weight = g.ranks.Len()
		}
	}
	slices.SortStableFunc(t.listed, func(g, h *group) int { return cmp.Compare(h.weight, g.weight) })
	if rest == nil {
		rest = &group{}
	}
	hidden := &group{id: rest.id, place: place{state: session.Stopped, beyondFirst: true}}
	for _, g := range t.listed[maxThreads-1:] {
		hidden.ranks = hidden.ranks.Union(g.ranks)
	}
	n := len(t.listed) - maxThreads + 1
	hidden.place.fn = fmt.Sprintf("%s more", text.Plural(n, "group"))
	t.number(hidden)
	t.all[place{beyondFirst: true}] = hidden
	t.listed = t.listed[:maxThreads-1]
	slices.SortFunc(t.listed, byRank)
	t.listed = append(t.listed, hidden)
}

func byRank(g, h *group) int {
	x, _ := g.ranks.Min()
	y, _ := h.ranks.Min()
	return cmp.Compare(x, y)
}

// news returns which of the listed groups the client does not know yet, and which of those that it knows are gone.
func (t *groups) news() (came, gone []int) {
	now := map[int]bool{}
	for _, g := range t.listed {
		now[g.id] = true
		if !t.told[g.id] {
			came = append(came, g.id)
		}
	}
	for id := range t.told {
		if !now[id] {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	t.told = now
	return came, gone
}

// find returns a group by its number.
func (t *groups) find(id int) (*group, error) {
	for _, g := range t.all {
		if g.id == id {
			return g, nil
		}
	}
	if id > 0 && id <= t.last {
		return nil, fmt.Errorf("thread %d is no more: its ranks have gone on", id)
	}
	return nil, fmt.Errorf("there is no thread %d", id)
}

// running returns the group of the ranks that run; nil: none does.
func (t *groups) running() *group { return t.all[place{state: session.Running}] }

// name is the name of a thread: "[0-511,513] (513) solve work.c:31".
func (g *group) name() string {
	head := "[" + text.Ranks(g.ranks) + "]"
	if n := g.ranks.Len(); n > 1 {
		head += fmt.Sprintf(" (%d)", n)
	}
	where := g.place.where
	if filepath.IsAbs(where) { // as build systems compile; editors show little of a long name
		where = filepath.Base(where)
	}
	for _, word := range []string{g.place.fn, where} {
		if word != "" {
			head += " " + text.Clean(word)
		}
	}
	if g.place.state == session.Running {
		head += " running"
	}
	return head
}
