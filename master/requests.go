// The table of requests.

package master

import (
	"encoding/json"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// keptRequests is how many completed requests with missing ranks are kept for late replies. The
// oldest is dropped first, with late replies to it.
const keptRequests = 1024

// requests is the table of requests and the ranks that owe answers. It is pure: time is an
// argument, and events for front ends are results. Every addressed rank is in exactly one of owed,
// answered, missing and lost.
type requests struct {
	byID map[protocol.RequestID]*request
	kept []protocol.RequestID // done with missing ranks, oldest first
	// hosts returns the hosts of ranks that do not answer.
	hosts func(rank.Set) []string
}

type request struct {
	id      protocol.RequestID
	command string
	started time.Duration

	asked, owed, answered, missing, lost rank.Set

	faults    rank.Set // the ranks in answered that have a fault
	done      bool
	cancelled bool
}

func newRequests(hosts func(rank.Set) []string) *requests {
	return &requests{byID: map[protocol.RequestID]*request{}, hosts: hosts}
}

// open enters a request that is sent down the tree.
func (t *requests) open(now time.Duration, id protocol.RequestID, command string, asked rank.Set) {
	t.byID[id] = &request{id: id, command: command, started: now, asked: asked, owed: asked}
}

// reply processes a Reply of the root of the tree. It drops answers to unknown requests, and second
// answers of a rank: a server may retransmit after it has got a new parent.
func (t *requests) reply(now time.Duration, m wire.Message) []session.Event {
	r, ok := t.byID[m.ID]
	if !ok {
		return nil
	}
	var events []session.Event
	for _, g := range t.joinMissing(m.Groups) {
		if e, ok := r.take(g); ok {
			events = append(events, e)
		}
	}
	if m.Flags&wire.Final != 0 && !r.owed.IsEmpty() {
		g := missingGroup(protocol.KindMissing, r.owed, "the tree ended the request without an answer", t.hosts(r.owed))
		if e, ok := r.take(g); ok {
			events = append(events, e)
		}
	}
	if r.owed.IsEmpty() && !r.done {
		events = append(events, r.finish(now))
	}
	if r.done {
		t.forget(r, m.Flags&wire.Final != 0)
	}
	return events
}

// take enters one group; false if it contains nothing new.
func (r *request) take(g protocol.Group) (session.Event, bool) {
	fresh := g.Ranks.Intersect(r.owed)
	late := g.Ranks.Intersect(r.missing)
	silent := g.Kind == protocol.KindMissing
	if fresh.IsEmpty() && (late.IsEmpty() || silent) {
		return session.Event{}, false
	}
	now := fresh.Union(late)
	r.owed = r.owed.Minus(now)
	switch g.Kind {
	case protocol.KindMissing:
		r.missing = r.missing.Union(fresh)
	case protocol.KindLost:
		r.missing, r.lost = r.missing.Minus(now), r.lost.Union(now)
	default:
		r.missing, r.answered = r.missing.Minus(now), r.answered.Union(now)
		if g.Kind == protocol.KindFault {
			r.faults = r.faults.Union(now)
		}
	}
	return session.Event{
		Name: g.Kind.String(), ID: r.id, Command: r.command, Group: g,
		Late: r.done || !late.IsEmpty(),
	}, true
}

func (r *request) finish(now time.Duration) session.Event {
	r.done = true
	return session.Event{Name: session.DoneName, ID: r.id, Command: r.command, Done: &session.Done{
		Asked: r.asked.Len(), Answered: r.answered.Len(), Faults: r.faults.Len(),
		Missing: r.missing, Lost: r.lost, Cancelled: r.cancelled, Took: now - r.started,
	}}
}

// cancel ends a request: the ranks that owe an answer are missing. Their answers are late, if they come.
func (t *requests) cancel(now time.Duration, id protocol.RequestID) []session.Event {
	r, ok := t.byID[id]
	if !ok || r.done {
		return nil
	}
	r.cancelled = true
	g := missingGroup(protocol.KindMissing, r.owed, protocol.Cancelled, t.hosts(r.owed))
	return t.reply(now, wire.Message{ID: id, Groups: []protocol.Group{g}})
}

// forget drops a request that needs no further answers, and bounds how many others are kept for
// late replies.
func (t *requests) forget(r *request, final bool) {
	if final || r.missing.IsEmpty() {
		delete(t.byID, r.id)
		t.kept = slices.DeleteFunc(t.kept, func(id protocol.RequestID) bool { return id == r.id })
		return
	}
	if slices.Contains(t.kept, r.id) {
		return
	}
	t.kept = append(t.kept, r.id)
	if len(t.kept) > keptRequests {
		delete(t.byID, t.kept[0])
		t.kept = slices.Delete(t.kept, 0, 1)
	}
}

// fail ends every outstanding request, because the tree is gone.
func (t *requests) fail(now time.Duration, cause string) []session.Event {
	var open []*request
	for _, r := range t.byID {
		if !r.done {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b *request) int { return int(a.id) - int(b.id) })
	var events []session.Event
	for _, r := range open {
		g := missingGroup(protocol.KindLost, r.owed, cause, t.hosts(r.owed))
		events = append(events, t.reply(now, wire.Message{ID: r.id, Flags: wire.Final, Groups: []protocol.Group{g}})...)
	}
	return events
}

// joinMissing joins the missing groups of one cause, and adds the hosts of all their ranks: a vertex
// names one host in a group, its child's. Other groups come first, unchanged and in order.
func (t *requests) joinMissing(groups []protocol.Group) []protocol.Group {
	type key struct {
		kind  protocol.Kind
		cause string
	}
	var order []key
	joined := map[key]rank.Set{}
	rest := make([]protocol.Group, 0, len(groups))
	for _, g := range groups {
		var m protocol.Missing
		if g.Kind != protocol.KindMissing && g.Kind != protocol.KindLost || json.Unmarshal(g.Body, &m) != nil {
			rest = append(rest, g)
			continue
		}
		k := key{g.Kind, m.Cause}
		if _, ok := joined[k]; !ok {
			order = append(order, k)
		}
		joined[k] = joined[k].Union(g.Ranks)
	}
	for _, k := range order {
		rest = append(rest, missingGroup(k.kind, joined[k], k.cause, t.hosts(joined[k])))
	}
	return rest
}

// missingGroup makes the group of ranks that did not answer.
func missingGroup(k protocol.Kind, ranks rank.Set, cause string, hosts []string) protocol.Group {
	return protocol.Group{Kind: k, Ranks: ranks, Body: canonical.JSON(session.MissingOn(cause, hosts))}
}
