package master

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/overlay"
)

// A server that is for all slots of its node does not know its number: the number of nodes before
// it is known only when all have come. The servers wait for their numbers, which follow their
// lowest ranks, so that subtrees have neighbouring ranks where the starter has placed them so.

// gatherNodes continues after the first server that has registered with ranks, now or in an earlier
// gathering.
func (g Gathering) gatherNodes(ctx context.Context, l Registrar, first ...node) (protocol.RouteTable, error) {
	n := nodes{ranks: g.Servers, only: g.Only}
	take := func(one node) {
		if refusal := n.add(one.Registration, one.answer); refusal != "" {
			n.refusals.add(refusal)
			one.answer(overlay.Verdict{Refusal: refusal})
		} else if g.Progress != nil {
			g.Progress(n.have().Len(), n.awaited().Len())
		}
	}
	for _, one := range append(g.Come.nodes, first...) {
		take(one)
	}
	g.Come.nodes = nil
	for n.ranks == 0 || !n.missing().IsEmpty() {
		r, answer, err := l.Accept(ctx)
		if g.isEnough(ctx, err, len(n.come)) {
			break
		}
		if err != nil {
			g.Come.nodes = n.come
			return protocol.RouteTable{}, n.incomplete(err)
		}
		take(node{r, answer})
	}
	n.number()
	return n.table(g.Shape), nil
}

// nodes is the registrations so far. It is pure, except for the answers.
type nodes struct {
	ranks int // of the job; 0: unknown
	come  []node
	only  *rank.Set // the awaited ranks; nil is all

	refusals refusals
}

type node struct {
	overlay.Registration
	answer func(overlay.Verdict)
}

func (n *nodes) have() rank.Set {
	var all rank.Set
	for _, one := range n.come {
		all = all.Union(one.Ranks)
	}
	return all
}

// add enters a server, or returns the reason why not. The same process may register again, because
// its first attempt may have been interrupted.
func (n *nodes) add(r overlay.Registration, answer func(overlay.Verdict)) (refusal string) {
	want := n.ranks
	if want == 0 {
		want = r.Size
	}
	last, any := r.Ranks.Max()
	switch {
	case !any:
		return fmt.Sprintf("server %d on %s stands for itself, the others for all slots of their nodes (give --per-node to all or to none)", r.Server, r.Host)
	case want < 1:
		return "the master was not told how many ranks there are, and the starter says nothing (give the master --servers N)"
	case int(last) >= want:
		return fmt.Sprintf("%s on %s: the job has only %d ranks", protocol.Ranks(r.Ranks), r.Host, want)
	case len(r.Addrs) == 0:
		return fmt.Sprintf("the server of %s on %s listens nowhere", protocol.Ranks(r.Ranks), r.Host)
	}
	for i, old := range n.come {
		switch {
		case old.Host == r.Host && old.PID == r.PID:
			n.come[i] = node{r, answer}
			return ""
		case old.Ranks.Intersects(r.Ranks):
			return fmt.Sprintf("two servers have registered for %s: process %d on %s and process %d on %s",
				protocol.Ranks(old.Ranks.Intersect(r.Ranks)), old.PID, old.Host, r.PID, r.Host)
		}
	}
	n.ranks = want
	n.come = append(n.come, node{r, answer})
	return ""
}

// number tells each server its number.
func (n *nodes) number() {
	slices.SortFunc(n.come, func(a, b node) int {
		first, _ := a.Ranks.Min()
		second, _ := b.Ranks.Min()
		return cmp.Compare(first, second)
	})
	for i, one := range n.come {
		one.answer(overlay.Verdict{Server: protocol.ServerID(i)})
	}
}

// table contains the servers that have come and, in the last place, which has no vertex below it,
// one for the ranks whose servers have not.
func (n *nodes) table(shape string) protocol.RouteTable {
	if shape == "" {
		shape = "binomial"
	}
	t := protocol.RouteTable{Shape: shape, Size: len(n.come)}
	for i, one := range n.come {
		t.Routes = append(t.Routes, protocol.Route{Server: protocol.ServerID(i), Host: one.Host, Addrs: one.Addrs, Listening: true, Ranks: one.Ranks})
	}
	if missing := n.missing(); !missing.IsEmpty() {
		t.Routes = append(t.Routes, protocol.Route{Server: protocol.ServerID(t.Size), Ranks: missing})
		t.Size++
	}
	return t
}

func (n *nodes) missing() rank.Set { return n.awaited().Minus(n.have()) }

// awaited returns the ranks whose servers are to come; the size of the job must be known.
func (n *nodes) awaited() rank.Set {
	all := rank.Range(0, rank.ID(n.ranks-1))
	if n.only != nil {
		all = all.Intersect(*n.only)
	}
	return all
}

// incomplete returns an error that names the ranks whose servers have not come, and the refusals.
func (n *nodes) incomplete(err error) error {
	err = n.refusals.with(err)
	if n.ranks == 0 {
		return fmt.Errorf("no server has registered: %w", err)
	}
	return fmt.Errorf("the servers of %s of %d never registered: %w", protocol.Ranks(n.missing()), n.ranks, err)
}
