// The binomial tree: the parent of v is v with its lowest set bit cleared.
//
//	0 ── 1        the children of v are v+1, v+2, v+4, … below its lowest set
//	├─── 2 ── 3   bit; the subtree of v ends before v + that bit
//	└─── 4 ── 5
//	     └─── 6 ── 7
//
// SDM's sdm_route_tree.c does the same with the highest bit, which makes subtrees
// non-contiguous.

package topology

import "math/bits"

func lowBit(v NodeID) NodeID { return v & -v }

func onesCount(v NodeID) int { return bits.OnesCount(uint(v)) }

// span returns the size of the subtree of v in an unlimited tree.
func (s Shape) span(v NodeID) NodeID {
	if v == 0 {
		return 2 * MaxSize
	}
	return lowBit(v)
}

// clip returns the last of span numbers from v that is in the tree.
func (s Shape) clip(v, span NodeID) NodeID {
	return min(v+span-1, NodeID(s.size))
}

// binomialHeight returns the largest number of set bits of a number in the subtree.
// Relative to v these are the numbers 0..m: m itself has the most set bits, or the highest number
// up to m whose bits are all ones.
func (s Shape) binomialHeight(v NodeID) int {
	m := s.clip(v, s.span(v)) - v
	return max(onesCount(m), bits.Len(uint(m+1))-1)
}
