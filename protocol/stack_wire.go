// A stack tree as bytes.
//
//	stack = uvarint(n) n strings nodes
//	nodes = uvarint(n) n times: node
//	node  = uvarint each of func, file, line, addr, from, mark
//	        set uvarint(threads) nodes
//
// Texts stand once in front, in the order of their first use, and are named by
// their number from 1; 0 is the empty text.

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// stackWriter numbers the texts of a tree.
type stackWriter struct {
	texts   []string
	numbers map[string]uint64
	nodes   []byte
}

// AppendWire adds the bytes of the tree to b; nil is the empty tree.
func (s *Stack) AppendWire(b []byte) []byte {
	w := &stackWriter{numbers: map[string]uint64{"": 0}}
	if s != nil {
		w.add(s.roots)
	} else {
		w.add(nil)
	}
	b = binary.AppendUvarint(b, uint64(len(w.texts)))
	for _, text := range w.texts {
		b = appendString(b, text)
	}
	return append(b, w.nodes...)
}

func (w *stackWriter) add(nodes []*StackNode) {
	w.nodes = binary.AppendUvarint(w.nodes, uint64(len(nodes)))
	for _, n := range nodes {
		w.text(n.Frame.Func)
		w.text(n.Frame.File)
		w.nodes = binary.AppendUvarint(w.nodes, uint64(n.Frame.Line))
		w.text(n.Frame.Addr)
		w.text(n.Frame.From)
		w.text(n.Frame.Mark)
		w.nodes = n.Ranks.AppendWire(w.nodes)
		w.nodes = binary.AppendUvarint(w.nodes, uint64(n.Threads))
		w.add(n.children)
	}
}

func (w *stackWriter) text(s string) {
	number, ok := w.numbers[s]
	if !ok {
		w.texts = append(w.texts, s)
		number = uint64(len(w.texts))
		w.numbers[s] = number
	}
	w.nodes = binary.AppendUvarint(w.nodes, number)
}

// minNodeSize is the least that a node takes: six texts and numbers, a set of
// one rank, threads and the count of children. It bounds the nodes of a tree
// from outside by the bytes that came.
const minNodeSize = 6 + 3 + 1 + 1

// stackReader reads a tree; texts are those named so far.
type stackReader struct {
	reader
	texts []string
}

// DecodeStack reads one tree from the front of b and gives what follows it. It
// keeps no reference to b.
func DecodeStack(b []byte) (s *Stack, rest []byte, err error) {
	r := &stackReader{reader: reader{b: b}}
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail(errShort)
		n = 0
	}
	r.texts = make([]string, 1, n+1)
	for range n {
		text := r.string()
		if !utf8.ValidString(text) {
			r.fail(errors.New("a text is not UTF-8"))
		}
		r.texts = append(r.texts, text)
	}
	s = &Stack{roots: r.siblings(1)}
	if r.err != nil {
		return nil, nil, fmt.Errorf("stack: %w", r.err)
	}
	return s, r.b, nil
}

// siblings reads the nodes at one place; depth is theirs, from 1.
func (r *stackReader) siblings(depth int) []*StackNode {
	n := r.uvarint()
	if n > uint64(len(r.b))/minNodeSize {
		r.fail(errShort)
	}
	if n > 0 && depth > MaxStackDepth {
		r.fail(fmt.Errorf("deeper than %d frames", MaxStackDepth))
	}
	if r.err != nil || n == 0 {
		return nil
	}
	// Many levels may each announce many nodes: take memory for what came.
	nodes := make([]*StackNode, 0, min(n, 8))
	for range n {
		node := r.node(depth)
		if last := len(nodes) - 1; r.err == nil && last >= 0 && nodes[last].Frame.compare(&node.Frame) >= 0 {
			r.fail(errors.New("frames are out of order"))
		}
		if r.err != nil {
			return nil
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func (r *stackReader) node(depth int) *StackNode {
	n := new(StackNode)
	n.Frame.Func = r.text()
	n.Frame.File = r.text()
	n.Frame.Line = r.number("line", math.MaxInt32)
	n.Frame.Addr = r.text()
	n.Frame.From = r.text()
	n.Frame.Mark = r.text()
	n.Ranks = r.ranks()
	n.Threads = r.number("count of threads", maxCount)
	n.children = r.siblings(depth + 1)
	return n
}

func (r *stackReader) text() string {
	if i := r.uvarint(); i < uint64(len(r.texts)) {
		return r.texts[i]
	}
	r.fail(errors.New("a text is missing"))
	return ""
}
