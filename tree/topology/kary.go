// The K-ary tree, numbered in preorder: what is below a vertex is split into K
// parts as equal as can be, the larger ones first. No tree of so many vertices
// with at most K children each is lower. The flat tree is one with enough K.

package topology

// place is where a vertex of a K-ary tree was found.
type place struct {
	parent NodeID
	depth  int
	count  int // vertices of its subtree
}

// descend walks from the root to v.
func (s Shape) descend(v NodeID) place {
	at, p := NodeID(0), place{count: s.size + 1}
	for at != v {
		p.parent, p.depth = at, p.depth+1
		at, p.count = s.part(at+1, p.count-1, v)
	}
	return p
}

// part finds, among the parts of count vertices from first on, the one that
// holds v, and gives its first vertex and its size.
func (s Shape) part(first NodeID, count int, v NodeID) (NodeID, int) {
	small, larger := count/s.arity, NodeID(count%s.arity)
	large := NodeID(small + 1)
	if i := (v - first) / large; i < larger {
		return first + i*large, small + 1
	}
	first += larger * large // small is not 0: there would be no v
	i := (v - first) / NodeID(small)
	return first + i*NodeID(small), small
}

// parts gives the first vertex of each part below v.
func (s Shape) parts(v NodeID) []NodeID {
	count := s.descend(v).count - 1
	list := make([]NodeID, 0, min(count, s.arity))
	for next, last := v+1, v+NodeID(count); next <= last; {
		list = append(list, next)
		_, size := s.part(v+1, count, next)
		next += NodeID(size)
	}
	return list
}
