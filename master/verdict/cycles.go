// Ranks and collectives that wait for one another.

package verdict

import (
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// components finds the strongly connected components: sets of vertices that wait for one another (Tarjan,
// Depth-first search and linear graph algorithms, 1972). It does not use recursion.
func (s *solver) components() {
	n := s.size + len(s.collectives)
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

// maxRounds bounds the rounds of resolve.
const maxRounds = 64

// resolve removes arcs of vertices that need not wait for all of their arcs, and of which some lead into a cycle and
// others out of it: those into the cycle. Such vertices are ranks in Sendrecv, one half of which may be complete, and
// loose collectives: members may have left.
func (s *solver) resolve() {
	for range maxRounds {
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
		return s.collectives[a.from-int32(s.size)].loose
	}
	return a.edge >= 0 && s.g.Edges()[a.edge].Need == wait.Perhaps
}

// narrowed notes that a collective waits for fewer members than are absent, which is not certain.
func (s *solver) narrowed(v int32) {
	x := &s.collectives[v-int32(s.size)]
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
