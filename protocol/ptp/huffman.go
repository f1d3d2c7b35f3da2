// Compression of bodies: Eclipse compresses commands of more than 100 bytes.

package ptp

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	symbols = 256
	// tableSize is the size of a frequency table in bytes: a 32-bit number for each
	// symbol.
	tableSize = symbols * 4
)

// huffman is a code as a tree: nodes[i] are the two successors of node i. A
// successor below symbols is a leaf.
type huffman struct {
	nodes [symbols - 1][2]int16
	root  int16
}

// counted is a leaf or a node during construction of the tree.
type counted struct {
	freq int64
	ref  int16 // a symbol, or symbols + the number of a node
}

// newHuffman builds the tree as both ends of the original do. It differs from
// Huffman's algorithm: among equal and almost equal weights it selects the same
// ones as the original. Otherwise nothing could be decoded.
func newHuffman(freq *[symbols]int32) *huffman {
	h := &huffman{}
	var sorted, made []counted // queues
	for s, f := range freq {
		sorted = append(sorted, counted{int64(f), int16(s)})
	}
	slices.SortStableFunc(sorted, func(a, b counted) int { return int(min(max(a.freq-b.freq, -1), 1)) })
	for i := range h.nodes {
		var first, second counted
		first, second, sorted, made = lightest(sorted, made)
		h.nodes[i] = [2]int16{first.ref, second.ref}
		sum := counted{first.freq + second.freq, int16(symbols + i)}
		if len(sorted) == 0 || sum.freq > sorted[len(sorted)-1].freq {
			sorted = append(sorted, sum)
		} else {
			made = append(made, sum)
		}
		h.root = sum.ref
	}
	return h
}

// lightest removes the next two from two queues, which contain at least two.
func lightest(a, b []counted) (first, second counted, restA, restB []counted) {
	switch {
	case len(b) == 0:
		return a[0], a[1], a[2:], b
	case len(a) == 0:
		return b[0], b[1], a, b[2:]
	case a[0].freq < b[0].freq:
		if len(a) > 1 && b[0].freq > a[1].freq {
			return a[0], a[1], a[2:], b
		}
		return a[0], b[0], a[1:], b[1:]
	}
	if len(b) > 1 && a[0].freq > b[1].freq {
		return b[0], b[1], a, b[2:]
	}
	return b[0], a[0], a[1:], b[1:]
}

// inflate decodes the payload of a compressed body.
func (d *Decoder) inflate(b []byte, table bool) ([]byte, error) {
	if len(b) < 4 {
		return nil, errShort
	}
	length := binary.BigEndian.Uint32(b)
	b = b[4:]
	var freq [symbols]int32
	switch {
	case table && len(b) < tableSize:
		return nil, errShort
	case table:
		for i := range freq {
			freq[i] = int32(binary.BigEndian.Uint32(b[4*i:]))
		}
		b = b[tableSize:]
		d.tree = newHuffman(&freq)
	case d.tree == nil:
		for i := range freq {
			freq[i] = 1
		}
		d.tree = newHuffman(&freq)
	}
	if length > MaxBody || uint64(length) > 8*uint64(len(b)) { // a symbol takes at least a bit
		return nil, fmt.Errorf("%d bytes are said to be in %d compressed ones", length, len(b))
	}
	return d.tree.decode(b, int(length))
}

// decode decodes n symbols. The lowest bit of each byte is the first.
func (h *huffman) decode(b []byte, n int) ([]byte, error) {
	out := make([]byte, 0, n)
	at := h.root
	for _, c := range b {
		for range 8 {
			at = h.nodes[at-symbols][c&1]
			c >>= 1
			if at >= symbols {
				continue
			}
			if out = append(out, byte(at)); len(out) == n {
				return out, nil
			}
			at = h.root
		}
	}
	if n == 0 {
		return out, nil
	}
	return nil, errShort
}
