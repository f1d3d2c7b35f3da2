// The graph of who waits for whom.

package verdict

import (
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// solver holds a directed graph of who waits for whom. Vertices from 0 to size-1 are ranks; those from size on are
// groups. A rank in a call of a group waits for the group, and the group waits for its absent members.
type solver struct {
	g       *wait.Graph
	samples int
	size    int // all ranks are lower

	doing   []int32 // of each rank, index of its row; -1: it is not in the graph
	groups  []group
	blocked rank.Set // that wait in MPI
	fixed   rank.Set // that do not wait for other ranks even if they are in a call: stopped, dead and so on
	torch   rank.Set // in calls of torch.distributed, in which only those that have not run are sure not to have gone on
	told    rank.Set // of which a finding says what they do
	unsure  rank.Set // of which it is not known whether they wait for all of their arcs

	arcs  []arc   // ascending by from, then to
	start []int32 // of each vertex, its first arc; one more at the end

	component []int32   // of each vertex, the number of its component, from 1
	members   [][]int32 // of each component, its vertices

	arrived map[rank.ID][]came // nil: not made yet, see cameFor

	back, backStart []int32 // indices of arcs, ordered by to, and the first of each vertex; nil: not made yet, see before
}

// arc says that a vertex waits for another one.
type arc struct {
	from, to int32
	edge     int32 // index of the row of the graph; -1: a call of a group
	any      bool  // the vertex waits for any of those to which it has such arcs
}

// group is the present calls in one communicator.
type group struct {
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
}

// isOfRequests reports whether a call waits for a request of a collective.
func isOfRequests(c *wait.Call) bool { return c.Function == "MPI_Wait" || c.Function == "MPI_Waitall" }

// functionText names the function of a call: "MPI_Allreduce", "MPI_Wait (collective)".
func functionText(c *wait.Call) string {
	if isOfRequests(c) {
		return c.Function + " (collective)"
	}
	return c.Function
}

// newSolver returns a solver with the arcs of calls and messages.
func newSolver(g *wait.Graph, samples int) *solver {
	s := &solver{g: g, samples: samples}
	all := g.Ranks()
	for _, c := range g.Comms() {
		all = all.Union(c.Members).Union(c.Remote)
	}
	for _, e := range g.Edges() {
		if e.Comm != "" && !isMPI(e.Function) {
			s.torch = s.torch.Union(e.Pairs.Ranks())
		}
		for _, r := range e.Pairs.Runs() {
			if last := r.Of(r.Last()); last >= 0 && last <= int(rank.MaxID) {
				all = all.Union(rank.Of(rank.ID(last)))
			}
		}
	}
	for _, c := range g.Calls() {
		if !isMPI(c.Function) {
			s.torch = s.torch.Union(c.Ranks)
		}
	}
	last, _ := all.Max()
	s.size = int(last) + 1
	s.doing = make([]int32, s.size)
	for i := range s.doing {
		s.doing[i] = -1
	}
	debugged := areDebugged(g)
	for i, d := range g.Doings() {
		for r := range d.Ranks.All() {
			s.doing[r] = int32(i)
		}
		switch d.State {
		case wait.Traced:
			if debugged { // they go on together, if they can
				s.unsure = s.unsure.Union(d.Ranks)
				break
			}
			s.fixed = s.fixed.Union(d.Ranks)
		case wait.Stopped, wait.Dead, wait.Disk:
			s.fixed = s.fixed.Union(d.Ranks)
		case wait.Silent, wait.Unread: // it may be in any call
			s.fixed, s.unsure = s.fixed.Union(d.Ranks), s.unsure.Union(d.Ranks)
		}
		if d.Calls > 0 {
			s.unsure = s.unsure.Union(d.Ranks)
		}
	}
	s.collectives()
	s.messages()
	return s
}

// areDebugged reports whether debuggers have stopped all ranks of which it is known what they do.
func areDebugged(g *wait.Graph) bool {
	return !slices.ContainsFunc(g.Doings(), func(d wait.Doing) bool {
		return d.State != wait.Traced && d.State != wait.Dead && d.State != wait.Silent
	})
}

// collectives makes the groups, and the arcs from and to them.
func (s *solver) collectives() {
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
		inside[c.Comm] = inside[c.Comm].Union(c.Ranks.Intersect(s.fixed))
	}
	for _, x := range groupsOf(s.g, s.fixed) {
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
		if some := x.absent.Intersect(maybe); !some.IsEmpty() {
			x.absent = x.absent.Minus(some)
			s.unsure = s.unsure.Union(x.in)
		}
		x.loose = x.loose || members.Intersects(inside[x.comm.Key].Union(lost).Union(maybe)) || !x.comm.Remote.IsEmpty()
		if !x.ofRequests && !members.Intersects(s.fixed) { // one of these may have stopped in an earlier call, which others have left
			x.compare()
		}
		s.blocked = s.blocked.Union(x.in)
		s.groups = append(s.groups, x)
	}
	for i := range s.groups {
		x := &s.groups[i]
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

// groupsOf returns the calls of a graph by communicator, without the ranks that are fixed. Those that wait for
// requests are groups of their own.
func groupsOf(g *wait.Graph, fixed rank.Set) (all []group) {
	for calls := g.Calls(); len(calls) > 0; {
		n := slices.IndexFunc(calls, func(c wait.Call) bool { return c.Comm != calls[0].Comm })
		if n < 0 {
			n = len(calls)
		}
		comm, _ := g.Comm(calls[0].Comm)
		x, requests := group{comm: comm}, group{comm: comm, ofRequests: true}
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
		for _, x := range []group{x, requests} {
			if len(x.calls) > 0 {
				all = append(all, x)
			}
		}
		calls = calls[n:]
	}
	return all
}

// narrow chooses for which members the ranks wait that wait for requests of a collective. Members that are elsewhere may
// have made their request. If they are in MPI, their part goes on there, so it is rather the others that are late. It is
// certain only if a single member is elsewhere.
func (s *solver) narrow(x *group) {
	x.loose = true
	if x.absent.Len() > 1 {
		s.unsure = s.unsure.Union(x.in)
	}
	if late := x.absent.Minus(s.blocked.Minus(s.fixed)); !late.IsEmpty() {
		x.absent = late
	}
}

// half is one half of a message.
type half struct {
	from, to int32
	comm     string
	send     bool
}

// anyone is the peer of a half that fits any rank.
const anyone = -1

// messages adds the arcs of messages. If both halves of a message are there, there is no arc: the message is under
// way.
func (s *solver) messages() {
	tags := map[half][]int{}
	for _, e := range s.g.Edges() {
		if e.Object != "" || !s.isAnswered(&e) {
			continue
		}
		each(&e, func(r rank.ID, peer int) {
			h := half{int32(r), int32(peer), e.Comm, e.Send}
			tags[h] = append(tags[h], e.Tag)
		})
		for _, run := range e.Pairs.Runs() {
			for r := run.First; run.Peer == wait.Any && r <= run.Last(); r++ {
				h := half{int32(r), anyone, e.Comm, e.Send}
				tags[h] = append(tags[h], e.Tag)
			}
		}
	}
	for i := range s.g.Edges() {
		e := &s.g.Edges()[i]
		if e.Need == wait.Perhaps || e.Need == wait.Target {
			s.unsure = s.unsure.Union(e.Pairs.Ranks())
		}
		if e.Need == wait.One {
			continue
		}
		each(e, func(r rank.ID, peer int) {
			fits := func(tag int) bool { return tag == e.Tag || tag < 0 || e.Tag < 0 }
			met := e.Object == "" && (slices.ContainsFunc(tags[half{int32(peer), int32(r), e.Comm, !e.Send}], fits) ||
				slices.ContainsFunc(tags[half{int32(peer), anyone, e.Comm, !e.Send}], fits))
			if !met && !s.fixed.Contains(r) {
				s.arcs = append(s.arcs, arc{int32(r), int32(peer), int32(i), false})
			}
		})
	}
	s.index()
}

// index sorts the arcs and finds the first one of each vertex.
func (s *solver) index() {
	slices.SortFunc(s.arcs, func(a, b arc) int {
		switch {
		case a.from != b.from:
			return int(a.from - b.from)
		case a.to != b.to:
			return int(a.to - b.to)
		}
		return int(a.edge - b.edge)
	})
	s.backStart = nil
	s.start = make([]int32, s.size+len(s.groups)+1)
	for _, a := range s.arcs {
		s.start[a.from+1]++
	}
	for i := 1; i < len(s.start); i++ {
		s.start[i] += s.start[i-1]
	}
}

// isAnswered reports whether some edge may have the other halves of the messages of an edge.
func (s *solver) isAnswered(e *wait.Edge) bool {
	if e.Need == wait.Target {
		return false
	}
	return slices.ContainsFunc(s.g.Edges(), func(f wait.Edge) bool { return f.Comm == e.Comm && f.Send != e.Send })
}

// each calls do for the pairs of an edge whose peers are ranks.
func each(e *wait.Edge, do func(r rank.ID, peer int)) {
	for _, run := range e.Pairs.Runs() {
		if run.Peer < 0 || run.Of(run.Last()) > int(rank.MaxID) {
			continue
		}
		for r := run.First; r <= run.Last(); r++ {
			do(r, run.Of(r))
		}
	}
}

// next returns the arcs from a vertex.
func (s *solver) next(v int32) []arc { return s.arcs[s.start[v]:s.start[v+1]] }

// components finds the strongly connected components: sets of vertices that wait for one another (Tarjan,
// Depth-first search and linear graph algorithms, 1972). It does not use recursion.
func (s *solver) components() {
	n := s.size + len(s.groups)
	s.component = make([]int32, n)
	low, number := make([]int32, n), make([]int32, n) // number 0: not seen
	on := make([]bool, n)
	var stack []int32
	type visit struct{ v, arc int32 }
	var path []visit
	count := int32(0)
	enter := func(v int32) {
		count++
		low[v], number[v], on[v] = count, count, true
		stack = append(stack, v)
		path = append(path, visit{v, s.start[v]})
	}
	for first := range int32(n) {
		if number[first] != 0 || len(s.next(first)) == 0 {
			continue
		}
		enter(first)
		for len(path) > 0 {
			top := &path[len(path)-1]
			v := top.v
			if top.arc < s.start[v+1] {
				to := s.arcs[top.arc].to
				top.arc++
				if number[to] == 0 {
					enter(to)
				} else if on[to] {
					low[v] = min(low[v], number[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				above := path[len(path)-1].v
				low[above] = min(low[above], low[v])
			}
			if low[v] == number[v] {
				at := len(stack) - 1
				for stack[at] != v {
					at--
				}
				s.members = append(s.members, slices.Clone(stack[at:]))
				for _, m := range stack[at:] {
					on[m] = false
					s.component[m] = int32(len(s.members))
				}
				stack = stack[:at]
			}
		}
	}
}

// mostRounds bounds the rounds of resolve.
const mostRounds = 64

// resolve removes arcs of vertices that need not wait for all of their arcs, and of which some lead into a cycle and
// others out of it: those into the cycle. Such vertices are ranks in Sendrecv, one half of which may be complete, and
// loose groups: members may have left.
func (s *solver) resolve() {
	for range mostRounds {
		leads := map[int32]bool{} // such vertices with an arc out of the cycle
		for _, a := range s.arcs {
			if s.isOptional(a) && s.component[a.from] != s.component[a.to] {
				leads[a.from] = true
			}
		}
		n := len(s.arcs)
		if len(leads) > 0 {
			s.arcs = slices.DeleteFunc(s.arcs, func(a arc) bool {
				return leads[a.from] && s.isOptional(a) && s.component[a.from] == s.component[a.to]
			})
		}
		if len(s.arcs) == n {
			return
		}
		s.index()
		for v := range leads {
			if v >= int32(s.size) {
				s.narrowed(v)
			}
		}
		s.members = nil
		s.components()
	}
	s.unsure = s.g.Ranks()
}

// isOptional reports whether the vertex of an arc need not wait for it if it has others.
func (s *solver) isOptional(a arc) bool {
	if a.from >= int32(s.size) {
		return s.groups[a.from-int32(s.size)].loose
	}
	return a.edge >= 0 && s.g.Edges()[a.edge].Need == wait.Perhaps
}

// narrowed notes that a group waits for fewer members than are absent, which is not certain.
func (s *solver) narrowed(v int32) {
	x := &s.groups[v-int32(s.size)]
	var ids []rank.ID
	for _, a := range s.next(v) {
		ids = append(ids, rank.ID(a.to))
	}
	if rest := rank.Of(ids...); rest.Len() < x.absent.Len() {
		x.absent = rest
		s.unsure = s.unsure.Union(x.in)
	}
}

// isCycle reports whether the vertices of a component wait for one another.
func (s *solver) isCycle(members []int32) bool {
	return len(members) > 1 || slices.ContainsFunc(s.next(members[0]), func(a arc) bool { return a.to == members[0] })
}
