// Real ranks under real gdbs, one each: their start, and one print.

package main

import (
	"fmt"
	"time"

	"sdm/protocol/rank"
)

// manyRanks is the number of ranks that are started on this machine.
const manyRanks = 64

// sharing is how many ranks share a gdb.
type sharing struct {
	name string   // for the table
	args []string // of sdm-server
	per  int      // for the floors
}

// alone is a gdb for each rank.
var alone = sharing{"a gdb each", []string{"--ranks-per-gdb", "1"}, 1}

// benchGDB measures ranks with a gdb each.
func benchGDB(b *bench) {
	b.progress("starting %d ranks, %d times each way", manyRanks, b.starts)
	b.benchStart(alone, limit{ratio: 1.1})
	b.progress("print")
	p := b.startPair(alone, b.program)
	for _, n := range []int{1, 4, 16, manyRanks} {
		b.benchPrint(p, n, true)
	}
	b.table.add(row{what: fmt.Sprintf("memory (PSS) of a server, %d ranks under gdb", manyRanks), unit: "MB",
		ours: mb(pss(p.server())), limit: limit{most: 15 + 0.2*manyRanks}})
	b.benchMemory(p, 12)
	p.close()
}

// startRanks does what sdm run does until all ranks have stopped in main.
func (b *bench) startRanks(s sharing, n int, line ...string) *job {
	j := startJob(b.server, 1, n, append([]string{"--backend", "gdb"}, s.args...)...)
	j.launch(line[0], line[1:]...)
	return j
}

// pair is a session and a relay with ranks of the same program and the same sharing of gdbs.
type pair struct {
	*job
	relay *relay
	as    sharing
}

// startPair starts the ranks of a program twice: in a session and under a relay.
func (b *bench) startPair(s sharing, line ...string) *pair {
	return &pair{b.startRanks(s, manyRanks, line...), startRelay(manyRanks, s.per, line...), s}
}

// server returns the process ID of the only server.
func (p *pair) server() int { return p.servers.PIDs()[0] }

func (p *pair) close() {
	p.relay.close()
	p.job.close()
}

// benchStart compares the start with that of as many bare gdbs that one process starts with the
// same concurrency.
func (b *bench) benchStart(s sharing, l limit) {
	var worked [2][]time.Duration // processor time of ranks, gdbs and the processes that started them
	ours := func(int) time.Duration {
		began := time.Now()
		j := b.startRanks(s, manyRanks, b.program)
		took := time.Since(began)
		worked[0] = append(worked[0], cpuTime(family(j.servers.PIDs()[0])))
		j.close()
		return took
	}
	bare := func(int) time.Duration {
		began := time.Now()
		r := startRelay(manyRanks, s.per, b.program)
		took := time.Since(began)
		worked[1] = append(worked[1], cpuTime(family(r.cmd.Process.Pid)))
		r.close()
		return took
	}
	c := compare(b.starts, 1, ours, bare)
	what := fmt.Sprintf("%d ranks from nothing to main, %s", manyRanks, s.name)
	b.table.add(row{what: what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: l})
	b.table.add(row{what: what + ", processor time", unit: "ms", ours: ms(median(worked[0])), floor: ms(median(worked[1]))})
}

// benchPrint compares a print on the first n ranks with the relay and, if looped is set, with a
// loop in one process.
func (b *bench) benchPrint(p *pair, n int, looped bool) {
	const expr = "rank" // differs on each rank
	ranks := rank.Range(0, rank.ID(n-1)).String()
	ask := func() { p.print(ranks, expr) }
	relay := func() { p.relay.ask("print", n, expr) }
	loop := func(times int) time.Duration { return p.relay.loop("print", n, times, expr) }
	ways := []way{timed(ask), timed(relay), loop}
	compare(1, 5, ways...) // until all buffers have their final size
	c := compare(printBlocks(n), 25, ways...)
	what := fmt.Sprintf("print on %d ranks, %s, against ", n, p.as.name)
	b.table.add(row{what: what + "a relay", unit: "µs",
		ours: us(c.times[0]), floor: us(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.5, slack: 150}})
	if looped {
		b.table.add(row{what: what + "a loop", unit: "µs",
			ours: us(c.times[0]), floor: us(c.times[2]), ratio: c.ratio[2]})
	}
	mine := processorTime(200, []int{p.server()}, ask)
	its := processorTime(200, []int{p.relay.cmd.Process.Pid}, relay)
	b.table.add(row{what: fmt.Sprintf("print on %d ranks, %s, processor time of the server", n, p.as.name), unit: "µs", ours: us(mine), floor: us(its)})
}

// printBlocks returns the number of blocks in which prints on n ranks are measured: for one to
// three seconds each way. Linux leaves a gdb on its processor for about a tenth of a second,
// whether the others are well distributed or not, and that must not be measured.
func printBlocks(n int) int { return max(32, 1600/(n+7)) }

// benchMemory measures the memory of the server and its gdbs, with a limit in MB for each rank.
func (b *bench) benchMemory(p *pair, most float64) {
	sum := pss(p.server())
	for _, pid := range gdbsOf(p.server()) {
		sum += pss(pid)
	}
	b.table.add(row{what: fmt.Sprintf("memory (PSS) of the server and its gdbs, %s, for each rank", p.as.name), unit: "MB",
		ours: mb(sum / manyRanks), limit: limit{most: most}})
}
