// Package stack is merged stack trees: the stacks of many threads of many ranks as one.
package stack

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

// Tree is a merged stack tree: outermost frame first, and at each node the
// ranks that have a thread there. It is immutable; several goroutines may use it.
//
//	main work.c:55 [0-7]
//	├─ compute work.c:31 [0-2,4-7]
//	└─ compute work.c:29 [3]
//	   └─ helper work.c:18 [3]
//
// It is held as it crosses the wire: each frame once, however many nodes have it, and
// a few bytes for a node. Every vertex of a tree joins the stacks of all ranks below
// it, reading two and writing one from front to back, and nodes with memory of their
// own would cost more than what is done with them. Whoever looks at a tree in any
// other way takes it apart first.
type Tree struct {
	count  int    // of frames
	frames string // those of the nodes, ascending, each once
	nodes  []byte // each before those below it, siblings ascending by frame
}

// node is one frame that at least one thread has reached by the same way, in a
// tree that was taken apart: each before those below it.
type node struct {
	ranks   rank.Set
	threads int    // that pass through here; a rank may have several
	frame   uint32 // in the list of frames
	end     uint32 // in the list of nodes: where what is below ends
}

// Frame is what identifies a node among its siblings: two frames are the
// same node when all fields are equal. Fields that the chosen granularity
// ignores are left empty by whoever builds the tree.
type Frame struct {
	Func string `json:"func"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Addr string `json:"addr,omitempty"`
	From string `json:"from,omitempty"`
	Mark string `json:"mark,omitempty"` // "SIGSEGV" on the innermost frame where a rank crashed
}

// MaxDepth is how many frames of a stack are kept. Deeper ones, mostly
// recursion without end, lose their middle. It bounds the recursion over trees
// that come from outside.
const MaxDepth = 512

// Helpers is the Func of the root under which the helper threads of runtimes are, each with one frame: the function with which
// it was started.
const Helpers = "helper threads"

func (f Frame) valid() Frame {
	for _, s := range []*string{&f.Func, &f.File, &f.Addr, &f.From, &f.Mark} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	f.Line = min(max(f.Line, 0), math.MaxInt32)
	return f
}

// compare is an order of frames: by text, as people look for them.
func (f *Frame) compare(g *Frame) int {
	if f == g {
		return 0
	}
	if order := strings.Compare(f.Func, g.Func); order != 0 {
		return order
	}
	return cmp.Or(
		strings.Compare(f.File, g.File),
		cmp.Compare(f.Line, g.Line),
		strings.Compare(f.Addr, g.Addr),
		strings.Compare(f.From, g.From),
		strings.Compare(f.Mark, g.Mark),
	)
}

func compareFrames(f, g *Frame) int { return f.compare(g) }

// String gives the frame as people write it: "compute w.c:31".
func (f Frame) String() string {
	parts := []string{f.Func}
	switch {
	case f.File != "" && f.Line != 0:
		parts = append(parts, f.File+":"+strconv.Itoa(f.Line))
	case f.File != "":
		parts = append(parts, f.File)
	case f.Line != 0:
		parts = append(parts, ":"+strconv.Itoa(f.Line))
	}
	for _, s := range []string{f.Addr, f.From, f.Mark} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// isEmpty tells whether there is no node; nil has none.
func (s *Tree) isEmpty() bool { return s == nil || s.count == 0 }

// Size is about what the tree costs, in bytes.
func (s *Tree) Size() int {
	if s.isEmpty() {
		return 0
	}
	return len(s.frames) + len(s.nodes)
}

// Having gives the ranks with a frame that is wanted, in any thread. Nil has none.
func (s *Tree) Having(wanted func(Frame) bool) rank.Set {
	frames, nodes := s.apart()
	is := make([]bool, len(frames))
	for i, f := range frames {
		is[i] = wanted(*f)
	}
	var in rank.Set
	for i := 0; i < len(nodes); {
		if n := &nodes[i]; is[n.frame] {
			in, i = in.Union(n.ranks), int(n.end) // whoever is below is here
		} else {
			i++
		}
	}
	return in
}

// Only gives the tree of some of the ranks. Which threads at a node are theirs is
// not known where others are there too: they have one each then.
func (s *Tree) Only(ranks rank.Set) *Tree {
	frames, nodes := s.apart()
	b := treeBuilder{frames: frames}
	b.only(nodes, 0, len(nodes), ranks)
	return b.tree()
}

func (b *treeBuilder) only(nodes []node, i, end int, ranks rank.Set) {
	for i < end {
		n := &nodes[i]
		switch common := n.ranks.Intersect(ranks); {
		case common.IsEmpty():
		case common.Equal(n.ranks):
			b.copy(nodes[i:n.end], i)
		default:
			at := b.open(n.frame, common, common.Len())
			b.only(nodes, i+1, int(n.end), common)
			b.close(at)
		}
		i = int(n.end)
	}
}

// treeBuilder makes nodes, each before those below it.
type treeBuilder struct {
	frames []*Frame // ascending, each once
	nodes  []node
}

// open adds a node; what is added until it is closed is below it.
func (b *treeBuilder) open(frame uint32, ranks rank.Set, threads int) (at int) {
	b.nodes = append(b.nodes, node{ranks: ranks, threads: threads, frame: frame})
	return len(b.nodes) - 1
}

func (b *treeBuilder) close(at int) { b.nodes[at].end = uint32(len(b.nodes)) }

// copy adds nodes of a tree with the same frames, the first of which is number from
// there, and of which no parent is missing.
func (b *treeBuilder) copy(nodes []node, from int) {
	first := len(b.nodes)
	b.nodes = append(b.nodes, nodes...)
	for i := range nodes {
		n := &b.nodes[first+i]
		n.end = uint32(int(n.end) - from + first)
	}
}

// used tells which frames have nodes.
func (b *treeBuilder) used() []bool {
	used := make([]bool, len(b.frames))
	for i := range b.nodes {
		used[b.nodes[i].frame] = true
	}
	return used
}

// tree gives what was built, without the frames that no node has.
func (b *treeBuilder) tree() *Tree {
	s := &Tree{}
	size := 0
	for _, f := range b.frames {
		size += minFrameSize + len(f.Func) + len(f.Addr) + len(f.From) + len(f.Mark)
	}
	frames := make([]byte, 0, size)
	to := make([]uint32, len(b.frames))
	before := &Frame{}
	for i, used := range b.used() {
		if used {
			to[i] = uint32(s.count)
			s.count++
			frames = b.frames[i].appendWire(frames, before)
			before = b.frames[i]
		}
	}
	s.frames = string(frames)
	s.nodes = b.appendNodes(make([]byte, 0, 8*len(b.nodes)), 0, len(b.nodes), &entry{}, to)
	return s
}

// appendNodes writes siblings, which are the nodes from at to end with all that is
// below them; number i of the frames becomes to[i].
func (b *treeBuilder) appendNodes(out []byte, at, end int, above *entry, to []uint32) []byte {
	var e entry
	for i := at; i < end; i = int(b.nodes[i].end) {
		n := &b.nodes[i]
		e = entry{frame: int(to[n.frame]), ranks: n.ranks, threads: n.threads,
			below: int(n.end) > i+1, more: int(n.end) < end}
		out = e.appendWire(out, above)
		out = b.appendNodes(out, i+1, int(n.end), &e, to)
	}
	return out
}

// apart gives the frames and nodes of the tree; nil is the empty one.
func (s *Tree) apart() ([]*Frame, []node) {
	if s.isEmpty() {
		return nil, nil
	}
	var b treeBuilder
	c := s.frameCursor()
	list := make([]Frame, s.count)
	b.frames = make([]*Frame, s.count)
	for i := range list {
		c.next()
		list[i] = c.now
		b.frames[i] = &list[i]
	}
	n := &nodeCursor{Reader: decode.Reader{Rest: s.nodes}}
	b.take(n, &entry{})
	return b.frames, b.nodes
}

// take adds siblings with all that is below them.
func (b *treeBuilder) take(c *nodeCursor, above *entry) {
	e := entry{more: true}
	for e.more {
		e = c.next(above)
		at := b.open(uint32(e.frame), e.ranks, e.threads)
		if e.below {
			b.take(c, &e)
		}
		b.close(at)
	}
}
