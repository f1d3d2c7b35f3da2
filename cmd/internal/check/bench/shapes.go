// The same broadcast over trees of several shapes.

package main

import "fmt"

// benchShapes measures one command and its answer with real processes, for each shape against
// forwarders in a tree of the same shape.
func benchShapes(b *bench) {
	for _, size := range []struct{ servers, blocks, rounds int }{{manyServers, 12, 25}, {256, 8, 8}, {1024, 5, 4}} {
		for _, shape := range []string{"binomial", "8", "32", "flat"} {
			b.shape(shape, size.servers, size.blocks, size.rounds)
		}
	}
}

// shape measures one shape.
func (b *bench) shape(shape string, servers, blocks, rounds int) {
	n := thousands(servers)
	b.progress("%s servers, %s", n, shape)
	j := startTree(shape, b.server, servers, 1, "--backend", "sim")
	j.launch("simulated")
	f := startForwarders(shape, servers)
	packet := likeOurs(servers)
	same, bare := func() { j.print("", "size") }, func() { f.ask(packet) }
	for range 20 { // until the heaps have their final size
		same()
		bare()
	}
	c := compare(blocks, rounds, timed(same), timed(bare))
	b.table.add(row{what: fmt.Sprintf("command to %s servers and answer, %s", n, shape), unit: "ms",
		ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1]})
	calls := max(20, 500*manyServers/servers/4)
	ours, floor := processorTime(calls, j.servers.PIDs(), same), processorTime(calls, f.pids(), bare)
	b.table.add(row{what: "processor time of each server", unit: "µs", ours: us(ours), floor: us(floor)})
	b.progress("%s servers, %s: %.2f ms (forwarders %.2f), %.0f µs each (%.0f)", n, shape, ms(c.times[0]), ms(c.times[1]), us(ours), us(floor))
	f.close()
	j.close()
}
