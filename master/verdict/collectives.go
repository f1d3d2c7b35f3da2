// The calls of collectives in one communicator, and who is absent from them.

package verdict

import (
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// collective is the calls in one communicator.
type collective struct {
	comm     wait.Comm
	calls    []wait.Call
	in       rank.Set // that are in one of the calls
	absent   rank.Set // members that are in none
	mismatch string   // what does not fit; "": nothing
	// loose: members that are absent may have left the call already. At least one of them has not entered it.
	loose bool
	// ofRequests: the calls wait for requests of collectives. Members that are in none of the calls may have made
	// their request.
	ofRequests bool
	// counted: a library has counted who is in the calls. Nothing about them is certain, but it is known who is absent.
	counted bool
}

// isOfRequests reports whether a call waits for a request of a collective.
func isOfRequests(c *wait.Call) bool { return c.Function == "MPI_Wait" || c.Function == "MPI_Waitall" }

// addCollectives adds the collectives, and the arcs from and to them.
func (s *solver) addCollectives() {
	perhaps := map[string]rank.Set{} // by function, ranks in it whose communicator is not known
	for _, e := range s.g.Edges() {
		s.blocked = s.blocked.Union(e.Pairs.Ranks())
		if e.Comm == "" {
			perhaps[e.Function] = perhaps[e.Function].Union(e.Pairs.Ranks())
		}
	}
	var lost rank.Set // that may have entered any call before they were lost
	for _, d := range s.g.Doings() {
		if d.State == wait.Dead || d.State == wait.Silent || d.State == wait.Unread {
			lost = lost.Union(d.Ranks)
		}
	}
	inside := map[string]rank.Set{} // by communicator, ranks that have stopped in its calls
	for _, c := range s.g.Calls() {
		if c.IsCounted() {
			s.counted = s.counted.Union(c.Ranks)
			s.unsure = s.unsure.Union(c.Ranks)
		}
		inside[c.Comm] = inside[c.Comm].Union(c.Ranks.Intersect(s.fixed))
	}
	for _, x := range collectivesOf(s.g, s.fixed) {
		var maybe rank.Set
		for _, c := range x.calls {
			x.in = x.in.Union(c.Ranks)
			x.loose = x.loose || isLoose(&c)
			maybe = maybe.Union(perhaps[c.Function])
		}
		if x.in.IsEmpty() {
			continue
		}
		members := x.comm.Members.Union(x.comm.Remote)
		x.absent = members.Minus(x.in)
		if x.counted {
			x.absent = x.absent.Minus(inside[x.comm.Key])
			x.comm.Name = s.alsoNamed(&x.comm)
			x.compare()
			s.blocked = s.blocked.Union(x.in)
			s.collectives = append(s.collectives, x)
			continue
		}
		if some := x.absent.Intersect(maybe); !some.IsEmpty() {
			x.absent = x.absent.Minus(some)
			s.unsure = s.unsure.Union(x.in)
		}
		x.loose = x.loose || members.Intersects(inside[x.comm.Key].Union(lost).Union(maybe)) || !x.comm.Remote.IsEmpty()
		// one of these may have stopped in an earlier call, which others have left
		if !x.ofRequests && !members.Intersects(s.fixed) {
			x.compare()
		}
		s.blocked = s.blocked.Union(x.in)
		s.collectives = append(s.collectives, x)
	}
	for i := range s.collectives {
		x := &s.collectives[i]
		if x.ofRequests {
			s.narrow(x)
		}
		if x.mismatch == "" && x.absent.IsEmpty() {
			continue
		}
		vertex := int32(s.size + i)
		for r := range x.in.All() {
			s.arcs = append(s.arcs, arc{int32(r), vertex, -1, false})
		}
		if x.mismatch != "" { // nothing that the others do helps
			continue
		}
		for r := range x.absent.All() {
			s.arcs = append(s.arcs, arc{vertex, int32(r), -1, false})
		}
	}
}

// alsoNamed returns the name of a communicator in which collectives were counted, with the name by which the program
// knows it: that of the only other one with the same members.
func (s *solver) alsoNamed(counted *wait.Comm) string {
	name := ""
	for _, c := range s.g.Comms() {
		if c.Key == counted.Key || c.Name == "" || !c.Remote.IsEmpty() || !c.Members.Equal(counted.Members) {
			continue
		}
		if name != "" {
			return counted.Name
		}
		name = c.Name + ", "
	}
	return name + counted.Name
}

// collectivesOf returns the calls of a graph by communicator, without the ranks that are fixed. Those that wait for
// requests are collectives of their own.
func collectivesOf(g *wait.Graph, fixed rank.Set) (all []collective) {
	for calls := g.Calls(); len(calls) > 0; {
		n := slices.IndexFunc(calls, func(c wait.Call) bool { return c.Comm != calls[0].Comm })
		if n < 0 {
			n = len(calls)
		}
		comm, _ := g.Comm(calls[0].Comm)
		x := collective{comm: comm, counted: calls[0].IsCounted()}
		requests := collective{comm: comm, ofRequests: true}
		for _, c := range calls[:n] {
			c.Ranks = c.Ranks.Minus(fixed)
			if c.Ranks.IsEmpty() {
				continue
			}
			if isOfRequests(&c) {
				requests.calls = append(requests.calls, c)
			} else {
				x.calls = append(x.calls, c)
			}
		}
		for _, x := range []collective{x, requests} {
			if len(x.calls) > 0 {
				all = append(all, x)
			}
		}
		calls = calls[n:]
	}
	return all
}

// narrow chooses for which members the ranks wait that wait for requests of a collective. Members that are elsewhere
// may have made their request. If they are in MPI, their part goes on there, so it is rather the others that are
// late. It is certain only if a single member is elsewhere.
func (s *solver) narrow(x *collective) {
	x.loose = true
	if x.absent.Len() > 1 {
		s.unsure = s.unsure.Union(x.in)
	}
	if late := x.absent.Minus(s.blocked.Minus(s.fixed)); !late.IsEmpty() {
		x.absent = late
	}
}
