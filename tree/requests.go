// Requests that have not been answered in full, and their deadlines.

package tree

import (
	"slices"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
)

// request is a command or an Init that has not been answered in full.
//
//	open ──all answered──▶ Final ▶ forgotten
//	  └──wait over──▶ Partial ▶ overdue ──each answer──▶ Late … Late Final ▶ forgotten
type request struct {
	id       protocol.RequestID
	ofInit   bool // the ranks are server numbers
	overdue  bool // the partial reply has been sent
	closed   bool // forgotten; may still be in requests.overdue
	wait     time.Duration
	deadline time.Duration // 0 is none
	timer    int           // index in timers, or noTimer
	body     []byte        // for sending it again to an adopted child
	replies  aggregate.Replies
}

// below returns what a child answers for: server numbers for an Init, else ranks.
func (r *request) below(c *child) rank.Set {
	if r.ofInit {
		return c.servers
	}
	return c.ranks
}

// maxOverdue bounds the requests that are kept only for late answers. When it is
// exceeded, the oldest is finished and its late answers are ignored.
const maxOverdue = 1024

// requests are the requests of a vertex that have not been answered in full.
type requests struct {
	byID    map[protocol.RequestID]*request
	timers  timers     // requests with a deadline, not yet overdue
	overdue []*request // oldest first; may contain closed requests
	awaited int        // requests that are not overdue
}

// open enters a request.
func (q *requests) open(now time.Duration, m *wire.Message, ranks rank.Set) *request {
	r := &request{id: m.ID, wait: m.Wait, timer: noTimer, body: m.Body}
	if end := now + m.Wait; end > now { // not set if Wait is 0 or the sum overflows
		r.deadline = end
		q.timers.arm(r)
	}
	r.replies.Expect(ranks)
	q.byID[m.ID] = r
	q.awaited++
	return r
}

// close forgets a request.
func (q *requests) close(r *request) {
	r.closed = true
	q.timers.disarm(r)
	if !r.overdue {
		q.awaited--
	}
	delete(q.byID, r.id)
}

// postpone keeps a request for its late answers only. If there are maxOverdue of them already, it
// returns the oldest, which the caller finishes; otherwise nil.
func (q *requests) postpone(r *request) (oldest *request) {
	q.timers.disarm(r)
	r.overdue = true
	q.awaited--
	if len(q.overdue) >= maxOverdue {
		q.overdue = slices.DeleteFunc(q.overdue, func(r *request) bool { return r.closed })
	}
	if len(q.overdue) >= maxOverdue {
		oldest = q.overdue[0]
		q.overdue = slices.Delete(q.overdue, 0, 1)
	}
	q.overdue = append(q.overdue, r)
	return oldest
}

// due returns the earliest deadline, or never if no request has one.
func (q *requests) due() time.Duration {
	if len(q.timers) == 0 {
		return never
	}
	return q.timers[0].deadline
}

// lowestOpen returns the lowest number of the open requests in the series of id.
func (q *requests) lowestOpen(id protocol.RequestID) protocol.RequestID {
	for other, r := range q.byID {
		if !r.ofInit && series(other) == series(id) {
			id = min(id, other)
		}
	}
	return id
}

// inOrder returns all requests by ascending number, so that the order of the map
// does not influence the outputs.
func (q *requests) inOrder() []*request {
	list := make([]*request, 0, len(q.byID))
	for _, r := range q.byID {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *request) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}
