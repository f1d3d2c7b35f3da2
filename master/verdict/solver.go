// The graph of who waits for whom.

package verdict

import (
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// solver holds a directed graph of who waits for whom. Vertices from 0 to size-1 are ranks; those from size on are
// collectives. A rank in a call of a collective waits for it, and the collective waits for its absent members.
type solver struct {
	g       *wait.Graph
	samples int
	size    int // all ranks are lower

	doing       []int32 // of each rank, index of its row; -1: it is not in the graph
	collectives []collective
	blocked     rank.Set // that wait in MPI
	fixed       rank.Set // that do not wait for other ranks even if they are in a call: stopped, dead and so on
	torch       rank.Set // in calls of torch.distributed: only those that have not run are sure not to have gone on
	counted     rank.Set // in collectives that a library has counted
	told        rank.Set // of which a finding says what they do
	unnamed     rank.Set // in calls of libraries that may be any call of MPI
	unsure      rank.Set // of which it is not known whether they wait for all of their arcs

	arcs  []arc   // ascending by from, then to
	start []int32 // of each vertex, its first arc; one more at the end

	component []int32   // of each vertex, the number of its component, from 1
	members   [][]int32 // of each component, its vertices

	arrived map[rank.ID][]came   // nil: not made yet, see cameFor
	any     map[rank.ID]rank.Set // of ranks that wait for any of many, of which only some have arcs: all of them

	edges *index // of rows with messages, by rank; nil: not made yet, see edgesOf
	back  *index // of arcs, by the vertex to which they lead; nil: not made yet, see before
}

// arc says that a vertex waits for another one.
type arc struct {
	from, to int32
	edge     int32 // index of the row of the graph; -1: a collective call
	any      bool  // the vertex waits for any of those to which it has such arcs
}

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
		switch {
		case e.Object != "" || isMPI(e.Function):
		case e.Comm != "":
			s.torch = s.torch.Union(e.Pairs.Ranks())
		default:
			s.unnamed = s.unnamed.Union(e.Pairs.Ranks())
		}
		for _, r := range e.Pairs.Runs() {
			if last := r.Of(r.Last()); last >= 0 && last <= int(rank.MaxID) {
				all = all.Union(rank.Of(rank.ID(last)))
			}
		}
	}
	for _, c := range g.Calls() {
		if !isMPI(c.Function) && !c.IsCounted() {
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
	s.addCollectives()
	s.messages()
	return s
}

// areDebugged reports whether debuggers have stopped all ranks of which it is known what they do.
func areDebugged(g *wait.Graph) bool {
	return !slices.ContainsFunc(g.Doings(), func(d wait.Doing) bool {
		return d.State != wait.Traced && d.State != wait.Dead && d.State != wait.Silent
	})
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
	var met []arc               // of halves that may be complete
	waiting := map[int32]bool{} // ranks with such a half whose other half no rank does
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
			isMet := e.Object == "" && (slices.ContainsFunc(tags[half{int32(peer), int32(r), e.Comm, !e.Send}], fits) ||
				slices.ContainsFunc(tags[half{int32(peer), anyone, e.Comm, !e.Send}], fits))
			a := arc{int32(r), int32(peer), int32(i), false}
			switch {
			case s.fixed.Contains(r):
			case !isMet:
				s.arcs = append(s.arcs, a)
				waiting[a.from] = waiting[a.from] || e.Need == wait.Perhaps
			case e.Need == wait.Perhaps:
				met = append(met, a)
			}
		})
	}
	// The other half that such a rank seems to meet may be of an earlier call, and complete: the rank may wait for it
	// as well as for the one that no rank does, which may be complete itself.
	for _, a := range met {
		if waiting[a.from] {
			s.arcs = append(s.arcs, a)
		}
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
	s.back = nil
	s.start = make([]int32, s.size+len(s.collectives)+1)
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
