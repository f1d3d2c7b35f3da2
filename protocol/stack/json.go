// JSON form of a tree: an array of the outermost frames.

package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"sdm/protocol/canonical"
	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

// nodeJSON is one node: the fields of its frame, then the others.
type nodeJSON struct {
	Frame
	Ranks    rank.Set    `json:"ranks"`
	N        int         `json:"n"`                // ranks
	Threads  int         `json:"threads"`          // of these ranks
	Counts   []countJSON `json:"counts,omitempty"` // if ranks have different numbers of threads
	Children []nodeJSON  `json:"children,omitempty"`
}

type countJSON struct {
	Threads int      `json:"threads"`
	Ranks   rank.Set `json:"ranks"`
}

// countsJSON returns the counts of a node; nil if all its ranks have the same number of threads.
func (n *Node) countsJSON() (out []countJSON) {
	for _, c := range n.Counts {
		if len(n.Counts) > 1 {
			out = append(out, countJSON(c))
		}
	}
	return out
}

// counts returns the counts of a node. Without them, its threads are distributed evenly.
func (n *nodeJSON) counts() counts {
	if len(n.Counts) == 0 {
		return shared(n.Threads, n.Ranks)
	}
	parts := make([]Count, len(n.Counts))
	for i, p := range n.Counts {
		parts[i] = Count(p)
	}
	return counts{more: &parts}
}

// MarshalJSON returns the JSON array for front ends, siblings in the order of
// Children.
func (s *Tree) MarshalJSON() ([]byte, error) { return canonical.JSON(toJSON(s.Roots())), nil }

func toJSON(nodes []*Node) []nodeJSON {
	out := make([]nodeJSON, len(nodes))
	for i, n := range nodes {
		out[i] = nodeJSON{n.Frame, n.Ranks, n.Ranks.Len(), n.Threads, n.countsJSON(), toJSON(n.Children())}
	}
	return out
}

// UnmarshalJSON parses the result of MarshalJSON; siblings may be in any order.
func (s *Tree) UnmarshalJSON(b []byte) error {
	var in []nodeJSON
	err := json.Unmarshal(b, &in)
	var t treeBuilder
	if err == nil {
		t.gather(in)
		t.sort()
		err = t.fromJSON(in, 1)
	}
	if err != nil {
		return fmt.Errorf("stack: %w", err)
	}
	*s = *t.tree()
	return nil
}

// gather collects the frames of all nodes, in any order.
func (b *treeBuilder) gather(in []nodeJSON) {
	for i := range in {
		f := in[i].Frame
		b.frames = append(b.frames, &f)
		b.gather(in[i].Children)
	}
}

// fromJSON adds siblings with their subtrees; depth is theirs, from 1.
func (b *treeBuilder) fromJSON(in []nodeJSON, depth int) error {
	if len(in) > 0 && depth > MaxDepth {
		return fmt.Errorf("deeper than %d frames", MaxDepth)
	}
	slices.SortFunc(in, func(m, n nodeJSON) int { return m.Frame.compare(&n.Frame) })
	for i := range in {
		n := &in[i]
		switch {
		case i > 0 && n.Frame == in[i-1].Frame:
			return fmt.Errorf("frame %q appears twice", n.Func)
		case n.Ranks.IsEmpty():
			return fmt.Errorf("frame %q has no ranks", n.Func)
		case n.Line < 0 || n.Line > math.MaxInt32 || n.Threads < 0 || n.Threads > decode.MaxCount*n.Ranks.Len():
			return errors.New("a number is out of bounds")
		}
		threads := n.counts()
		if !threads.valid(n.Ranks) || n.Threads > n.Ranks.Len() && n.Threads != threads.total(n.Ranks) {
			return fmt.Errorf("frame %q: the threads are not those of its ranks", n.Func)
		}
		at := b.open(b.numberOf(&n.Frame), n.Ranks, threads)
		if err := b.fromJSON(n.Children, depth+1); err != nil {
			return err
		}
		b.close(at)
	}
	return nil
}
