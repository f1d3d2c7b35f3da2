// Merged stacks for the page: as many frames as it draws.

package web

import (
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// Bounds of the frames that are sent: a page draws 1,000 of them.
const (
	maxFrames = 1500
	maxSets   = 1 << 18 // bytes of all sets
	maxOneSet = 8 << 10 // bytes
)

// frameJSON is a frame, and what was called from it.
type frameJSON struct {
	stack.Frame
	Ranks    string       `json:"ranks,omitempty"` // "": their set is too long
	N        int          `json:"n"`
	Threads  int          `json:"threads"`
	Children []*frameJSON `json:"children,omitempty"`
}

// framesOf returns the merged stacks of all answers, outer frames first, and how many frames are left out.
func framesOf(answers []protocol.Group) (roots []*frameJSON, left int) {
	var tree *stack.Tree
	for _, g := range answers {
		tree = tree.Merge(g.Stack)
	}
	if tree == nil {
		return nil, 0
	}
	type place struct {
		from *stack.Node
		to   *[]*frameJSON
	}
	var queue []place
	for _, n := range text.Roots(tree) {
		queue = append(queue, place{n, &roots})
	}
	sets := 0
	for i := 0; i < len(queue); i++ {
		n := queue[i].from
		if i >= maxFrames {
			left++
		} else {
			f := &frameJSON{Frame: n.Frame, N: n.Ranks.Len(), Threads: n.Threads}
			if set := n.Ranks.String(); len(set) <= maxOneSet && sets+len(set) <= maxSets {
				f.Ranks = set
				sets += len(set)
			}
			*queue[i].to = append(*queue[i].to, f)
			queue[i].to = &f.Children
		}
		for _, child := range n.Children() {
			queue = append(queue, place{child, queue[i].to})
		}
	}
	return roots, left
}
