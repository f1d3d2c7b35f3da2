// Stack trees of a page.

package report

import (
	"path"
	"strconv"
	"strings"

	"sdm/master/hangfile"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/stack"
)

// tree is the answer of some ranks to stacks.
type tree struct {
	Ranks ranks
	Text  string // about samples
	Notes []string
	Nodes []*node
	Open  bool
}

// node is a chain of frames that have the same ranks, and what was called from the last of them.
type node struct {
	Ranks    ranks
	Whole    string // the set, for the script of the page
	Threads  int    // 0: one for each rank
	Share    string
	Frames   []frame
	Children []*node
	Open     bool
	More     bool // frames below are not on the page
}

type frame struct{ Func, Call, Place, Mark string }

// stacks prepares the trees, and the ranks without stacks.
func (c *content) stacks(f *hangfile.File) {
	w := &text.Writer{All: f.Ranks}
	total := 0
	for _, e := range f.Stacks {
		g := e.Group
		switch {
		case g.Stack != nil:
			b := treeBuilder{sampled: text.SamplesOf(g), room: maxFrames - total}
			t := tree{Ranks: ranksOf(g.Ranks), Notes: w.Notes(g)}
			if b.sampled.Samples > 1 {
				t.Text = clean(b.sampled.String())
			}
			for i := range t.Notes {
				t.Notes[i] = clean(t.Notes[i])
			}
			roots := text.Roots(g.Stack)
			for _, root := range roots {
				b.root = stack.Base(roots, root)
				t.Nodes = append(t.Nodes, b.node(root))
			}
			total += b.frames
			c.MoreFrames += b.left
			unfold(t.Nodes, b.frames <= openFrames, 0)
			c.Trees = append(c.Trees, t)
		case g.Kind != protocol.KindResult:
			c.Absent = append(c.Absent, row{Ranks: ranksOf(g.Ranks), Text: clean(text.Said("stacks", g))})
		}
	}
}

// treeBuilder converts trees.
type treeBuilder struct {
	sampled text.Samples
	root    *stack.Node
	room    int // frames that may still be added
	frames  int // added
	left    int // not added
	sets    int // bytes of their sets
}

// The sets of a tree are in the page for its script, up to so many bytes; frames beyond are shown whichever rank is
// wanted.
const (
	maxSets = 1 << 18
	anyRank = "*"
)

func (b *treeBuilder) node(n *stack.Node) *node {
	out := &node{Ranks: shortRanks(n.Ranks), Whole: n.Ranks.String()}
	if b.sets += len(out.Whole); b.sets > maxSets {
		out.Whole = anyRank
	}
	threads := (n.Threads + max(b.sampled.Samples, 1) - 1) / max(b.sampled.Samples, 1)
	switch {
	case b.sampled.Moved:
		out.Share = n.ShareOf(b.root).String()
	case threads != n.Ranks.Len():
		out.Threads = threads
	}
	for {
		out.Frames = append(out.Frames, frameOf(n.Frame))
		b.frames++
		children := n.Children()
		if len(children) != 1 || !children[0].Ranks.Equal(n.Ranks) || children[0].Threads != n.Threads || b.frames >= b.room {
			break
		}
		n = children[0]
	}
	for _, child := range n.Children() {
		if b.frames >= b.room {
			out.More = true
			b.left += size(child)
			continue
		}
		out.Children = append(out.Children, b.node(child))
	}
	return out
}

// size returns the number of nodes of a subtree.
func size(n *stack.Node) int {
	total := 1
	for _, c := range n.Children() {
		total += size(c)
	}
	return total
}

// unfold opens the nodes: all, or the upper levels, as far as there are few siblings.
func unfold(nodes []*node, all bool, depth int) {
	const levels, few = 3, 16
	for _, n := range nodes {
		n.Open = (all || depth < levels && len(nodes) <= few) && n.Frames[0].Func != stack.Helpers
		unfold(n.Children, all, depth+1)
	}
}

func frameOf(f stack.Frame) frame {
	out := frame{Func: clean(f.Func), Call: clean(f.Call), Mark: clean(f.Mark)}
	if out.Func == "" {
		out.Func = "??"
	}
	switch {
	case f.File != "" && f.Line > 0:
		out.Place = path.Base(f.File) + ":" + strconv.Itoa(f.Line)
	case f.File != "":
		out.Place = path.Base(f.File)
	case f.From != "":
		out.Place = "from " + path.Base(f.From)
	}
	if f.Addr != "" {
		out.Place = strings.TrimSpace(out.Place + " " + f.Addr)
	}
	out.Place = clean(out.Place)
	return out
}
