// Package topology provides the shape of the tree: parent, children, subtree.
//
// Whatever the shape, vertices are numbered in preorder: the subtree of v is v
// and the numbers right behind it. Routing is then an interval test, and a set
// of servers below one vertex is a single range. Everything is computed from the
// number, in steps no more than the tree is high; nothing is stored.
package topology

import (
	"fmt"
	"slices"
	"strconv"
)

// NodeID is a vertex of the tree: 0 is the root.
type NodeID int

// MaxSize is the highest number of servers that a shape is made for. It is the
// number of ranks that a set may hold: more servers would have nothing to do.
const MaxSize = 1 << 24

// Shape is the shape of a tree over vertices 0..Size. The zero value is not
// usable: ParseShape makes one. A Shape is a value and may be compared.
type Shape struct {
	size  int // servers
	arity int // 0 is binomial, flat is an arity of its own
}

const (
	binomial = 0
	flat     = MaxSize
)

// ParseShape reads "binomial", "flat" or a number K (K-ary), for size servers.
// The errors say what may be written instead.
func ParseShape(text string, size int) (Shape, error) {
	if size < 0 || size > MaxSize {
		return Shape{}, fmt.Errorf("a tree of %d servers is out of bounds (0 to %d)", size, MaxSize)
	}
	switch text {
	case "binomial":
		return Shape{size, binomial}, nil
	case "flat":
		return Shape{size, flat}, nil
	}
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 || k >= MaxSize {
		return Shape{}, fmt.Errorf("tree shape %q is not known (binomial, flat, or a number of children from 1)", text)
	}
	return Shape{size, k}, nil
}

// String gives the text that ParseShape reads.
func (s Shape) String() string {
	switch s.arity {
	case binomial:
		return "binomial"
	case flat:
		return "flat"
	}
	return strconv.Itoa(s.arity)
}

// Size is the number of servers: vertices without the root.
func (s Shape) Size() int { return s.size }

// Contains tells whether v is a vertex of the tree; any number may be asked for.
// The other methods want a vertex and panic on anything else.
func (s Shape) Contains(v NodeID) bool { return v >= 0 && int(v) <= s.size }

func (s Shape) check(v NodeID) {
	if !s.Contains(v) {
		panic(fmt.Sprintf("topology: vertex %d is not in a tree of %d servers", v, s.size))
	}
}

// Parent gives the vertex above v; false at the root.
func (s Shape) Parent(v NodeID) (NodeID, bool) {
	s.check(v)
	if v == 0 {
		return 0, false
	}
	if s.arity == binomial {
		return v &^ lowBit(v), true
	}
	return s.descend(v).parent, true
}

// Subtree gives the first and last vertex of the subtree of v, which is all the
// vertices between them. The first is v itself.
func (s Shape) Subtree(v NodeID) (first, last NodeID) {
	s.check(v)
	if s.arity == binomial {
		return v, s.clip(v, s.span(v))
	}
	p := s.descend(v)
	return v, v + NodeID(p.count) - 1
}

// Children gives the vertices right below v, those with the largest subtree
// first, and of equals the lower number first.
//
// That is the order to send in: while the sender is still busy with the small
// subtrees, the large one works already.
func (s Shape) Children(v NodeID) []NodeID {
	s.check(v)
	if s.arity != binomial {
		return s.parts(v)
	}
	var list []NodeID
	for bit := NodeID(1); bit < s.span(v) && v+bit <= NodeID(s.size); bit <<= 1 {
		list = append(list, v+bit)
	}
	slices.Reverse(list)
	// Only the subtree of the highest number can be cut short by the size.
	slices.SortStableFunc(list, func(a, b NodeID) int {
		if d := s.count(b) - s.count(a); d != 0 {
			return d
		}
		return int(a - b)
	})
	return list
}

// Depth counts the edges from the root to v.
func (s Shape) Depth(v NodeID) int {
	s.check(v)
	if s.arity == binomial {
		return onesCount(v)
	}
	return s.descend(v).depth
}

// Height counts the edges from v down to the deepest vertex below it.
func (s Shape) Height(v NodeID) int {
	s.check(v)
	if s.arity == binomial {
		return s.binomialHeight(v)
	}
	height := 0
	for n := s.descend(v).count; n > 1; height++ {
		n = (n - 1 + s.arity - 1) / s.arity // the first part is the largest
	}
	return height
}

// count is the number of vertices in the subtree of v.
func (s Shape) count(v NodeID) int {
	first, last := s.Subtree(v)
	return int(last-first) + 1
}
