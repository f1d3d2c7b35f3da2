// Real ranks that share gdbs, as is the default.

package main

import (
	"fmt"
	"strconv"
	"time"

	"sdm/master/session"
	"sdm/protocol"
)

// further is how many threads each rank of the busy program has besides its main thread.
const further = 7

// benchShared measures the start of ranks, their memory and print.
func benchShared(b *bench) {
	shared := b.usual()
	b.progress("starting %d ranks, %d to a gdb, %d times each way", manyRanks, shared.per, b.starts)
	b.benchStart(shared, limit{most: 1000})

	b.progress("print")
	p := b.startPair(shared, b.program)
	b.benchMemory(p, 2.5)
	for _, n := range []int{1, 4, 16, manyRanks} {
		b.benchPrint(p, n, false)
	}
	p.close()
}

// benchRounds measures requests to all ranks.
func benchRounds(b *bench) {
	laps, shared := b.compile("laps"), b.usual()
	b.progress("continue, stacks")
	p := b.startPair(shared, laps)
	p.breakAt("lap")
	b.benchRound("continue to the next breakpoint", "continue", p, p.goOn, limit{ratio: 1.3})
	b.benchRound("stacks of stopped ranks", "stacks", p, func() { p.stacks(0) }, limit{ratio: 1.2})
	p.close()

	b.progress("stacks of ranks that run")
	p = b.startPair(shared, laps, strconv.Itoa(further), "10000")
	p.breakAt("track") // all threads exist when a rank stops there
	p.goOn()
	p.relay.ask("continue", manyRanks, "")
	p.ask(session.Call{Command: "continue"})
	p.relay.ask("run", manyRanks, "")
	b.benchRound(fmt.Sprintf("stacks of ranks that run, %d threads each", further+1), "sample", p, func() { p.stacks(1) }, limit{most: 300})
	p.close()
}

// usual returns the default sharing of gdbs.
func (b *bench) usual() sharing {
	j := b.startRanks(sharing{}, manyRanks, b.program)
	defer j.close()
	gdbs := len(gdbsOf(j.servers.PIDs()[0]))
	per := (manyRanks + gdbs - 1) / gdbs
	return sharing{fmt.Sprintf("%d to a gdb", per), nil, per}
}

// benchRound compares a request to all ranks with the same request to the relay, and with a loop in
// the relay, which is the bare driver.
func (b *bench) benchRound(what, round string, p *pair, do func(), l limit) {
	loop := func(times int) time.Duration { return p.relay.loop(round, manyRanks, times, "") }
	relay := func() { p.relay.ask(round, manyRanks, "") }
	compare(1, 3, timed(do), timed(relay), loop)
	c := compare(12, 5, timed(do), timed(relay), loop)
	what = fmt.Sprintf("%d ranks, %s: %s", manyRanks, p.as.name, what)
	b.table.add(row{what: what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[2]), ratio: c.ratio[2], limit: l})
	mine := processorTime(20, []int{p.server()}, do)
	its := processorTime(20, []int{p.relay.cmd.Process.Pid}, relay)
	b.table.add(row{what: what + ", processor time of the server", unit: "ms", ours: ms(mine), floor: ms(its)})
	mine = processorTime(20, gdbsOf(p.server()), do)
	its = processorTime(20, gdbsOf(p.relay.cmd.Process.Pid), relay)
	b.table.add(row{what: what + ", processor time of the gdbs", unit: "ms", ours: ms(mine), floor: ms(its)})
}

// breakAt sets a breakpoint on all ranks of the session and of the relay.
func (p *pair) breakAt(location string) {
	p.ask(session.Call{Command: "break", Args: protocol.Args{Location: location}})
	p.relay.ask("break", manyRanks, location)
}

// goOn continues all ranks to their next stop.
func (p *pair) goOn() {
	id := p.call(session.Call{Command: "continue"})
	left, done := p.all(), false
	for !done || !left.IsEmpty() {
		e := p.next()
		switch {
		case e.ID == id && e.Done != nil:
			done = true
		case e.Group.Kind == protocol.KindStopped:
			left = left.Minus(e.Group.Ranks)
		case e.Group.Kind.IsEnd(), e.Group.Kind == protocol.KindFault:
			fatal("continue", fmt.Errorf("%v", e.Group))
		}
	}
}

// stacks requests the stacks of all ranks: the current ones, or samples.
func (p *pair) stacks(samples int) {
	p.ask(session.Call{Command: "stacks", Args: protocol.Args{Samples: samples}})
}
