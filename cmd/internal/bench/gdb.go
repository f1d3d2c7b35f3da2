// Real ranks under real gdbs: their start, and one print.

package main

import (
	"fmt"
	"time"

	"sdm/protocol/rank"
)

// manyRanks is how many are started on this machine.
const manyRanks = 64

func benchGDB(b *bench) {
	b.progress("starting %d ranks, %d times each way", manyRanks, b.starts)
	b.benchStart()
	b.progress("print")
	j, r := b.startRanks(manyRanks), startRelay(b.program, manyRanks)
	for _, n := range []int{1, 4, 16, manyRanks} {
		b.benchPrint(j, r, n)
	}
	b.table.add(row{what: fmt.Sprintf("memory (PSS) of a server, %d ranks under gdb", manyRanks), unit: "MB",
		ours: mb(pss(j.servers.PIDs()[0])), limit: limit{most: 15 + 0.2*manyRanks}})
	r.close()
	j.close()
}

// startRanks is what sdm run does until all ranks stand in main, each with a gdb of
// its own: as the floors have it.
func (b *bench) startRanks(n int) *job {
	j := startJob(b.server, 1, n, "--backend", "gdb", "--ranks-per-gdb", "1")
	j.launch(b.program)
	return j
}

// benchStart compares it with as many bare gdbs, started by one process at the
// same concurrency.
func (b *bench) benchStart() {
	var worked [2][]time.Duration // processor time of ranks, gdbs and whoever started them
	ours := func(int) time.Duration {
		began := time.Now()
		j := b.startRanks(manyRanks)
		took := time.Since(began)
		worked[0] = append(worked[0], cpuTime(family(j.servers.PIDs()[0])))
		j.close()
		return took
	}
	bare := func(int) time.Duration {
		began := time.Now()
		r := startRelay(b.program, manyRanks)
		took := time.Since(began)
		worked[1] = append(worked[1], cpuTime(family(r.cmd.Process.Pid)))
		r.close()
		return took
	}
	c := compare(b.starts, 1, ours, bare)
	what := fmt.Sprintf("%d ranks from nothing to main", manyRanks)
	b.table.add(row{what: what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.1}})
	b.table.add(row{what: what + ", processor time", unit: "ms", ours: ms(median(worked[0])), floor: ms(median(worked[1]))})
}

// benchPrint compares a print on the first n ranks with the relay, and with a
// loop in one process.
func (b *bench) benchPrint(j *job, r *relay, n int) {
	const expr = "rank" // another value on each rank
	ranks := rank.Range(0, rank.ID(n-1)).String()
	ours, relayed := timed(func() { j.print(ranks, expr) }), timed(func() { r.ask(n, expr) })
	alone := func(rounds int) time.Duration { return r.loop(n, rounds, expr) }
	compare(1, 5, ours, relayed, alone) // until all has its size
	c := compare(16, 25, ours, relayed, alone)
	what := fmt.Sprintf("print on %d ranks, against ", n)
	b.table.add(row{what: what + "a relay", unit: "µs",
		ours: us(c.times[0]), floor: us(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.15}})
	b.table.add(row{what: what + "a loop", unit: "µs",
		ours: us(c.times[0]), floor: us(c.times[2]), ratio: c.ratio[2], limit: ofLoop(n)})
	mine := processorTime(200, j.servers.PIDs(), func() { j.print(ranks, expr) })
	its := processorTime(200, []int{r.cmd.Process.Pid}, func() { r.ask(n, expr) })
	b.table.add(row{what: fmt.Sprintf("print on %d ranks, processor time of the server", n), unit: "µs", ours: us(mine), floor: us(its)})
}

// ofLoop is how much more than a loop in one process a print may take.
func ofLoop(n int) limit {
	switch {
	case n <= 4:
		return limit{plus: 150}
	case n <= 16:
		return limit{ratio: 1.25}
	}
	return limit{ratio: 1.15}
}
