// How much packets count for.

package overlay

import (
	"sdm/protocol"
	"sdm/protocol/wire"
)

// bare is what a packet, or a group, counts for besides what is in it: envelope,
// kind, a short rank set.
const bare = 64

// weight is about how much memory a packet takes, in bytes, with all that its
// groups hold.
func weight(m *wire.Message) int { return bare + len(m.Body) + weightOf(m.Groups) }

func weightOf(groups []protocol.Group) int {
	n := 0
	for i := range groups {
		n += groups[i].Size()
	}
	return n
}

// share is how much of a window a packet uses, in bytes. Both ends of a link must
// come to the same number, so only bodies count: what a column or a rank set takes
// in memory depends on how it was made.
func share(m *wire.Message) int {
	n := bare + len(m.Body)
	for i := range m.Groups {
		n += bare + len(m.Groups[i].Body)
	}
	return n
}
