package master

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Init builds the tree of a routing table: the root reaches its children, they
// theirs, and one aggregated answer comes back within the wait (0 is no limit).
// It is called once. The error is a *session.NotReady if servers are not there,
// and then the session can only be closed; otherwise it says that Init could not
// be tried, or is the context's.
func (m *Master) Init(ctx context.Context, table protocol.RouteTable, wait time.Duration) (session.Report, error) {
	g, err := m.startInit(table, wait)
	if err != nil {
		return session.Report{}, err
	}
	select {
	case <-g.done:
	case <-ctx.Done():
		return session.Report{}, ctx.Err()
	}
	return g.report, g.report.Err()
}

func (m *Master) startInit(table protocol.RouteTable, wait time.Duration) (*gathering, error) {
	r := routes{table}
	servers := r.servers()
	if table.Heartbeat == 0 && m.cfg.Heartbeat > 0 {
		table.Heartbeat = int(m.cfg.Heartbeat / time.Millisecond)
		table.Silence = int(m.cfg.Silence / time.Millisecond)
	}
	if table.Size < 1 || servers.Len() != table.Size || len(table.Routes) != table.Size {
		return nil, fmt.Errorf("routing table: %d servers announced, %d given", table.Size, servers.Len())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != fresh {
		return nil, fmt.Errorf("the tree is built once in a session")
	}
	m.phase, m.routes = building, r
	m.states = session.NewStates(r.ranks())
	m.init = &gathering{
		id: m.nextID(), owed: servers, routes: r, done: make(chan struct{}),
		report: session.Report{Servers: table.Size, Ranks: r.ranks()},
		result: func(ready bool) {
			if m.phase == building {
				m.phase = failed
				if ready {
					m.phase = up
				}
			}
		},
	}
	m.root.Post(tree.FromParent{Msg: wire.Message{
		Kind: wire.Init, ID: m.init.id, Ranks: servers, Wait: wait, Body: protocol.Canonical(table),
	}})
	return m.init, nil
}

// gathering collects the answers to Init, which are groups over server numbers.
// The master's lock guards it until done is closed.
type gathering struct {
	id     protocol.RequestID
	owed   rank.Set // servers
	routes routes
	report session.Report
	result func(ready bool)
	done   chan struct{}
}

func (g *gathering) reply(m wire.Message) {
	for _, group := range m.Groups {
		now := group.Ranks.Intersect(g.owed)
		g.owed = g.owed.Minus(now)
		if group.Kind != protocol.KindResult && !now.IsEmpty() {
			g.absent(now, causeOf(group))
		}
	}
	if m.Flags&wire.Final != 0 {
		g.absent(g.owed, "no answer")
		g.owed = rank.Set{}
	}
	if g.owed.IsEmpty() {
		g.end()
	}
}

// absent enters servers that are not ready; one entry for each cause.
func (g *gathering) absent(servers rank.Set, cause string) {
	if servers.IsEmpty() {
		return
	}
	for i, a := range g.report.Absent {
		if a.Cause == cause {
			servers = servers.Union(a.Servers)
			g.report.Absent[i] = session.Absent{Servers: servers, Hosts: g.routes.hostsOfServers(servers), Cause: cause}
			return
		}
	}
	g.report.Absent = append(g.report.Absent, session.Absent{Servers: servers, Hosts: g.routes.hostsOfServers(servers), Cause: cause})
}

func (g *gathering) fail(cause string) {
	g.absent(g.owed, cause)
	g.owed = rank.Set{}
	g.end()
}

func (g *gathering) end() {
	select {
	case <-g.done:
	default:
		g.result(len(g.report.Absent) == 0)
		close(g.done)
	}
}

// causeOf gives the words of a group that is no result.
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
