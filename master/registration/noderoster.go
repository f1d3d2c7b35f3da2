// Servers of which each is for all slots of its node.

package registration

import (
	"cmp"
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/overlay"
)

// nodeRoster is the servers that have registered so far, each for all slots of its node. It is
// pure, except for the answers.
//
// Such a server does not know its number: the number of nodes before it is known only when all have
// registered. The servers wait for their numbers, which follow their lowest ranks, so that subtrees
// have neighbouring ranks where the starter has placed them so.
type nodeRoster struct {
	ranks   int // of the job; 0: unknown
	arrived []arrival
	only    *rank.Set // the awaited ranks; nil is all

	refusals refusals
}

func (n *nodeRoster) have() rank.Set {
	var all rank.Set
	for _, one := range n.arrived {
		all = all.Union(one.Ranks)
	}
	return all
}

// add enters a server, or returns the reason why not. The same process may register again, because
// its first attempt may have been interrupted.
func (n *nodeRoster) add(r overlay.Registration, answer func(overlay.Decision)) (refusal string) {
	want := n.ranks
	if want == 0 {
		want = r.Size
	}
	last, any := r.Ranks.Max()
	switch {
	case !any:
		return fmt.Sprintf("server %d on %s is for one slot, the others are for all slots of their nodes (give --per-node to all or to none)", r.Server, r.Host)
	case want < 1:
		return "the master was not told how many ranks there are, and the starter says nothing (give the master --servers N)"
	case int(last) >= want:
		return fmt.Sprintf("%s on %s: the job has only %d ranks", protocol.Ranks(r.Ranks), r.Host, want)
	case len(r.Addrs) == 0:
		return fmt.Sprintf("the server of %s on %s has no address", protocol.Ranks(r.Ranks), r.Host)
	}
	for i, old := range n.arrived {
		switch {
		case old.Host == r.Host && old.PID == r.PID:
			n.arrived[i] = arrival{r, answer}
			return ""
		case old.Ranks.Intersects(r.Ranks):
			return fmt.Sprintf("two servers have registered for %s: process %d on %s and process %d on %s",
				protocol.Ranks(old.Ranks.Intersect(r.Ranks)), old.PID, old.Host, r.PID, r.Host)
		}
	}
	n.ranks = want
	n.arrived = append(n.arrived, arrival{r, answer})
	return ""
}

// number tells each server its number.
func (n *nodeRoster) number() {
	slices.SortFunc(n.arrived, func(a, b arrival) int {
		first, _ := a.Ranks.Min()
		second, _ := b.Ranks.Min()
		return cmp.Compare(first, second)
	})
	for i, one := range n.arrived {
		one.answer(overlay.Decision{Server: protocol.ServerID(i)})
	}
}

// table contains the servers that have come and, in the last place, which has no vertex below it,
// one for the ranks whose servers have not.
func (n *nodeRoster) table(shape string) protocol.RouteTable {
	t := protocol.RouteTable{Shape: cmp.Or(shape, binomial), Size: len(n.arrived)}
	for i, one := range n.arrived {
		t.Routes = append(t.Routes, protocol.Route{Server: protocol.ServerID(i), Host: one.Host, Addrs: one.Addrs,
			Listening: true, Ranks: one.Ranks})
	}
	if missing := n.missing(); !missing.IsEmpty() {
		t.Routes = append(t.Routes, protocol.Route{Server: protocol.ServerID(t.Size), Ranks: missing})
		t.Size++
	}
	return t
}

func (n *nodeRoster) missing() rank.Set { return n.awaited().Minus(n.have()) }

// awaited returns the ranks whose servers are to come; the size of the job must be known.
func (n *nodeRoster) awaited() rank.Set {
	all := rank.Range(0, rank.ID(n.ranks-1))
	if n.only != nil {
		all = all.Intersect(*n.only)
	}
	return all
}

// incomplete returns an error that names the ranks whose servers have not come, and the refusals.
func (n *nodeRoster) incomplete(err error) error {
	err = n.refusals.with(err)
	if n.ranks == 0 {
		return fmt.Errorf("no server has registered: %w", err)
	}
	return fmt.Errorf("the servers of %s of %d never registered: %w", protocol.Ranks(n.missing()), n.ranks, err)
}
