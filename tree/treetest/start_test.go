// The start of a job of a million ranks, as the root sees it.

package treetest_test

import (
	"strconv"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/treetest"
)

// 1,048,576 ranks on 16,384 hosts start and stop within three seconds: the root sends at
// most 200 groups, since the host of a rank is a column.
func TestStartAtScale(t *testing.T) {
	t.Parallel()
	const servers, per, spread, most = 16_384, 64, 3 * time.Second, 200
	table := treetest.Table("binomial", servers, per, false)
	count, heard := map[protocol.Kind]int{}, map[protocol.Kind]int{}
	net := treetest.NewNet(treetest.Config{Table: table, Backend: treetest.Play, Master: func(_ time.Duration, m wire.Message) {
		for _, g := range m.Groups {
			if m.Kind == wire.Events {
				count[g.Kind]++
				heard[g.Kind] += g.Ranks.Len()
			}
		}
	}})
	net.Init(1, time.Minute)
	net.Run(time.Second)
	for i := range servers {
		ranks := table.Routes[i].Ranks
		s := net.Server(protocol.ServerID(i))
		begin := time.Duration(mix(1, i) % uint64(spread/2))
		net.After(begin, func() { s.Events(startedOn("node"+strconv.Itoa(i), ranks)) })
		net.After(begin+10*time.Millisecond, func() {
			s.Events(protocol.Group{Kind: protocol.KindRunning, Ranks: ranks, Body: []byte("{}")})
		})
		net.After(begin+20*time.Millisecond+time.Duration(mix(2, i)%uint64(spread/2)), func() {
			s.Events(protocol.Group{Kind: protocol.KindStopped, Ranks: ranks, Body: []byte(`{"at":"main"}`)})
		})
	}
	net.Run(time.Minute)
	sum := 0
	for _, k := range []protocol.Kind{protocol.KindStarted, protocol.KindRunning, protocol.KindStopped} {
		sum += count[k]
		if heard[k] != servers*per {
			t.Errorf("%v of %d ranks was heard, want %d", k, heard[k], servers*per)
		}
	}
	t.Logf("events of each kind: %v", count)
	if sum > most {
		t.Errorf("%d events, want %d at most", sum, most)
	}
}

// startedOn returns a server's event about ranks that it has started.
func startedOn(host string, ranks rank.Set) protocol.Group {
	at := column.OfValues("host", []column.ValueCount{{Value: host, Ranks: ranks}}, 0)
	return protocol.Group{Kind: protocol.KindStarted, Ranks: ranks, Body: []byte(`{"program":"work"}`), Columns: []column.Column{at}}
}

// The gdbs of a node start one after the other. Their ranks cause one event of each
// kind, and a gdb that does not start does not delay the stops of other ranks for
// long.
func TestStartOfANode(t *testing.T) {
	const gdbs, per, pause = 4, 16, 400 * time.Millisecond
	for _, c := range []struct {
		come   int           // gdbs that start
		within time.Duration // from the start of ranks to the last stop received
	}{{gdbs, (gdbs-1)*pause + 300*time.Millisecond}, {gdbs - 1, 2300 * time.Millisecond}} {
		table := treetest.Table("binomial", 1, gdbs*per, false)
		count := map[protocol.Kind]int{}
		stopped, last := rank.Set{}, time.Duration(0)
		net := treetest.NewNet(treetest.Config{Table: table, Backend: treetest.Play, Master: func(at time.Duration, m wire.Message) {
			for _, g := range m.Groups {
				if m.Kind != wire.Events {
					continue
				}
				if count[g.Kind]++; g.Kind == protocol.KindStopped {
					stopped, last = stopped.Union(g.Ranks), at
				}
			}
		}})
		net.Init(1, time.Minute)
		net.Run(time.Second)
		s, began := net.Server(0), net.Now()
		net.After(0, func() { s.Events(startedOn("node0", table.Routes[0].Ranks)) })
		for i := range c.come {
			ranks := rank.Range(rank.ID(i*per), rank.ID((i+1)*per-1))
			at := time.Duration(i) * pause
			net.After(at, func() { s.Events(protocol.Group{Kind: protocol.KindRunning, Ranks: ranks, Body: []byte("{}")}) })
			net.After(at+30*time.Millisecond, func() {
				s.Events(protocol.Group{Kind: protocol.KindStopped, Ranks: ranks, Body: []byte(`{"at":"main"}`)})
			})
		}
		net.Run(time.Minute)
		if count[protocol.KindStarted] != 1 || count[protocol.KindRunning] != 1 || count[protocol.KindStopped] > 2 {
			t.Errorf("%d of %d gdbs come up: events %v", c.come, gdbs, count)
		}
		if stopped.Len() != c.come*per || last-began > c.within {
			t.Errorf("%d of %d gdbs come up: %d ranks are shown as stopped, the last %v behind the start", c.come, gdbs, stopped.Len(), last-began)
		}
	}
}
