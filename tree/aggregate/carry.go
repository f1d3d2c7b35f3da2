// Joining many groups that are equal, as a counter counts.

package aggregate

import "sdm/protocol"

// carry holds groups that are equal to one which lies below them, and are joined
// to it later: those of as many parts first, so that each part is copied once for
// each doubling and not once for each that comes after it. Sixty-four answers with
// values of their own are joined in half of the time. The zero value has none.
type carry struct {
	bottom int // parts of the one below, less 1
	parts  []protocol.Group
	sizes  []int // of parts: how many were joined to each; descending
}

// add takes in one more.
func (c *carry) add(below *protocol.Group, g *protocol.Group) {
	c.parts, c.sizes = append(c.parts, *g), append(c.sizes, 1)
	for n := len(c.sizes); n > 0 && c.under(n) <= c.sizes[n-1]; n-- {
		c.join(below)
	}
}

// under is the size of the part below the n-th.
func (c *carry) under(n int) int {
	if n == 1 {
		return c.bottom + 1
	}
	return c.sizes[n-2]
}

// join joins the last part to the one below it.
func (c *carry) join(below *protocol.Group) {
	n := len(c.parts) - 1
	if n == 0 {
		merge(below, &c.parts[0])
		c.bottom += c.sizes[0]
	} else {
		merge(&c.parts[n-1], &c.parts[n])
		c.sizes[n-1] += c.sizes[n]
	}
	c.parts[n] = protocol.Group{}
	c.parts, c.sizes = c.parts[:n], c.sizes[:n]
}

// settle joins all to the one below.
func (c *carry) settle(below *protocol.Group) {
	for len(c.parts) > 0 {
		c.join(below)
	}
}
