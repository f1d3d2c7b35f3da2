// Package stack provides merged stack trees of many threads of many ranks.
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
// It is stored in wire format: each frame once, however many nodes have it, and a
// few bytes for each node. Every vertex of the tree of servers merges the stacks of
// all ranks below it by reading two trees and writing one sequentially; allocating
// nodes would cost more than the merging. All other operations decode the tree
// first.
type Tree struct {
	count  int    // number of frames
	frames string // frames of the nodes, ascending, without duplicates
	nodes  []byte // in preorder, siblings ascending by frame
}

// node is one frame that at least one thread has reached by the same path, in a
// decoded tree in preorder.
type node struct {
	ranks   rank.Set
	threads counts // threads through this node; a rank may have several
	frame   uint32 // index in the list of frames
	end     uint32 // index in the list of nodes after the subtree
}

// Frame identifies a node among its siblings: two frames are the same node if all
// fields are equal. The builder of the tree leaves fields empty that the chosen
// granularity ignores.
type Frame struct {
	Func string `json:"func"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Addr string `json:"addr,omitempty"`
	From string `json:"from,omitempty"`
	Call string `json:"call,omitempty"` // arguments of a blocked call of MPI: "from 2 tag 99"; "×9": nine equal frames
	Mark string `json:"mark,omitempty"` // "SIGSEGV" on the innermost frame where a rank crashed
}

// MaxDepth is the maximum number of frames of a stack. Deeper stacks, mostly
// infinite recursion, lose their middle. It bounds the recursion over received
// trees.
const MaxDepth = 512

// Helpers is the Func of the root of the helper threads of runtimes. Below it each
// thread has one frame: its start function.
const Helpers = "helper threads"

// processes begins the Func of roots that are processes which ranks have started. Below them are their stacks.
const processes = "process "

// Process returns the root of the stacks of a process that a rank has started: its ID and its program. pid 0 stands for
// all such processes with this program.
func Process(pid int, program string) Frame {
	if program == "" {
		program = "?"
	}
	if pid == 0 {
		return Frame{Func: processes + "(" + program + ")"}
	}
	return Frame{Func: processes + strconv.Itoa(pid) + " (" + program + ")"}
}

// LeftProcesses returns the root that says that so many further processes were not read.
func LeftProcesses(n int) Frame {
	return Frame{Func: processes + "limit: " + strconv.Itoa(n) + " more not read"}
}

// IsProcess reports whether a root stands for processes that ranks have started.
func (f Frame) IsProcess() bool { return strings.HasPrefix(f.Func, processes) }

func (f Frame) valid() Frame {
	for _, s := range []*string{&f.Func, &f.File, &f.Addr, &f.From, &f.Call, &f.Mark} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	f.Line = min(max(f.Line, 0), math.MaxInt32)
	return f
}

// compare orders frames by text.
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
		strings.Compare(f.Call, g.Call),
		strings.Compare(f.Mark, g.Mark),
	)
}

func compareFrames(f, g *Frame) int { return f.compare(g) }

// String formats the frame: "compute w.c:31".
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
	for _, s := range []string{f.Addr, f.From, f.Call, f.Mark} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// isEmpty reports whether there is no node; nil is empty.
func (s *Tree) isEmpty() bool { return s == nil || s.count == 0 }

// Size returns the approximate memory of the tree, in bytes.
func (s *Tree) Size() int {
	if s.isEmpty() {
		return 0
	}
	return len(s.frames) + len(s.nodes)
}

// Having returns the ranks with a wanted frame in any thread. For nil it returns
// none.
func (s *Tree) Having(wanted func(Frame) bool) rank.Set {
	frames, nodes := s.split()
	is := make([]bool, len(frames))
	for i, f := range frames {
		is[i] = wanted(*f)
	}
	var in rank.Set
	for i := 0; i < len(nodes); {
		if n := &nodes[i]; is[n.frame] {
			in, i = in.Union(n.ranks), int(n.end) // ranks below are included
		} else {
			i++
		}
	}
	return in
}

// Only returns the tree of some of the ranks.
func (s *Tree) Only(ranks rank.Set) *Tree {
	frames, nodes := s.split()
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
			at := b.open(n.frame, common, n.threads.only(common))
			b.only(nodes, i+1, int(n.end), common)
			b.close(at)
		}
		i = int(n.end)
	}
}

// treeBuilder builds nodes in preorder.
type treeBuilder struct {
	frames []*Frame // ascending, without duplicates
	nodes  []node
}

// open adds a node; nodes that are added until it is closed are below it.
func (b *treeBuilder) open(frame uint32, ranks rank.Set, threads counts) (at int) {
	b.nodes = append(b.nodes, node{ranks: ranks, threads: threads, frame: frame})
	return len(b.nodes) - 1
}

func (b *treeBuilder) close(at int) { b.nodes[at].end = uint32(len(b.nodes)) }

// copy adds whole subtrees from a tree with the same frames; from is the index of
// their first node there.
func (b *treeBuilder) copy(nodes []node, from int) {
	first := len(b.nodes)
	b.nodes = append(b.nodes, nodes...)
	for i := range nodes {
		n := &b.nodes[first+i]
		n.end = uint32(int(n.end) - from + first)
	}
}

// used reports for each frame whether a node has it.
func (b *treeBuilder) used() []bool {
	used := make([]bool, len(b.frames))
	for i := range b.nodes {
		used[b.nodes[i].frame] = true
	}
	return used
}

// tree returns the built tree, without unused frames.
func (b *treeBuilder) tree() *Tree {
	s := &Tree{}
	size := 0
	for _, f := range b.frames {
		size += minFrameSize + len(f.Func) + len(f.Addr) + len(f.From) + len(f.Call) + len(f.Mark)
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

// appendNodes encodes siblings, which are the nodes from at to end with their
// subtrees; frame i becomes to[i].
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

// split decodes the tree into frames and nodes; nil is the empty tree.
func (s *Tree) split() ([]*Frame, []node) {
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

// take adds siblings with their subtrees.
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
