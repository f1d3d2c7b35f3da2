// Merging of many equal groups.

package aggregate

import "sdm/protocol"

// carry holds groups that are equal to a representative group and are merged into
// it later. Groups with adjacent ranks are merged first: they come from
// neighbouring subtrees, so their rank sets are contiguous or continue each other's
// pattern, and unions of fragmented sets are avoided. The parts are like the digits
// of a number in a positional system: base parts of the same size are merged into
// one. So each part is copied a few times only and not once for each later group.
// The zero value is empty.
type carry struct {
	parts []protocol.Group
	sizes []int // number of groups in each part; descending
}

// base is the number of parts of one size that are merged into one.
const base = 16

// add adds a group.
func (c *carry) add(g *protocol.Group) {
	c.parts, c.sizes = append(c.parts, *g), append(c.sizes, 1)
	for n := len(c.sizes) - base; n >= 0 && c.sizes[n] == c.sizes[len(c.sizes)-1]; n = len(c.sizes) - base {
		c.parts[n] = mergeAll(c.parts[n:])
		clear(c.parts[n+1:])
		c.sizes[n] *= base
		c.parts, c.sizes = c.parts[:n+1], c.sizes[:n+1]
	}
}

// mergeInto merges all parts into the representative and removes them.
func (c *carry) mergeInto(first *protocol.Group) {
	if len(c.parts) > 0 {
		*first = mergeAll(append(c.parts, *first))
		c.parts, c.sizes = nil, nil
	}
}

// mergeAll merges parts, at least one, adjacent ranks first. It overwrites the
// list.
func mergeAll(parts []protocol.Group) protocol.Group {
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
