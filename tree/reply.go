// Replies to the parent.

package tree

import (
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// maxReply is the size limit in bytes of the bodies in one packet of several
// groups: a quarter of wire.MaxPacket, because columns come on top.
const maxReply = wire.MaxPacket / 4

// reply sends groups to the parent, after all pending events, in as many packets as
// needed. Only the last packet has the given flags.
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

// fit returns the number of groups that fit into one packet: at least one.
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

// noSuch returns the answer for ranks, or servers, that do not exist.
func noSuch(ranks rank.Set, cause string) protocol.Group {
	return protocol.Group{Kind: protocol.KindMissing, Ranks: ranks, Body: canonical.JSON(protocol.Missing{Cause: cause})}
}

// silent returns the answers for ranks that have not answered within the wait, one
// group for each host. Only the root calls it, because only the root knows the wait
// that was requested: each level gives its children a shorter one, and the same
// timeout would be reported with many different causes.
func (n *Node) silent(r *request) []protocol.Group {
	owed, cause := r.replies.Owed(), protocol.NoAnswer(r.wait)
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

// answerFor answers a request on behalf of a lost child.
func (n *Node) answerFor(r *request, c *child, kind protocol.Kind) {
	ranks := r.replies.Owed().Intersect(r.below(c))
	if ranks.IsEmpty() {
		return
	}
	for _, g := range c.lostGroups(kind, ranks, r.ofInit) {
		r.replies.Add(g)
	}
}
