// Joining many groups that are equal, as a counter counts.

package aggregate

import "sdm/protocol"

// carry holds groups that are equal to one which stands for all, and are joined to it
// later. Neighbours by rank are joined first, as they come from neighbouring subtrees:
// their rank sets touch or carry on where the other ends, and what a set in pieces
// costs is not paid for. Sixteen that as many were joined to become one, so that each
// part is copied a few times and not once for each that comes after it. The zero value
// has none.
type carry struct {
	parts []protocol.Group
	sizes []int // of parts: how many were joined to each; descending
}

// most is how many parts of a size are held.
const most = 16

// add takes in one more.
func (c *carry) add(g *protocol.Group) {
	c.parts, c.sizes = append(c.parts, *g), append(c.sizes, 1)
	for n := len(c.sizes) - most; n >= 0 && c.sizes[n] == c.sizes[len(c.sizes)-1]; n = len(c.sizes) - most {
		c.parts[n] = together(c.parts[n:])
		clear(c.parts[n+1:])
		c.sizes[n] *= most
		c.parts, c.sizes = c.parts[:n+1], c.sizes[:n+1]
	}
}

// settle joins all to the one that stands for them.
func (c *carry) settle(first *protocol.Group) {
	if len(c.parts) > 0 {
		*first = together(append(c.parts, *first))
		c.parts, c.sizes = nil, nil
	}
}

// together joins parts, at least one, neighbours first. It uses up the list.
func together(parts []protocol.Group) protocol.Group {
	Sort(parts)
	for len(parts) > 1 {
		n := 0
		for i := 0; i < len(parts); i += 2 {
			if i+1 < len(parts) {
				merge(&parts[i], &parts[i+1])
			}
			parts[n] = parts[i]
			n++
		}
		parts = parts[:n]
	}
	return parts[0]
}
