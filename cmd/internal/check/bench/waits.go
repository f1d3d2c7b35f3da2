// What simulated ranks wait for: stacks with the verdict, against stacks alone.

package main

import (
	"fmt"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/master/verdict"
	"sdm/protocol"
)

func benchWaits(b *bench) { b.runInside("waits") }

// Scripts of simulated ranks that wait for nothing, for an absent rank, and for one another.
const (
	waitless  = "seed 1\n"
	inBarrier = "barrier 1-65535\n"
	inRing    = "ring all\n"
)

// insideWaits measures the verdict about hangs of different kinds.
func insideWaits(in *insider) {
	floor := in.verdictOf(4096, 16, waitless)
	for _, x := range []struct{ what, script string }{{"a barrier with one absent", inBarrier}, {"a ring", inRing}} {
		in.out.Encode(figure{What: "stacks with verdict, 4,096 servers, " + x.what + ", against stacks", Unit: "ms", Ours: in.verdictOf(4096, 16, x.script), Floor: floor,
			Times: 2})
	}
	in.add("verdict of 1,048,576 ranks in a ring, 16,384 servers, beyond stacks", "ms", in.verdictOf(16_384, 64, inRing)-in.verdictOf(16_384, 64, waitless), 1000)
}

// verdictOf measures stacks with the verdict about simulated ranks that a script describes. It returns the median
// time in ms.
func (in *insider) verdictOf(servers, each int, script string) float64 {
	in.say("%d servers with %d simulated ranks, %s", servers, servers*each, script[:len(script)-1])
	c := startSimulated(servers*each, servers, "binomial", script, nil)
	defer c.close()
	c.launch("work")
	var found []verdict.Finding
	const times = 9
	took := ms(medianOf(times, func() {
		reply := c.ask(session.Call{Command: "stacks", Args: protocol.Args{}})
		found = verdict.Of(text.Waits(text.Asked{}, reply))
	}))
	want := 1
	if script == waitless {
		want = 0
	}
	if len(found) != want {
		fatal("waits", fmt.Errorf("%d findings, want %d", len(found), want))
	}
	return took
}
