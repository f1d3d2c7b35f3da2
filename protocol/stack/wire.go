// Encoding of a tree.
//
//	stack = uvarint(n) uvarint(bytes) n frames [nodes]
//	frame = text text uvarint(line) text text text text
//	        of func, file, line, addr, from, call, mark; ascending
//	text  = 0                        the same as in the frame before, or empty
//	      | uvarint(length+1) bytes
//	nodes = node [nodes]             siblings ascend by frame
//	node  = uvarint(frame<<4 | bits) [set] [threads] [nodes]
//	threads = uvarint(each)          of every rank
//	        | 0 uvarint(k) k parts   k is 2 or more, parts ascend
//	part  = uvarint(each) set
//
// Bytes is the size of the frames; without frames there are no nodes. Bits of a node: 0: the set
// equals the parent's and is omitted. 1: so are the threads. Both are set along a branch that does
// not fork. 2: there are nodes below. 3: a sibling follows. The encoding of a tree is unique, and
// other encodings are refused: equal trees are equal bytes.

package stack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

const (
	sameRanks   = 1 << 0
	sameThreads = 1 << 1
	nodesBelow  = 1 << 2
	moreNodes   = 1 << 3
	nodeBits    = 4
)

// AppendWire appends the encoding of the tree to b; nil is the empty tree.
func (s *Tree) AppendWire(b []byte) []byte {
	if s.isEmpty() {
		return append(b, 0, 0)
	}
	b = binary.AppendUvarint(b, uint64(s.count))
	b = binary.AppendUvarint(b, uint64(len(s.frames)))
	b = append(b, s.frames...)
	return append(b, s.nodes...)
}

func (f *Frame) appendWire(b []byte, before *Frame) []byte {
	b = appendText(b, f.Func, before.Func)
	b = appendText(b, f.File, before.File)
	b = binary.AppendUvarint(b, uint64(f.Line))
	b = appendText(b, f.Addr, before.Addr)
	b = appendText(b, f.From, before.From)
	b = appendText(b, f.Call, before.Call)
	return appendText(b, f.Mark, before.Mark)
}

func appendText(b []byte, text, before string) []byte {
	if text == before {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(text))+1), text...)
}

// entry is an encoded node.
type entry struct {
	ranks       rank.Set
	threads     counts
	frame       int
	below, more bool // whether children, and siblings, follow
}

// appendWire encodes the node without its subtree; above is its parent.
func (e *entry) appendWire(b []byte, above *entry) []byte {
	head := uint64(e.frame) << nodeBits
	same := e.ranks.Equal(above.ranks)
	if same {
		head |= sameRanks
	}
	sameCount := e.threads.each == above.threads.each && (e.threads.each != 0 || same && e.threads.is(above.threads))
	if sameCount {
		head |= sameThreads
	}
	if e.below {
		head |= nodesBelow
	}
	if e.more {
		head |= moreNodes
	}
	b = binary.AppendUvarint(b, head)
	if !same {
		b = e.ranks.AppendWire(b)
	}
	if sameCount {
		return b
	}
	return e.threads.appendWire(b)
}

func (c counts) appendWire(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.each))
	if c.each != 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(c.parts())))
	for _, p := range c.parts() {
		b = p.Ranks.AppendWire(binary.AppendUvarint(b, uint64(p.Threads)))
	}
	return b
}

// nodeCursor decodes nodes sequentially.
type nodeCursor struct {
	decode.Reader
	to []uint32 // frame i is returned as to[i]; nil: unchanged
}

// next decodes one node; above is its parent.
func (c *nodeCursor) next(above *entry) entry {
	head := c.Uvarint()
	e := entry{frame: int(head >> nodeBits), below: head&nodesBelow != 0, more: head&moreNodes != 0}
	if e.ranks = above.ranks; head&sameRanks == 0 {
		e.ranks = c.Ranks()
	}
	if e.threads = above.threads; head&sameThreads == 0 {
		e.threads = c.counts()
	}
	if c.to != nil {
		e.frame = int(c.to[e.frame])
	}
	return e
}

// counts decodes numbers of threads. They may be invalid.
func (c *nodeCursor) counts() (out counts) {
	const number = "count of threads"
	if out.each = c.Number(number, decode.MaxCount); out.each != 0 {
		return out
	}
	n := c.Number(number, decode.MaxCount)
	if n > len(c.Rest)/2 { // a part has at least two bytes
		c.Fail(decode.ErrShort)
		return out
	}
	parts := make([]Count, n)
	for i := range parts {
		parts[i].Threads = c.Number(number, decode.MaxCount)
		parts[i].Ranks = c.Ranks()
	}
	out.more = &parts
	return out
}

const (
	// minFrameSize is the minimum size of a frame. It bounds the number of frames
	// in received bytes.
	minFrameSize = 7
	// maxNodes bounds the memory of a received tree that is decoded: 64 bytes for
	// each node.
	maxNodes = 1 << 22
)

// Decode decodes one tree from the front of b and returns the remaining bytes. The
// tree refers to b, which must not be modified.
func Decode(b []byte) (s *Tree, rest []byte, err error) {
	r := &checker{}
	r.Rest = b
	s = &Tree{}
	n, length := r.Uvarint(), r.Uvarint()
	head := len(b) - len(r.Rest)
	frames := r.Take(length)
	if n > uint64(len(frames))/minFrameSize {
		r.Fail(decode.ErrShort)
	}
	if r.again = binary.AppendUvarint(binary.AppendUvarint(r.again, n), length); r.Err == nil && len(r.again) != head {
		r.Fail(errLong)
	}
	if r.Err == nil {
		s.count, s.frames = int(n), string(frames)
		if err := s.checkFrames(); err != nil {
			r.Fail(err)
		}
	}
	if r.Err == nil && n > 0 {
		r.used = make([]bool, n)
		s.nodes = r.Rest
		r.siblings(1, &entry{})
		end := len(s.nodes) - len(r.Rest)
		s.nodes = s.nodes[:end:end]
		if slices.Contains(r.used, false) {
			r.Fail(errors.New("a frame has no node"))
		}
	}
	if r.Err != nil {
		return nil, nil, fmt.Errorf("stack: %w", r.Err)
	}
	return s, r.Rest, nil
}

// frameCursor decodes frames sequentially.
type frameCursor struct {
	textReader
	left int
	now  Frame
}

func (s *Tree) frameCursor() *frameCursor {
	return &frameCursor{textReader: textReader{rest: s.frames}, left: s.count}
}

// next decodes one frame; false if there is none.
func (c *frameCursor) next() bool {
	if c.left == 0 {
		return false
	}
	c.left--
	f := &c.now
	f.Func, f.File = c.text(f.Func), c.text(f.File)
	f.Line = c.line()
	f.Addr, f.From, f.Call, f.Mark = c.text(f.Addr), c.text(f.From), c.text(f.Call), c.text(f.Mark)
	return true
}

// checkFrames validates all frames, once.
func (s *Tree) checkFrames() error {
	c := s.frameCursor()
	var before Frame
	for i := 0; c.next(); i++ {
		if i > 0 && before.compare(&c.now) >= 0 {
			c.fail(errors.New("frames are out of order"))
		}
		before = c.now
	}
	if c.rest != "" {
		c.fail(errors.New("bytes after the frames"))
	}
	return c.err
}

// errLong is the error for an encoding that is not the canonical one.
var errLong = errors.New("not in canonical form")

// textReader decodes values from a string, as decode.Reader does from bytes.
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
			if c == 0 && i > 0 {
				t.fail(errLong)
			}
			return v
		}
	}
	t.fail(decode.ErrShort)
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
		t.fail(decode.ErrShort)
		return ""
	}
	text := t.rest[:n]
	t.rest = t.rest[n:]
	if text == before {
		t.fail(errLong)
	}
	if !utf8.ValidString(text) {
		t.fail(errors.New("a text is not UTF-8"))
	}
	return text
}

// checker validates the nodes of a received tree.
type checker struct {
	nodeCursor
	used  []bool // frames that a node has
	nodes int    // number of nodes so far
	again []byte // encoding of the current node, to compare
}

// siblings validates siblings; depth is theirs, from 1.
func (r *checker) siblings(depth int, above *entry) {
	if depth > MaxDepth {
		r.Fail(fmt.Errorf("deeper than %d frames", MaxDepth))
	}
	e := entry{frame: -1, more: true}
	for e.more && r.Err == nil {
		last := e.frame
		e = r.node(above)
		switch {
		case r.Err != nil:
			return
		case e.frame <= last:
			r.Fail(errors.New("frames are out of order"))
		case e.below:
			r.siblings(depth+1, &e)
		}
	}
}

// node decodes and validates one node.
func (r *checker) node(above *entry) entry {
	before := r.Rest
	e := r.next(above)
	r.nodes++
	switch {
	case r.Err != nil:
		return e
	case e.frame >= len(r.used):
		r.Fail(errors.New("a frame is missing"))
		return e
	case e.ranks.IsEmpty():
		r.Fail(errors.New("a rank set is empty"))
	case !e.threads.valid(e.ranks):
		r.Fail(errors.New("threads are not those of the ranks"))
	case r.nodes > maxNodes:
		r.Fail(fmt.Errorf("more than %d nodes", maxNodes))
	}
	if r.again = e.appendWire(r.again[:0], above); r.Err == nil &&
		!bytes.Equal(r.again, before[:len(before)-len(r.Rest)]) {
		r.Fail(errLong)
	}
	r.used[e.frame] = true
	return e
}
