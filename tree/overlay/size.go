// Sizes of packets.

package overlay

import (
	"sdm/protocol"
	"sdm/protocol/wire"
)

// overhead is the size in bytes of a packet, or a group, without its contents:
// envelope, kind, a short rank set.
const overhead = 64

// weight is the approximate memory of a packet in bytes, with all that its groups
// hold.
func weight(m *wire.Message) int { return overhead + len(m.Body) + weightOf(m.Groups) }

func weightOf(groups []protocol.Group) int {
	n := 0
	for i := range groups {
		n += groups[i].Size()
	}
	return n
}

// windowUse is the part of a window that a packet uses, in bytes. Both ends of a link
// must compute the same number, so only bodies count: the memory of a column or a
// rank set depends on how it was built.
func windowUse(m *wire.Message) int {
	n := overhead + len(m.Body)
	for i := range m.Groups {
		n += overhead + len(m.Groups[i].Body)
	}
	return n
}
