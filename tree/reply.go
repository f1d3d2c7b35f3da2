// Answers on their way up.

package tree

import (
	"fmt"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// maxReply is how many bytes of bodies go into one packet, if there is more than
// one group: a quarter of wire.MaxPacket, because columns come on top.
const maxReply = wire.MaxPacket / 4

// reply sends groups up, behind everything that ranks did before, in as many
// packets as needed; the flags that end something stand on the last.
func (n *Node) reply(r *request, groups []protocol.Group, flags wire.Flags) {
	if len(groups) == 0 && flags == 0 {
		return
	}
	n.flush()
	m := wire.Message{Kind: wire.Reply, ID: r.id}
	if r.overdue {
		m.Flags = wire.Late
	}
	for {
		count := fit(groups)
		m.Groups, groups = groups[:count:count], groups[count:]
		if len(groups) == 0 {
			break
		}
		n.emit(ToParent{m})
	}
	m.Flags |= flags
	n.emit(ToParent{m})
}

// fit counts the groups that go into one packet: at least one.
func fit(groups []protocol.Group) int {
	bytes := 0
	for i, g := range groups {
		bytes += len(g.Body)
		if i > 0 && bytes > maxReply {
			return i
		}
	}
	return len(groups)
}

// noSuch answers for ranks, or servers, that are nowhere.
func noSuch(ranks rank.Set, cause string) protocol.Group {
	return protocol.Group{Kind: protocol.KindMissing, Ranks: ranks, Body: canonical.JSON(protocol.Missing{Cause: cause})}
}

// silent says who has not answered within the wait, one group for each host. Only
// the root says it, because only the root knows the wait that was asked for: below
// it is shorter from level to level, and the same silence would have many causes.
func (n *Node) silent(r *request) []protocol.Group {
	owed, cause := r.replies.Owed(), "no answer in "+r.wait.String()
	if r.wait == 0 {
		cause = "no answer"
	}
	var groups []protocol.Group
	byHost := make(map[string]int) // index in groups
	for _, route := range n.routes {
		ranks := route.Ranks
		if r.ofInit {
			ranks = rank.Of(rank.ID(route.Server))
		}
		if ranks = ranks.Intersect(owed); ranks.IsEmpty() {
			continue
		}
		i, ok := byHost[route.Host]
		if !ok {
			i = len(groups)
			byHost[route.Host] = i
			body := canonical.JSON(protocol.Missing{Cause: cause, Host: route.Host})
			groups = append(groups, protocol.Group{Kind: protocol.KindMissing, Body: body})
		}
		groups[i].Ranks = groups[i].Ranks.Union(ranks)
	}
	return groups
}

// answerFor answers a request for what it asks of a child that is gone.
func (n *Node) answerFor(r *request, c *child, kind protocol.Kind) {
	ranks := r.replies.Owed().Intersect(r.below(c))
	if ranks.IsEmpty() {
		return
	}
	for _, g := range c.obituary(kind, ranks, r.ofInit) {
		r.replies.Add(g)
	}
}

// drop ends the link to a child that does not keep to the rules.
func (n *Node) drop(c *child, cause string) {
	n.emit(ToChild{c.id, wire.Message{Kind: wire.GivenUp, Body: canonical.JSON(protocol.Missing{Cause: cause})}})
	n.emit(Drop{c.id, cause})
	n.lose(c, fmt.Sprintf("given up: %s", cause), protocol.KindLost)
}
