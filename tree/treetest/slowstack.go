// A slow twin of the merge of stack trees.

package treetest

import (
	"encoding/json"
	"slices"

	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// slowNode is a node of a stack tree with the number of threads of each rank.
type slowNode struct {
	stack.Frame
	threads  map[rank.ID]int
	children []*slowNode
}

// add adds the threads of a node and of those below it.
func (s *slowNode) add(n *stack.Node) {
	i := slices.IndexFunc(s.children, func(c *slowNode) bool { return c.Frame == n.Frame })
	if i < 0 {
		i = len(s.children)
		s.children = append(s.children, &slowNode{Frame: n.Frame, threads: map[rank.ID]int{}})
	}
	to := s.children[i]
	for _, c := range n.Counts {
		for r := range c.Ranks.All() {
			to.threads[r] += c.Threads
		}
	}
	for _, c := range n.Children() {
		to.add(c)
	}
}

// MarshalJSON returns the node as stack.Tree does, with the counts of each number of threads, and
// without what follows from them.
func (s *slowNode) MarshalJSON() ([]byte, error) {
	having := map[int][]rank.ID{}
	var all []rank.ID
	for r, n := range s.threads {
		having[n], all = append(having[n], r), append(all, r)
	}
	type count struct {
		Threads int      `json:"threads"`
		Ranks   rank.Set `json:"ranks"`
	}
	out := struct {
		stack.Frame
		Ranks    rank.Set    `json:"ranks"`
		Threads  int         `json:"threads"`
		Counts   []count     `json:"counts,omitempty"`
		Children []*slowNode `json:"children"`
	}{Frame: s.Frame, Ranks: rank.Of(all...), Children: s.children}
	for n := 1; len(having) > 0; n++ {
		if ids := having[n]; ids != nil {
			out.Threads += n * len(ids)
			out.Counts = append(out.Counts, count{n, rank.Of(ids...)})
			delete(having, n)
		}
	}
	if len(out.Counts) == 1 {
		out.Counts = nil
	}
	return json.Marshal(out)
}

// SlowStack does the same as stack.Tree.Merge, rank by rank.
func SlowStack(trees ...*stack.Tree) *stack.Tree {
	root := &slowNode{}
	for _, t := range trees {
		for _, n := range t.Roots() {
			root.add(n)
		}
	}
	text, err := json.Marshal(root.children)
	out := &stack.Tree{}
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}
