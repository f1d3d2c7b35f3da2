// The command "info hosts".

package master

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// manyHosts is the number of hosts up to which "info hosts" has a row for each. For more hosts,
// equal rows are joined.
const manyHosts = 16

// reportHosts answers "info hosts" from the answers of the servers and from the master's tables: it
// has rows for all servers that hold some of the ranks, including lost and silent ones.
func (m *Master) reportHosts(id protocol.RequestID, ranks rank.Set, began time.Duration) {
	m.collect(m.callOperation(id, "info hosts", ranks, began), id, func(answers []session.Event, done session.Done) {
		var rows []hostRow
		for route := range m.routes.rows() {
			if on := route.Ranks.Intersect(ranks); !on.IsEmpty() {
				forgone := m.routes.isForgone(route)
				rows = append(rows, m.hostRows(route, on, forgone, answers)...)
			}
		}
		for _, row := range joinEqual(rows) {
			m.push(session.Event{Name: protocol.KindResult.String(), ID: id, Command: "info hosts", Group: row.group()})
		}
		for _, e := range answers {
			if e.Group.Kind != protocol.KindResult {
				m.push(e)
			}
		}
		done.Took = m.now() - began
		m.push(session.Event{Name: session.DoneName, ID: id, Command: "info hosts", Done: &done})
	})
}

// hostRow is a row under construction.
type hostRow struct {
	protocol.HostInfo
	servers rank.Set
	ranks   rank.Set
	each    int // ranks of each host
	pids    []column.ValueCount
}

// hostRows returns the rows of one server: one for each answer, usually one, and one for the ranks
// without an answer.
func (m *Master) hostRows(route protocol.Route, on rank.Set, forgone bool, answers []session.Event) []hostRow {
	row := func(part rank.Set, said protocol.HostInfo) hostRow {
		r := hostRow{HostInfo: said, ranks: part, each: part.Len()}
		if r.Hosts = []string{route.Host}; !forgone {
			r.servers = rank.Of(rank.ID(route.Server))
		}
		r.States = m.stateCounts(part)
		return r
	}
	var rows []hostRow
	rest := on
	for _, e := range answers {
		part := e.Group.Ranks.Intersect(on)
		var said protocol.HostInfo
		if e.Group.Kind != protocol.KindResult || part.IsEmpty() || json.Unmarshal(e.Group.Body, &said) != nil {
			continue
		}
		r := row(part, said)
		pids, _ := e.Group.Column("pid")
		for _, v := range pids.Values() {
			if v.Ranks.Intersects(part) {
				r.pids = append(r.pids, column.ValueCount{Value: v.Value, Ranks: v.Ranks.Intersect(part)})
			}
		}
		rows, rest = append(rows, r), rest.Minus(part)
	}
	if !rest.IsEmpty() {
		rows = append(rows, row(rest, protocol.HostInfo{}))
	}
	return rows
}

// stateCounts counts ranks by state, in the order of a rank's life.
func (m *Master) stateCounts(ranks rank.Set) []protocol.StateCount {
	counts := map[session.State]int{}
	for _, g := range m.states.Groups(ranks) {
		counts[g.Status.State] += g.Ranks.Len()
	}
	var all []protocol.StateCount
	for _, s := range session.AllStates() {
		if counts[s] > 0 {
			all = append(all, protocol.StateCount{State: string(s), N: counts[s]})
		}
	}
	return all
}

// joinEqual joins equal rows if there are many hosts, and sorts them by their lowest ranks.
func joinEqual(rows []hostRow) []hostRow {
	slices.SortStableFunc(rows, func(a, b hostRow) int {
		x, _ := a.ranks.Min()
		y, _ := b.ranks.Min()
		return cmp.Compare(x, y)
	})
	if len(rows) <= manyHosts {
		return rows
	}
	var joined []hostRow
	at := map[string]int{}
	for _, r := range rows {
		key := string(canonical.JSON(struct {
			Each            int
			Engine, Program string
			States          []protocol.StateCount
		}{r.each, r.Engine, r.Program, r.States}))
		i, known := at[key]
		if !known {
			at[key] = len(joined)
			joined = append(joined, r)
			continue
		}
		j := &joined[i]
		j.Hosts, j.servers, j.ranks = append(j.Hosts, r.Hosts...), j.servers.Union(r.servers), j.ranks.Union(r.ranks)
		j.pids = append(j.pids, r.pids...)
		j.States = slices.Clone(j.States)
		for k := range j.States {
			j.States[k].N += r.States[k].N
		}
	}
	return joined
}

func (r hostRow) group() protocol.Group {
	if !r.servers.IsEmpty() {
		r.Servers = r.servers.String()
	}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: r.ranks, Body: canonical.JSON(r.HostInfo)}
	if len(r.pids) > 0 {
		g.Columns = []column.Column{column.OfValues("pid", r.pids, 0)}
	}
	return g
}
