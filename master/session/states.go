package session

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// States is the table of rank states, fed with the session's events: the master
// and every front end keep the same one. It holds one set per distinct status,
// so a million ranks in a few places cost little. It is pure and not safe for
// concurrent use. The zero value knows no ranks.
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

// Feed takes in an event; what does not change a state is ignored, and so are
// answers: what they say of ranks comes as an event too. An ended rank stays
// ended when its server is lost later. Ranks that were not known are added.
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

// All gives every rank of the table.
func (s *States) All() rank.Set { return s.all }

// In gives the ranks that are in one of the states.
func (s *States) In(states ...State) rank.Set {
	var in rank.Set
	for _, g := range s.groups {
		if slices.Contains(states, g.Status.State) {
			in = in.Union(g.Ranks)
		}
	}
	return in
}

// Only tells whether all ranks of the table are in one of the states.
func (s *States) Only(states ...State) bool {
	for _, g := range s.groups {
		if !slices.Contains(states, g.Status.State) {
			return false
		}
	}
	return true
}

// AtBreakpoint gives the ranks that have stopped at a breakpoint.
func (s *States) AtBreakpoint(number int) rank.Set {
	var in rank.Set
	for _, g := range s.groups {
		if g.Status.Breakpoint == number && g.Status.State == Stopped {
			in = in.Union(g.Ranks)
		}
	}
	return in
}

// Ended gives the ranks of which nothing more is to come.
func (s *States) Ended() rank.Set { return s.In(Exited, Signalled, Detached, Lost) }

// Settled tells whether every rank of the set has stopped or ended. A rank that
// was resumed counts as stopped until its running event has come, which may be
// after the answer to the command.
func (s *States) Settled(ranks rank.Set) bool {
	return ranks.Minus(s.In(Stopped)).Minus(s.Ended()).IsEmpty()
}

// Of gives the status of one rank; false if the table does not know it.
func (s *States) Of(r rank.ID) (Status, bool) {
	for _, g := range s.groups {
		if g.Ranks.Contains(r) {
			return g.Status, true
		}
	}
	return Status{}, false
}

// Groups gives the statuses of the ranks of a set, the one with the lowest rank
// first.
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

// Lookup finds the ranks of a live set by its name in the language of rank
// sets: @stopped, @running and so on. It serves as rank.Env.Group.
func (s *States) Lookup(name string) (rank.Set, bool) {
	if !slices.Contains(stateNames, State(name)) {
		return rank.Set{}, false
	}
	return s.In(State(name)), true
}
