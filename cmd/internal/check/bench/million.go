// 1,048,576 ranks on 16,384 servers.

package main

import (
	"fmt"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/stack"
)

func benchMillion(b *bench) { b.runInside("million") }

// insideMillion measures commands to all ranks.
func insideMillion(in *insider) {
	const servers, each, stacks = 16_384, 64, 200
	in.say("%d servers with %d simulated ranks", servers, servers*each)
	began := time.Now()
	c := startSimulated(servers*each, servers, "binomial", "stacks 200\n", nil)
	in.add("1,048,576 ranks, 16,384 servers: the tree stands", "ms", ms(time.Since(began)), 0)
	began = time.Now()
	events := c.countedLaunch("work")
	start := ms(time.Since(began))
	in.add("events until all are at main", "", float64(events), 200)
	c.ask(session.Call{Command: "break", Args: protocol.Args{Location: "helper"}})
	began = time.Now()
	c.call(session.Call{Command: "continue"})
	c.stopped(c.all())
	in.add("all continued to a breakpoint", "ms", ms(time.Since(began)), 0)

	in.say("stacks")
	var reply []protocol.Group
	took := in.measure("merged stack tree, 200 distinct stacks", func() { reply = c.ask(session.Call{Command: "stacks"}) })
	in.out.Encode(figure{What: "all launched and at main, against the stacks of all", Unit: "ms", Ours: start, Floor: took, Times: 4})
	if n := leaves(reply[0].Stack.Roots()); n != stacks {
		fatal("stacks", fmt.Errorf("%d distinct stacks, want %d", n, stacks))
	}
	in.say("print")
	for _, expr := range []string{"size", "x"} {
		in.measure("print "+expr, func() { reply = c.print("", expr) })
		in.add("print "+expr+", the reply", "KB", float64(length(reply))/1024, 16)
	}
	in.measure("stat x", func() { reply = c.ask(session.Call{Command: "stat", Args: protocol.Args{Expr: "x"}}) })
	in.add("stat x, the reply", "KB", float64(length(reply))/1024, 16)
	in.add("memory, at most, of all in one process", "MB", mb(peak()), 2000)
}

// measure calls f five times and reports the median time, which it returns in milliseconds, and the
// mean processor time.
func (in *insider) measure(what string, f func()) float64 {
	const times = 5
	before := ownTime()
	median := ms(medianOf(times, f))
	in.add(what, "ms", median, 3000)
	in.add(what+", processor time", "ms", ms((ownTime()-before)/times), 0)
	return median
}

// countedLaunch is launch. It returns the number of events until all ranks have stopped in main.
func (c *simSession) countedLaunch(program string) int {
	before := c.events
	c.launch(program)
	return c.events - before
}

// leaves counts the distinct stacks of a tree.
func leaves(nodes []*stack.Node) int {
	n := 0
	for _, node := range nodes {
		n += max(leaves(node.Children()), 1)
	}
	return n
}

// length returns the length of the answers in the form for front ends, in bytes.
func length(groups []protocol.Group) int {
	n := 0
	for _, g := range groups {
		n += len(session.NewEvent(g).AppendBrief(nil))
	}
	return n
}
