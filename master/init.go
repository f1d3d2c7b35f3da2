// Building of the tree.

package master

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Init builds the tree of a routing table: the root connects to its children, they to theirs, and
// one aggregated answer returns within the wait (0 is no limit). It is called once. The error is a
// *session.NotReady if servers are not ready, and then the session can only be closed; otherwise
// Init could not be tried, or it is the context's error. With Config.Partial, servers of the table
// may be missing, and so may the forgone ones, which are in no table because they never registered.
func (m *Master) Init(ctx context.Context, table protocol.RouteTable, wait time.Duration,
	forgone ...session.Absent) (session.Report, error) {
	g, err := m.startInit(table, wait, forgone)
	if err != nil {
		return session.Report{}, err
	}
	select {
	case <-g.done:
	case <-ctx.Done():
		return session.Report{}, ctx.Err()
	}
	if g.err != nil {
		return g.report, g.err
	}
	return g.report, g.report.Err()
}

func (m *Master) startInit(table protocol.RouteTable, wait time.Duration,
	forgone []session.Absent) (*treeBuild, error) {
	if err := CheckNumbers(table); err != nil {
		return nil, err
	}
	r := newRoutes(table, forgone)
	servers := r.servers()
	if table.Heartbeat == 0 && m.cfg.Heartbeat > 0 {
		table.Heartbeat = int(m.cfg.Heartbeat / time.Millisecond)
		table.Silence = int(m.cfg.Silence / time.Millisecond)
	}
	if table.Size < 1 || len(table.Routes) != table.Size {
		return nil, fmt.Errorf("routing table: %d servers announced, %d given", table.Size, len(table.Routes))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != fresh {
		return nil, fmt.Errorf("the tree is built once in a session")
	}
	m.phase, m.routes = building, r
	report := session.Report{Servers: table.Size, Ranks: r.ranks(), Absent: slices.Clone(forgone)}
	report.Ranks = report.Ranks.Union(report.Lost())
	m.states = session.NewStates(report.Ranks)
	m.init = &treeBuild{id: m.nextID(), owed: servers, routes: r, report: report, result: m.built,
		done: make(chan struct{})}
	m.root.Post(tree.FromParent{Msg: wire.Message{
		Kind: wire.Init, ID: m.init.id, Ranks: servers, Wait: wait, Body: canonical.JSON(table),
	}})
	return m.init, nil
}

// built is called when Init is complete. Ranks without a server become lost before any other event.
func (m *Master) built(r *session.Report) {
	ready := r.Servers
	for _, a := range r.Absent {
		ready -= a.Servers.Len()
	}
	r.Partial = m.cfg.Partial && len(r.Absent) > 0 && ready > 0
	if m.phase != building {
		return
	}
	if m.phase = failed; r.Err() != nil {
		return
	}
	m.phase, m.never = up, never(r.Absent)
	for _, g := range m.requests.joinMissing(m.never.of(r.Lost())) {
		m.report(g)
	}
}

// never are servers that were not ready when the tree was built.
type never []session.Absent

func (n never) ranks() rank.Set { return session.Report{Absent: n}.Lost() }

// of returns the loss of those ranks that never had a server.
func (n never) of(ranks rank.Set) []protocol.Group {
	var groups []protocol.Group
	for _, a := range n {
		if lost := a.Ranks.Intersect(ranks); !lost.IsEmpty() {
			groups = append(groups, missingGroup(protocol.KindLost, lost, a.Cause, a.Hosts))
		}
	}
	return groups
}

// treeBuild collects the answers to Init, whose groups are over server numbers. The master's lock
// guards it until done is closed.
type treeBuild struct {
	id     protocol.RequestID
	owed   rank.Set // servers that have not answered
	routes routes
	report session.Report
	result func(*session.Report)
	err    error // a defect
	done   chan struct{}
}

func (b *treeBuild) reply(m wire.Message) {
	for _, group := range m.Groups {
		now := group.Ranks.Intersect(b.owed)
		b.owed = b.owed.Minus(now)
		if group.Kind != protocol.KindResult && !now.IsEmpty() {
			b.absent(now, causeOf(group))
		}
	}
	if m.Flags&wire.Final != 0 {
		b.absent(b.owed, protocol.NoAnswer(0))
		b.owed = rank.Set{}
	}
	if b.owed.IsEmpty() {
		b.end()
	}
}

// absent records servers that are not ready, in one entry for each cause.
func (b *treeBuild) absent(servers rank.Set, cause string) {
	if servers.IsEmpty() {
		return
	}
	for i, a := range b.report.Absent {
		if a.Cause == cause && !a.Servers.IsEmpty() {
			b.report.Absent[i] = b.routes.absent(servers.Union(a.Servers), cause)
			return
		}
	}
	b.report.Absent = append(b.report.Absent, b.routes.absent(servers, cause))
}

func (b *treeBuild) fail(cause string) {
	b.absent(b.owed, cause)
	b.owed = rank.Set{}
	b.end()
}

func (b *treeBuild) end() {
	if !b.isDone() {
		b.result(&b.report)
		close(b.done)
	}
}

// abort ends Init with an error, unless it has ended.
func (b *treeBuild) abort(err error) bool {
	if b.isDone() {
		return false
	}
	b.err = err
	close(b.done)
	return true
}

func (b *treeBuild) isDone() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// causeOf returns the message of a group that is not a result.
func causeOf(g protocol.Group) string {
	if g.Kind == protocol.KindFault {
		var f protocol.Fault
		if json.Unmarshal(g.Body, &f) == nil && f.Message != "" {
			return f.Error()
		}
	}
	var m protocol.Missing
	if json.Unmarshal(g.Body, &m) == nil && m.Cause != "" {
		return m.Cause
	}
	return "no reason given"
}
