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

// startedOn is what a server says of ranks that it has started.
func startedOn(host string, ranks rank.Set) protocol.Group {
	at := column.OfValues("host", []column.ValueCount{{Value: host, Ranks: ranks}}, 0)
	return protocol.Group{Kind: protocol.KindStarted, Ranks: ranks, Body: []byte(`{"program":"work"}`), Columns: []column.Column{at}}
}
