// Nothing but load, for profilers.

package main

import (
	"time"

	"sdm/protocol/rank"
)

// loadFor is how long a profiler has.
const loadFor = 8 * time.Second

func loadServers(b *bench) {
	j := startJob(b.server, manyServers, 1, "--backend", "sim")
	j.launch("simulated")
	b.repeat(func() { j.print("", "size") })
	j.close()
}

func loadForwarders(b *bench) {
	f := startForwarders(manyServers)
	packet := likeOurs(manyServers)
	b.repeat(func() { f.ask(packet) })
	f.close()
}

func loadRanks(b *bench) {
	j := b.startRanks(alone, manyRanks, b.program)
	ranks := rank.Range(0, rank.ID(b.ranks-1)).String()
	b.repeat(func() { j.print(ranks, "rank") })
	j.close()
}

func loadRelay(b *bench) {
	r := startRelay(manyRanks, 1, b.program)
	b.repeat(func() { r.ask("print", b.ranks, "rank") })
	r.close()
}

func (b *bench) repeat(f func()) {
	b.progress("begins")
	n := 0
	for began := time.Now(); time.Since(began) < loadFor; n++ {
		f()
	}
	b.progress("%d commands in %v", n, loadFor)
}
