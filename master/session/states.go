// The table of rank states.

package session

import (
	"maps"
	"slices"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// States is the table of rank states, derived from the session's events. The master and every front
// end keep one. It holds one set for each distinct status, so that it is small even for a million
// ranks in a few states. It is pure and not safe for concurrent use. The zero value has no ranks.
type States struct {
	all    rank.Set
	groups map[string]StatusGroup // by the status in canonical form
}

// NewStates makes the table of a job whose ranks are all unstarted.
func NewStates(all rank.Set) *States {
	s := &States{}
	s.set(Status{State: Unstarted}, all)
	return s
}

// Feed processes an event. It ignores events that change no state, and answers, because state
// changes in them are also reported as events. An ended rank remains ended when its server is lost
// later. Unknown ranks are added.
func (s *States) Feed(e Event) {
	if e.IsAnswer() {
		return
	}
	status, ok := statusAfter(e.Group)
	if !ok {
		return
	}
	ranks := e.Group.Ranks
	if e.Group.Kind == protocol.KindLost {
		ranks = ranks.Minus(s.Ended())
	}
	s.set(status, ranks)
}

func (s *States) set(status Status, ranks rank.Set) {
	if ranks.IsEmpty() {
		return
	}
	if s.groups == nil {
		s.groups = map[string]StatusGroup{}
	}
	s.all = s.all.Union(ranks)
	key := string(canonical.JSON(status))
	for k, g := range s.groups {
		if k == key || !g.Ranks.Intersects(ranks) {
			continue
		}
		if g.Ranks = g.Ranks.Minus(ranks); g.Ranks.IsEmpty() {
			delete(s.groups, k)
		} else {
			s.groups[k] = g
		}
	}
	s.groups[key] = StatusGroup{status, s.groups[key].Ranks.Union(ranks)}
}

// Clone returns a copy that further events do not change.
func (s *States) Clone() *States { return &States{s.all, maps.Clone(s.groups)} }

// All returns every rank of the table.
func (s *States) All() rank.Set { return s.all }

// In returns the ranks that are in one of the states.
func (s *States) In(states ...State) rank.Set {
	var in rank.Set
	for _, g := range s.groups {
		if slices.Contains(states, g.Status.State) {
			in = in.Union(g.Ranks)
		}
	}
	return in
}

// Only reports whether all ranks of the table are in one of the states.
func (s *States) Only(states ...State) bool {
	for _, g := range s.groups {
		if !slices.Contains(states, g.Status.State) {
			return false
		}
	}
	return true
}

// AtBreakpoint returns the ranks that have stopped at a breakpoint.
func (s *States) AtBreakpoint(number int) rank.Set {
	var in rank.Set
	for _, g := range s.groups {
		if g.Status.Breakpoint == number && g.Status.State == Stopped {
			in = in.Union(g.Ranks)
		}
	}
	return in
}

// Ended returns the ranks that have ended, are detached or lost.
func (s *States) Ended() rank.Set { return s.In(Exited, Signalled, Detached, Lost) }

// NoneRuns reports whether every rank of the set has stopped or ended. A resumed rank counts as
// stopped until its running event, which may follow the answer to the command.
func (s *States) NoneRuns(ranks rank.Set) bool {
	return ranks.Minus(s.In(Stopped)).Minus(s.Ended()).IsEmpty()
}

// Of returns the status of one rank; false if the table does not contain it.
func (s *States) Of(r rank.ID) (Status, bool) {
	for _, g := range s.groups {
		if g.Ranks.Contains(r) {
			return g.Status, true
		}
	}
	return Status{}, false
}

// Groups returns the statuses of the ranks of a set, sorted by lowest rank.
func (s *States) Groups(ranks rank.Set) []StatusGroup {
	var found []StatusGroup
	for _, g := range s.groups {
		if common := g.Ranks.Intersect(ranks); !common.IsEmpty() {
			found = append(found, StatusGroup{g.Status, common})
		}
	}
	slices.SortFunc(found, func(a, b StatusGroup) int {
		x, _ := a.Ranks.Min()
		y, _ := b.Ranks.Min()
		return int(x) - int(y)
	})
	return found
}

// Answer returns what the command ranks answers for the ranks of g.
func (g StatusGroup) Answer() protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: g.Ranks, Body: canonical.JSON(g.Status)}
}

// Summary returns the ranks in each state, sorted by lowest rank.
func (s *States) Summary() []StateRanks {
	var found []StateRanks
	for _, g := range s.Groups(s.all) {
		i := slices.IndexFunc(found, func(r StateRanks) bool { return r.State == g.Status.State })
		if i < 0 {
			i, found = len(found), append(found, StateRanks{State: g.Status.State})
		}
		found[i].Ranks = found[i].Ranks.Union(g.Ranks)
	}
	return found
}

// Lookup returns the ranks in the state of a name, as in @stopped and @running. It serves as
// rank.Env.Group.
func (s *States) Lookup(name string) (rank.Set, bool) {
	if !slices.Contains(stateNames, State(name)) {
		return rank.Set{}, false
	}
	return s.In(State(name)), true
}
