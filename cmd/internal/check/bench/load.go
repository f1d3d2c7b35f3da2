// Sections that only make load for a profiler.

package main

import (
	"time"

	"sdm/protocol/rank"
)

// loadFor is how long the load lasts.
const loadFor = 8 * time.Second

func loadServers(b *bench) {
	j := startJob(b.server, manyServers, 1, "--backend", "sim")
	j.launch("simulated")
	b.repeat(j.servers.PIDs(), func() { j.print("", "size") })
	j.close()
}

func loadForwarders(b *bench) {
	f := startForwarders("binomial", manyServers)
	packet := likeOurs(manyServers)
	b.repeat(f.pids(), func() { f.ask(packet) })
	f.close()
}

func loadRanks(b *bench) {
	j := b.startRanks(alone, manyRanks, b.program)
	ranks := rank.Range(0, rank.ID(b.ranks-1)).String()
	b.repeat(j.servers.PIDs(), func() { j.print(ranks, "rank") })
	j.close()
}

func loadRelay(b *bench) {
	r := startRelay(manyRanks, 1, b.program)
	b.repeat([]int{r.cmd.Process.Pid}, func() { r.ask("print", b.ranks, "rank") })
	r.close()
}

// repeat calls f for the time loadFor, and shows the processor time that processes have used for it.
func (b *bench) repeat(pids []int, f func()) {
	b.progress("begins")
	n, before := 0, cpuTime(pids)
	for began := time.Now(); time.Since(began) < loadFor; n++ {
		f()
	}
	b.progress("%d commands in %v, %.1f µs of processor time for each in each process", n, loadFor, us(cpuTime(pids)-before)/float64(n*len(pids)))
}
