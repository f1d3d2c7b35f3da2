// What 4,096 simulated servers wait for: stacks with the verdict, against stacks alone.

package main

import (
	"fmt"

	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/master/verdict"
	"sdm/protocol"
)

func benchWaits(b *bench) { b.runInside("waits") }

// insideWaits measures the verdict about hangs of different kinds.
func insideWaits(in *insider) {
	const servers, each = 4096, 16
	const alone = "seed 1\n"
	var floor float64
	for _, x := range []struct{ what, script string }{
		{"", alone}, {"a barrier with one absent", "barrier 1-65535\n"}, {"a ring", "ring all\n"},
	} {
		in.say("%d servers with %d simulated ranks, %s", servers, servers*each, x.what)
		c := startSimulated(servers*each, servers, "binomial", x.script, nil)
		c.launch("work")
		var found []verdict.Finding
		const times = 9
		took := ms(medianOf(times, func() {
			reply := c.ask(session.Call{Command: "stacks", Args: protocol.Args{}})
			found = verdict.Of(text.Waits(text.Asked{}, reply))
		}))
		c.close()
		if x.script == alone {
			floor = took
			continue
		}
		if len(found) != 1 {
			fatal("waits", fmt.Errorf("%d findings, want one", len(found)))
		}
		in.out.Encode(figure{What: "stacks with verdict, 4,096 servers, " + x.what + ", against stacks", Unit: "ms", Ours: took, Floor: floor, Times: 2})
	}
}
