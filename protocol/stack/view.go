// Trees in the order in which they are shown to users.

package stack

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
)

// Node is one frame that at least one thread has reached by the same path.
type Node struct {
	Frame    Frame
	Ranks    rank.Set
	Threads  int     // threads through this node; a rank may have several
	Counts   []Count // of the ranks: ascending, disjoint; one if all ranks have the same number of threads
	children []*Node // sorted by frame, without duplicates
}

// Roots returns the outermost frames, in the order of Children; none for nil. Each
// call allocates new nodes.
func (s *Tree) Roots() []*Node {
	frames, nodes := s.split()
	v := viewer{frames: frames, nodes: nodes, all: make([]Node, len(nodes)), links: make([]*Node, 0, len(nodes))}
	return inDisplayOrder(v.siblings(0, len(nodes)))
}

// viewer converts the nodes of a tree to Nodes; all has them at the same indices.
type viewer struct {
	frames []*Frame
	nodes  []node
	all    []Node
	links  []*Node
}

// siblings converts the nodes from at to end, which are siblings with their subtrees, and
// returns the siblings.
func (v *viewer) siblings(at, end int) []*Node {
	first := len(v.links)
	for i := at; i < end; i = int(v.nodes[i].end) {
		n := &v.nodes[i]
		v.all[i] = Node{Frame: *v.frames[n.frame], Ranks: n.ranks, Threads: n.threads.total(n.ranks),
			Counts: n.threads.list(n.ranks)}
		v.links = append(v.links, &v.all[i])
	}
	links := v.links[first:len(v.links):len(v.links)]
	for i, k := at, 0; i < end; i, k = int(v.nodes[i].end), k+1 {
		links[k].children = v.siblings(i+1, int(v.nodes[i].end))
	}
	return links
}

// Children returns the frames that were called from this node: those with the most
// ranks first, then by lowest rank, then by text.
func (n *Node) Children() []*Node { return inDisplayOrder(n.children) }

// Here returns the number of threads whose innermost frame is at this node.
func (n *Node) Here() int {
	here := n.Threads
	for _, c := range n.children {
		here -= c.Threads
	}
	return here
}

// inDisplayOrder returns siblings in the order of Children.
func inDisplayOrder(nodes []*Node) []*Node {
	if len(nodes) < 2 {
		return nodes
	}
	type keyed struct {
		node   *Node
		ranks  int
		lowest rank.ID
	}
	all := make([]keyed, len(nodes))
	for i, n := range nodes {
		all[i] = keyed{node: n, ranks: n.Ranks.Len()}
		all[i].lowest, _ = n.Ranks.Min()
	}
	slices.SortFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(b.ranks, a.ranks), cmp.Compare(a.lowest, b.lowest),
			a.node.Frame.compare(&b.node.Frame))
	})
	out := make([]*Node, len(all))
	for i, k := range all {
		out[i] = k.node
	}
	return out
}

// String formats the tree as one line for transcripts:
//
//	{main w.c:55 [0-7] {compute w.c:31 [0-2,4-7]} {compute w.c:29 [3]}}
func (s *Tree) String() string {
	var b strings.Builder
	for i, n := range s.Roots() {
		if i > 0 {
			b.WriteByte(' ')
		}
		n.writeTo(&b)
	}
	return b.String()
}

func (n *Node) writeTo(b *strings.Builder) {
	b.WriteString("{" + n.Frame.String() + " [" + n.Ranks.String() + "]")
	if n.Threads != n.Ranks.Len() {
		b.WriteString(" x" + strconv.Itoa(n.Threads))
	}
	for _, c := range n.Children() {
		b.WriteByte(' ')
		c.writeTo(b)
	}
	b.WriteByte('}')
}
