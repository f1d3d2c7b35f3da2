package treetest_test

import (
	"fmt"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/treetest"
)

// Without faults, a command costs one packet down and one up on each link. It takes
// the delays of the deepest branch and no other wait.
func TestOnePacketEachWay(t *testing.T) {
	for _, shape := range []string{"flat", "2", "8", "binomial"} {
		t.Run(shape, func(t *testing.T) {
			const delay = time.Millisecond
			table := treetest.Table(shape, 64, 4, false)
			master := treetest.NewMaster()
			net := treetest.NewNet(treetest.Config{
				Table: table, Backend: treetest.Play, Master: master.Receive,
				Delay: func(from, to tree.NodeID) time.Duration { return delay },
			})
			master.Build(net, 1, time.Minute)
			net.Run(time.Minute)
			clear(net.Packets)
			master.Ask(net, 2, rank.Range(0, 255), time.Minute, "same")
			net.Run(time.Minute)
			o := master.Outcome(2)
			if took, want := o.First-o.Since, time.Duration(2*treetest.Depth(table))*delay; took != want || !o.Final {
				t.Errorf("answered after %v, want %v", took, want)
			}
			sum := 0
			for _, n := range net.Packets {
				sum += n
			}
			if sum != 2*64 {
				t.Errorf("%d packets on 64 links", sum)
			}
			if got, want := treetest.Text(o.Groups()), "reply [0-255] {}\n"; got != want {
				t.Errorf("got %swant %s", got, want)
			}
		})
	}
}

// Many ranks stop one after the other at random times: the first stop reaches the
// root at once, the last within 100 ms, and there are few packets.
func TestStaggeredStops(t *testing.T) {
	for _, shape := range []string{"flat", "2", "8", "binomial"} {
		t.Run(shape, func(t *testing.T) {
			const servers, per, spread = 64, 16, 2 * time.Second
			table := treetest.Table(shape, servers, per, false)
			packets, heard, first, last := 0, 0, time.Duration(0), time.Duration(0)
			master := treetest.NewMaster()
			net := treetest.NewNet(treetest.Config{Table: table, Backend: treetest.Play, Master: func(at time.Duration, m wire.Message) {
				master.Receive(at, m)
				packets++
				for _, g := range m.Groups {
					if g.Kind == protocol.KindStopped {
						if heard == 0 {
							first = at
						}
						heard, last = heard+g.Ranks.Len(), at
					}
				}
			}})
			master.Build(net, 1, time.Minute)
			net.Run(time.Second)
			packets = 0
			begin, end := time.Hour, time.Duration(0)
			for i := range servers {
				net.Server(protocol.ServerID(i)).Events(protocol.Group{Kind: protocol.KindRunning, Ranks: table.Routes[i].Ranks, Body: []byte("{}")})
				for r := range table.Routes[i].Ranks.All() {
					after := 50*time.Millisecond + time.Duration(mix(1, int(r))%uint64(spread))
					begin, end = min(begin, net.Now()+after), max(end, net.Now()+after)
					net.After(after, func() {
						net.Server(protocol.ServerID(i)).Events(protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Of(r), Body: []byte(`{"at":"main"}`)})
					})
				}
			}
			net.Run(time.Minute)
			if heard != servers*per || last > end+100*time.Millisecond {
				t.Errorf("%d stops heard, the last %v after it happened", heard, last-end)
			}
			if first > begin+time.Millisecond {
				t.Errorf("the first is heard %v after it happened", first-begin)
			}
			if packets > 20 {
				t.Errorf("%d packets for %d stops", packets, servers*per)
			}
			t.Logf("%d packets for %d stops in %v; the last was heard %v after it happened", packets, servers*per, spread, last-end)
		})
	}
}

func ExampleTable() {
	t := treetest.Table("binomial", 3, 2, true)
	for _, r := range t.Routes {
		fmt.Println(r.Server, r.Host, r.Ranks)
	}
	// Output:
	// 0 node0 0,3
	// 1 node1 1,4
	// 2 node2 2,5
}
