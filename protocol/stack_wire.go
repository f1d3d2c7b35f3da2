// A stack tree as bytes.
//
//	stack = uvarint(n) uvarint(bytes) n frames uvarint(all) uvarint(n) n nodes
//	frame = text text uvarint(line) text text text
//	        of func, file, line, addr, from, mark; ascending
//	text  = 0                        the same as in the frame before, or empty
//	      | uvarint(length+1) bytes
//	node  = uvarint(frame<<2 | same) [set] [uvarint(threads)] uvarint(n) n nodes
//
// Bytes is what the frames take, all is how many nodes there are at all places. Bit 0 of same: the set is that of the node above and is left out. Bit 1: so are
// the threads. Down a branch that does not fork, both are: a node takes two bytes.
// Siblings ascend. The bytes depend on the tree alone.

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"sdm/protocol/rank"
)

const (
	sameRanks   = 1 << 0
	sameThreads = 1 << 1
)

// AppendWire adds the bytes of the tree to b; nil is the empty tree.
func (s *Stack) AppendWire(b []byte) []byte {
	frames, nodes := s.top()
	b = binary.AppendUvarint(b, uint64(len(frames)))
	b = appendFrames(b, frames)
	b = binary.AppendUvarint(b, uint64(len(nodes)))
	return appendNodes(b, nodes, 0, len(nodes), &stackNode{})
}

// appendFrames writes the frames behind their length, for which two bytes are most
// likely right.
func appendFrames(b []byte, frames []*StackFrame) []byte {
	start := len(b)
	b = append(b, 0, 0)
	before := &StackFrame{}
	for _, f := range frames {
		b = appendText(b, f.Func, before.Func)
		b = appendText(b, f.File, before.File)
		b = binary.AppendUvarint(b, uint64(f.Line))
		b = appendText(b, f.Addr, before.Addr)
		b = appendText(b, f.From, before.From)
		b = appendText(b, f.Mark, before.Mark)
		before = f
	}
	var room [binary.MaxVarintLen64]byte
	length := binary.AppendUvarint(room[:0], uint64(len(b)-start-2))
	return slices.Replace(b, start, start+2, length...)
}

func appendText(b []byte, text, before string) []byte {
	if text == before {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(text))+1), text...)
}

// appendNodes writes siblings, which are the nodes from at to end with all that is
// below them.
func appendNodes(b []byte, nodes []stackNode, at, end int, above *stackNode) []byte {
	count := 0
	for i := at; i < end; i = int(nodes[i].end) {
		count++
	}
	b = binary.AppendUvarint(b, uint64(count))
	for i := at; i < end; i = int(nodes[i].end) {
		n := &nodes[i]
		same := uint64(0)
		if n.ranks.Is(above.ranks) || n.ranks.Equal(above.ranks) {
			same |= sameRanks
		}
		if n.threads == above.threads {
			same |= sameThreads
		}
		b = binary.AppendUvarint(b, uint64(n.frame)<<2|same)
		if same&sameRanks == 0 {
			b = n.ranks.AppendWire(b)
		}
		if same&sameThreads == 0 {
			b = binary.AppendUvarint(b, uint64(n.threads))
		}
		b = appendNodes(b, nodes, i+1, int(n.end), n)
	}
	return b
}

const (
	// minFrameSize and minNodeSize are the least that one of these takes. They
	// bound how many are believed by the bytes that came.
	minFrameSize = 6
	minNodeSize  = 2
	// maxStackNodes bounds the memory of a tree from outside: 40 bytes each.
	maxStackNodes = 1 << 22
)

// stackReader reads a tree.
type stackReader struct {
	reader
	treeBuilder
}

// DecodeStack reads one tree from the front of b and gives what follows it. It
// keeps no reference to b.
func DecodeStack(b []byte) (s *Stack, rest []byte, err error) {
	r := &stackReader{reader: reader{b: b}}
	r.readFrames()
	r.readNodes()
	if r.err == nil && slices.Contains(r.used(), false) {
		r.fail(errors.New("a frame has no node"))
	}
	if r.err != nil {
		return nil, nil, fmt.Errorf("stack: %w", r.err)
	}
	return &Stack{r.frames, r.nodes}, r.b, nil
}

// readFrames reads the list of frames. Their texts are parts of one.
func (r *stackReader) readFrames() {
	n := r.uvarint()
	bytes := r.take(r.uvarint())
	if n > uint64(len(bytes))/minFrameSize {
		r.fail(errShort)
	}
	if r.err != nil {
		return
	}
	t := textReader{rest: string(bytes)}
	list := make([]StackFrame, n)
	r.frames = make([]*StackFrame, n)
	before := &StackFrame{}
	for i := range list {
		f := &list[i]
		f.Func, f.File = t.text(before.Func), t.text(before.File)
		f.Line = t.line()
		f.Addr, f.From, f.Mark = t.text(before.Addr), t.text(before.From), t.text(before.Mark)
		if i > 0 && before.compare(f) >= 0 {
			t.fail(errors.New("frames are out of order"))
		}
		r.frames[i], before = f, f
	}
	if t.rest != "" {
		t.fail(errors.New("bytes after the frames"))
	}
	if t.err != nil {
		r.fail(t.err)
	}
}

// textReader takes values from the front of a text, as reader does.
type textReader struct {
	rest string
	err  error
}

func (t *textReader) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.rest = ""
}

func (t *textReader) uvarint() uint64 {
	v := uint64(0)
	for i := range len(t.rest) {
		c := t.rest[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break
		}
		if v |= uint64(c&0x7f) << (7 * i); c < 0x80 {
			t.rest = t.rest[i+1:]
			return v
		}
	}
	t.fail(errShort)
	return 0
}

func (t *textReader) line() int {
	n := t.uvarint()
	if n > math.MaxInt32 {
		t.fail(fmt.Errorf("line is %d, more than %d", n, math.MaxInt32))
		return 0
	}
	return int(n)
}

func (t *textReader) text(before string) string {
	n := t.uvarint()
	if n == 0 {
		return before
	}
	if n--; n > uint64(len(t.rest)) {
		t.fail(errShort)
		return ""
	}
	text := t.rest[:n]
	t.rest = t.rest[n:]
	if !utf8.ValidString(text) {
		t.fail(errors.New("a text is not UTF-8"))
	}
	return text
}

// readNodes reads all nodes.
func (r *stackReader) readNodes() {
	n := r.uvarint()
	switch {
	case n > uint64(len(r.b))/minNodeSize:
		r.fail(errShort)
	case n > maxStackNodes:
		r.fail(fmt.Errorf("%d nodes, more than %d", n, maxStackNodes))
	}
	if r.err != nil {
		return
	}
	r.nodes = make([]stackNode, 0, n)
	r.siblings(1, rank.Set{}, 0)
	if r.err == nil && len(r.nodes) < cap(r.nodes) {
		r.fail(errors.New("nodes are missing"))
	}
}

// siblings reads the nodes at one place; depth is theirs, from 1, and above are the
// ranks and threads of their parent.
func (r *stackReader) siblings(depth int, above rank.Set, threads int) {
	n := r.uvarint()
	if n > 0 && depth > MaxStackDepth {
		r.fail(fmt.Errorf("deeper than %d frames", MaxStackDepth))
	}
	last := -1
	for ; n > 0 && r.err == nil; n-- {
		at := r.node(above, threads)
		if r.err != nil {
			return
		}
		if frame := int(r.nodes[at].frame); frame > last {
			last = frame
		} else {
			r.fail(errors.New("frames are out of order"))
		}
		r.siblings(depth+1, r.nodes[at].ranks, r.nodes[at].threads)
		r.close(at)
	}
}

// node reads one node without those below it.
func (r *stackReader) node(ranks rank.Set, threads int) (at int) {
	head := r.uvarint()
	switch frame := head >> 2; {
	case r.err == nil && frame >= uint64(len(r.frames)):
		r.fail(errors.New("a frame is missing"))
	case len(r.nodes) == cap(r.nodes):
		r.fail(errors.New("more nodes than there are"))
	}
	if head&sameRanks == 0 {
		ranks = r.ranks()
	}
	if head&sameThreads == 0 {
		threads = r.number("count of threads", maxCount)
	}
	if r.err == nil && ranks.IsEmpty() {
		r.fail(errors.New("a rank set is empty"))
	}
	if r.err != nil {
		return -1
	}
	return r.open(uint32(head>>2), ranks, threads)
}
