// One command to many servers and its merged answer, against bare forwarders.

package main

import (
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// manyServers is the size of the tree in most sections: real processes on one machine.
const manyServers = 64

// maxStart is the target for the start of a number of servers, in ms.
var maxStart = map[int]float64{64: 500, 256: 2000, 1024: 8000}

// benchBroadcast measures a command to trees of up to manyServers servers.
func benchBroadcast(b *bench) {
	b.broadcast(16, 40, 25)
	b.broadcast(manyServers, 40, 25)
}

// benchLarge is benchBroadcast with more servers. 1,024 of them are far too many for one machine.
func benchLarge(b *bench) {
	b.broadcast(256, 12, 8)
	b.broadcast(1024, 6, 5)
}

// broadcast measures a tree of processes, in blocks of rounds.
func (b *bench) broadcast(servers, blocks, rounds int) {
	b.progress("%d servers with simulated ranks, %d bare forwarders", servers, servers)
	began := time.Now()
	j := startJob(b.server, servers, 1, "--backend", "sim")
	started := time.Since(began)
	j.launch("simulated")
	began = time.Now()
	f := startForwarders("binomial", servers)
	forwarding := time.Since(began)
	packet := likeOurs(servers)
	// Equal answers merge into one group, different ones into a column.
	same, distinct := func() { j.print("", "size") }, func() { j.print("", "rank") }
	bare := func() { f.ask(packet) }
	for range 20 { // until the heaps have their final size
		same()
		distinct()
		bare()
	}
	n := thousands(servers)
	for _, w := range []struct {
		what string
		ask  func()
	}{{"one value", same}, {n + " values", distinct}} {
		b.progress("%s", w.what)
		c := compare(blocks, rounds, timed(w.ask), timed(bare))
		b.table.add(row{what: fmt.Sprintf("command to %s servers and answer, %s", n, w.what), unit: "ms",
			ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.5}})
	}
	b.progress("processor time")
	calls := max(40, 500*manyServers/servers/4)
	ours, floor := processorTime(calls, j.servers.PIDs(), same), processorTime(calls, f.pids(), bare)
	b.table.add(row{what: "processor time of each server", unit: "µs", ours: us(ours), floor: us(floor), limit: limit{ratio: 1.5}})
	b.table.add(row{what: fmt.Sprintf("%s servers from nothing to a tree", n), unit: "ms", ours: ms(started), floor: ms(forwarding),
		limit: limit{most: maxStart[servers]}})
	f.close()
	j.close()
}

// likeOurs returns a packet as sdm sends it for the same command.
func likeOurs(servers int) []byte {
	return wire.Append(nil, &wire.Message{
		Kind: wire.Command, ID: 100, Ranks: rank.Range(0, rank.ID(servers-1)), Wait: 9 * time.Second,
		Body: canonical.JSON(protocol.Command{Name: "print", Args: protocol.Args{Expr: "size"}}),
	})
}

// processorTime returns the processor time of one call in each process, on average.
func processorTime(calls int, pids []int, f func()) time.Duration {
	before := cpuTime(pids)
	for range calls {
		f()
	}
	return (cpuTime(pids) - before) / time.Duration(calls*len(pids))
}
