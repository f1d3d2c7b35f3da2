// Package topology computes the shape of the tree: parent, children, subtree.
//
// In every shape, vertices are numbered in preorder: the subtree of v consists of v
// and the numbers that follow it. Routing is then an interval test, and the servers
// below a vertex are a single range. Everything is computed from the number, in at
// most as many steps as the tree is high; nothing is stored.
package topology

import (
	"fmt"
	"slices"
	"strconv"
)

// NodeID is a vertex of the tree: 0 is the root.
type NodeID int

// MaxSize is the maximum number of servers of a shape. It equals the maximum number
// of ranks in a set, because a server without ranks is of no use.
const MaxSize = 1 << 24

// Shape is the shape of a tree with vertices 0..Size. The zero value is not usable;
// ParseShape makes one. A Shape is a value and may be compared.
type Shape struct {
	size  int // servers
	arity int // K, or one of the constants below
}

const (
	binomial = 0
	flat     = MaxSize
)

// ParseShape parses "binomial", "flat" or a number K (K-ary), for size servers. Its
// errors list the valid texts.
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

// String returns the text that ParseShape parses.
func (s Shape) String() string {
	switch s.arity {
	case binomial:
		return "binomial"
	case flat:
		return "flat"
	}
	return strconv.Itoa(s.arity)
}

// Size returns the number of servers: vertices without the root.
func (s Shape) Size() int { return s.size }

// Contains reports whether v is a vertex of the tree. All other methods panic if
// their argument is not a vertex.
func (s Shape) Contains(v NodeID) bool { return v >= 0 && int(v) <= s.size }

func (s Shape) check(v NodeID) {
	if !s.Contains(v) {
		panic(fmt.Sprintf("topology: vertex %d is not in a tree of %d servers", v, s.size))
	}
}

// Parent returns the parent of v; false at the root.
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

// Subtree returns the first and last vertex of the subtree of v. All numbers
// between them belong to it, and the first is v.
func (s Shape) Subtree(v NodeID) (first, last NodeID) {
	s.check(v)
	if s.arity == binomial {
		return v, s.clip(v, s.span(v))
	}
	p := s.descend(v)
	return v, v + NodeID(p.count) - 1
}

// Children returns the children of v, those with the largest subtree first, and
// among equals the lower number first.
//
// Packets are sent in this order: the largest subtree already works while the
// sender is still busy with the small ones.
func (s Shape) Children(v NodeID) []NodeID {
	s.check(v)
	if s.arity != binomial {
		return s.childSubtrees(v)
	}
	var list []NodeID
	for bit := NodeID(1); bit < s.span(v) && v+bit <= NodeID(s.size); bit <<= 1 {
		list = append(list, v+bit)
	}
	slices.Reverse(list)
	// Only the subtree of the highest number can be incomplete.
	slices.SortStableFunc(list, func(a, b NodeID) int {
		if d := s.count(b) - s.count(a); d != 0 {
			return d
		}
		return int(a - b)
	})
	return list
}

// Depth returns the number of edges from the root to v.
func (s Shape) Depth(v NodeID) int {
	s.check(v)
	if s.arity == binomial {
		return onesCount(v)
	}
	return s.descend(v).depth
}

// Height returns the number of edges from v to the deepest vertex below it.
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

// count returns the number of vertices in the subtree of v.
func (s Shape) count(v NodeID) int {
	first, last := s.Subtree(v)
	return int(last-first) + 1
}
