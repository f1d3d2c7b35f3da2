// The binomial tree: the parent of v clears the lowest set bit of v.
//
//	0 ── 1        the children of v are v+1, v+2, v+4, … below its lowest set
//	├─── 2 ── 3   bit; the subtree of v ends before v + that bit
//	└─── 4 ── 5
//	     └─── 6 ── 7
//
// As SDM does in sdm_route_tree.c, except that it clears the highest bit, which
// scatters the subtrees.

package topology

import "math/bits"

func lowBit(v NodeID) NodeID { return v & -v }

func onesCount(v NodeID) int { return bits.OnesCount(uint(v)) }

// span is how many numbers belong to the subtree of v in a tree without end.
func (s Shape) span(v NodeID) NodeID {
	if v == 0 {
		return 2 * MaxSize
	}
	return lowBit(v)
}

// clip gives the last of span numbers from v that is still in the tree.
func (s Shape) clip(v, span NodeID) NodeID {
	return min(v+span-1, NodeID(s.size))
}

// binomialHeight counts the most bits that a number of the subtree has. Seen from
// v these are the numbers 0..m: either m itself has the most, or the highest one
// below m that is all ones.
func (s Shape) binomialHeight(v NodeID) int {
	m := s.clip(v, s.span(v)) - v
	return max(onesCount(m), bits.Len(uint(m+1))-1)
}
