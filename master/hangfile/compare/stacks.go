// Stack trees that are compared by the ranks of each path.

package compare

import (
	"strings"

	"sdm/master/hangfile"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// stacks adds where ranks were that have moved, and returns these ranks. Only ranks with stacks in both files are
// compared.
func (c *Changes) stacks(then, now *hangfile.File) rank.Set {
	both := stacked(then).Intersect(stacked(now))
	if both.IsEmpty() {
		return rank.Set{}
	}
	d := differ{}
	d.siblings(treeOf(then).Only(both).Roots(), treeOf(now).Only(both).Roots(), nil, rank.Set{})
	c.add("stacks", d.then, d.now)
	return d.moved
}

// differ compares trees. Only the outermost frame in which stacks differ is told, with the only way from there.
type differ struct {
	then, now []Part
	moved     rank.Set
}

// siblings compares the nodes below a path. told are the ranks about which all is said.
func (d *differ) siblings(then, now []*stack.Node, path []string, told rank.Set) {
	was, is := byFrame(then), byFrame(now)
	for _, a := range then {
		d.pair(a, is[a.Frame], path, told)
	}
	for _, b := range now {
		if was[b.Frame] == nil {
			d.pair(nil, b, path, told)
		}
	}
}

func byFrame(nodes []*stack.Node) map[stack.Frame]*stack.Node {
	by := make(map[stack.Frame]*stack.Node, len(nodes))
	for _, n := range nodes {
		by[n.Frame] = n
	}
	return by
}

// pair compares two nodes with the same frame below the same path; one of them may be nil.
func (d *differ) pair(a, b *stack.Node, path []string, told rank.Set) {
	var in, out rank.Set // ranks of a and b
	var below, above []*stack.Node
	node := a
	if a != nil {
		in, below = a.Ranks, a.Children()
	}
	if b != nil {
		node, out, above = b, b.Ranks, b.Children()
	}
	if node.Frame.Func == stack.Helpers {
		return
	}
	path = append(path[:len(path):len(path)], frameText(node.Frame))
	left, came := in.Minus(out).Minus(told), out.Minus(in).Minus(told)
	if !left.IsEmpty() {
		d.then = append(d.then, Part{left, strings.Join(onward(a, left, path), " > ")})
	}
	if !came.IsEmpty() {
		d.now = append(d.now, Part{came, strings.Join(onward(b, came, path), " > ")})
	}
	d.moved = d.moved.Union(left).Union(came)
	if !isMPI(node.Frame.Func) {
		d.siblings(below, above, path, told.Union(left).Union(came))
	}
}

// onward returns a path with the frames below a node as long as all of some ranks go one way, up to a function of MPI.
func onward(n *stack.Node, ranks rank.Set, path []string) []string {
	path = path[:len(path):len(path)]
	for !isMPI(n.Frame.Func) {
		var next *stack.Node
		for _, c := range n.Children() {
			if common := c.Ranks.Intersect(ranks); !common.IsEmpty() {
				if next != nil || !common.Equal(ranks) {
					return path
				}
				next = c
			}
		}
		if next == nil {
			return path
		}
		n, path = next, append(path, frameText(next.Frame))
	}
	return path
}

// isMPI reports whether a function is one that programs call: what it calls is the business of the library.
func isMPI(name string) bool {
	return strings.HasPrefix(name, "MPI_") || strings.HasPrefix(name, "PMPI_")
}

// frameText returns "compute w.c:31", without directories.
func frameText(f stack.Frame) string {
	base := func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
	f.File, f.From = base(f.File), base(f.From)
	if f.Func == "" {
		f.Func = "??"
	}
	if f.File != "" || isMPI(f.Func) {
		f.From = ""
	}
	return f.String()
}
