// Merged stack trees: the stacks of many threads of many ranks as one tree.

package protocol

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
)

// Stack is a merged stack tree: outermost frame first, and at each node the
// ranks that have a thread there. It is immutable; several goroutines may use it.
//
//	main work.c:55 [0-7]
//	├─ compute work.c:31 [0-2,4-7]
//	└─ compute work.c:29 [3]
//	   └─ helper work.c:18 [3]
type Stack struct {
	roots []*StackNode // sorted by frame, each frame once
}

// StackNode is one frame that at least one thread has reached by the same way.
type StackNode struct {
	Frame   StackFrame
	Ranks   rank.Set
	Threads int // that pass through here; a rank may have several
	// children are sorted by frame, each frame once.
	children []*StackNode
}

// StackFrame is what identifies a node among its siblings: two frames are the
// same node when all fields are equal. Fields that the chosen granularity
// ignores are left empty by whoever builds the tree.
type StackFrame struct {
	Func string `json:"func"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Addr string `json:"addr,omitempty"`
	From string `json:"from,omitempty"`
	Mark string `json:"mark,omitempty"` // "SIGSEGV" on the innermost frame where a rank crashed
}

// MaxStackDepth is how many frames of a stack are kept. Deeper ones, mostly
// recursion without end, lose their middle. It bounds the recursion over trees
// that come from outside.
const MaxStackDepth = 512

// NewStack makes the tree of one thread of one rank; frames outermost first. Of
// more than MaxStackDepth frames the middle is replaced by one with Func "...".
// Bytes that are not UTF-8 are replaced.
func NewStack(r rank.ID, frames []StackFrame) *Stack {
	frames = shortened(frames)
	if len(frames) == 0 {
		return &Stack{}
	}
	ranks := rank.Range(r, r)
	nodes := make([]StackNode, len(frames))
	links := make([]*StackNode, len(frames))
	for i, f := range frames {
		nodes[i] = StackNode{Frame: f.valid(), Ranks: ranks, Threads: 1}
		links[i] = &nodes[i]
		if i > 0 {
			nodes[i-1].children = links[i : i+1 : i+1]
		}
	}
	return &Stack{roots: links[:1:1]}
}

func shortened(frames []StackFrame) []StackFrame {
	if len(frames) <= MaxStackDepth {
		return frames
	}
	const half = MaxStackDepth / 2
	out := slices.Clone(frames[:half])
	out = append(out, StackFrame{Func: "..."})
	return append(out, frames[len(frames)-half+1:]...)
}

func (f StackFrame) valid() StackFrame {
	for _, s := range []*string{&f.Func, &f.File, &f.Addr, &f.From, &f.Mark} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	f.Line = min(max(f.Line, 0), math.MaxInt32)
	return f
}

// compare is an order of frames: by text, as people look for them.
func (f *StackFrame) compare(g *StackFrame) int {
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

// Merge joins two trees; neither argument is changed; nil is the empty tree. It
// is associative and commutative to the byte of AppendWire. Threads add up, so
// no thread may be in both.
func (s *Stack) Merge(t *Stack) *Stack {
	switch {
	case s == nil:
		return t
	case t == nil:
		return s
	}
	return &Stack{roots: mergeNodes(s.roots, t.roots)}
}

// mergeNodes joins two lists of siblings.
func mergeNodes(a, b []*StackNode) []*StackNode { return pairwise(a, b, (*StackNode).merge) }

// pairwise joins two lists of siblings, and with join those that are in both. What
// is only in one of them is shared, not copied.
func pairwise(a, b []*StackNode, join func(n, m *StackNode) *StackNode) []*StackNode {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]*StackNode, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch order := a[0].Frame.compare(&b[0].Frame); {
		case order < 0:
			out, a = append(out, a[0]), a[1:]
		case order > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, join(a[0], b[0]))
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func (n *StackNode) merge(m *StackNode) *StackNode {
	return &StackNode{
		Frame:    n.Frame,
		Ranks:    n.Ranks.Union(m.Ranks),
		Threads:  n.Threads + m.Threads,
		children: mergeNodes(n.children, m.children),
	}
}

// Roots gives the outermost frames for people to read, in the order of
// Children. It gives none for nil.
func (s *Stack) Roots() []*StackNode {
	if s == nil {
		return nil
	}
	return forPeople(s.roots)
}

// Children gives the frames that were called from here for people to read: most
// ranks first, then the lowest rank, then by text.
func (n *StackNode) Children() []*StackNode { return forPeople(n.children) }

// Having gives the ranks with a frame that is wanted, in any thread. Nil has none.
func (s *Stack) Having(wanted func(StackFrame) bool) rank.Set {
	var in rank.Set
	if s == nil {
		return in
	}
	for _, n := range s.roots {
		in = in.Union(n.having(wanted))
	}
	return in
}

func (n *StackNode) having(wanted func(StackFrame) bool) rank.Set {
	if wanted(n.Frame) {
		return n.Ranks // whoever is below is here
	}
	var in rank.Set
	for _, c := range n.children {
		in = in.Union(c.having(wanted))
	}
	return in
}

// Here is how many threads have their innermost frame at this node.
func (n *StackNode) Here() int {
	here := n.Threads
	for _, c := range n.children {
		here -= c.Threads
	}
	return here
}

func forPeople(nodes []*StackNode) []*StackNode {
	if len(nodes) < 2 {
		return nodes
	}
	type keyed struct {
		node   *StackNode
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
	out := make([]*StackNode, len(all))
	for i, k := range all {
		out[i] = k.node
	}
	return out
}

// String gives the tree as one line for transcripts:
//
//	{main w.c:55 [0-7] {compute w.c:31 [0-2,4-7]} {compute w.c:29 [3]}}
func (s *Stack) String() string {
	var b strings.Builder
	for i, n := range s.Roots() {
		if i > 0 {
			b.WriteByte(' ')
		}
		n.writeTo(&b)
	}
	return b.String()
}

func (n *StackNode) writeTo(b *strings.Builder) {
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

// String gives the frame as people write it: "compute w.c:31".
func (f StackFrame) String() string {
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
