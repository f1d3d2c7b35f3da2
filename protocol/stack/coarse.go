// Trees whose frames have lost details.

package stack

import "slices"

// By returns the tree with frames of another granularity, as the builder of a tree has it: "function" removes lines and
// addresses, "line" addresses. Nodes that become equal are merged; a rank keeps all its threads.
func (s *Tree) By(granularity string) *Tree {
	return s.replace(func(f Frame) Frame {
		switch granularity {
		case "function":
			f.File, f.Line, f.Addr = "", 0, ""
		case "line":
			f.Addr = ""
		}
		return f
	})
}

// replace returns the tree with each frame replaced. Siblings whose frames become equal are merged.
func (s *Tree) replace(change func(Frame) Frame) *Tree {
	frames, nodes := s.split()
	m := mapper{nodes: nodes, to: make([]uint32, len(frames))}
	changed := make([]*Frame, len(frames))
	for i, f := range frames {
		g := change(*f).valid()
		changed[i] = &g
	}
	m.out.frames = slices.Clone(changed)
	m.out.sort()
	for i, f := range changed {
		m.to[i] = m.out.numberOf(f)
	}
	if len(nodes) > 0 {
		m.siblings([]span{{0, len(nodes)}})
	}
	return m.out.tree()
}

// mapper builds the tree of replace.
type mapper struct {
	nodes []node
	to    []uint32 // the new numbers of frames
	out   treeBuilder
}

// span is a range of nodes: siblings with their subtrees.
type span struct{ at, end int }

// siblings adds the nodes of several spans as siblings.
func (m *mapper) siblings(from []span) {
	same := map[uint32][]int{}
	for _, s := range from {
		for i := s.at; i < s.end; i = int(m.nodes[i].end) {
			to := m.to[m.nodes[i].frame]
			same[to] = append(same[to], i)
		}
	}
	numbers := make([]uint32, 0, len(same))
	for n := range same {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		all := same[n]
		first := &m.nodes[all[0]]
		ranks, threads := first.ranks, first.threads
		below := []span{{all[0] + 1, int(first.end)}}
		for _, i := range all[1:] {
			x := &m.nodes[i]
			threads = threads.plus(ranks, x.threads, x.ranks)
			ranks = ranks.Union(x.ranks)
			below = append(below, span{i + 1, int(x.end)})
		}
		at := m.out.open(n, ranks, threads)
		m.siblings(below)
		m.out.close(at)
	}
}
