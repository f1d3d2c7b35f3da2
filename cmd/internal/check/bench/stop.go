// The time from one rank's stop to its event in the stream that a console reads.

package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"sdm/master/session"
	"sdm/protocol/rank"
)

// deepRank is on the server whose vertex is 15, 1111 in binary: four links below the root.
const deepRank rank.ID = 14

// stops is how many stops are measured: as many steps as the simulated program has.
const stops = 10

// benchStop measures stops of deepRank while all other ranks run.
func benchStop(b *bench) {
	self, err := os.Executable()
	if err != nil {
		fatal("stop", err)
	}
	b.progress("one rank stops while 63 run, %d times", stops)
	j := startJob(self, manyServers, 1)
	j.launch("simulated")
	all := rank.Range(0, manyServers-1)
	j.ask(session.Call{Command: "continue", Ranks: all.Minus(rank.Of(deepRank)).String()})
	var took []time.Duration
	for range stops {
		j.call(session.Call{Command: "step", Ranks: fmt.Sprint(deepRank)})
		took = append(took, j.stopTime())
	}
	b.table.add(row{what: "a rank's stop, 4 links down, to the console's stream", unit: "ms", ours: ms(median(took)), limit: limit{most: 15}})
	b.table.add(row{what: "the slowest of 10 such stops", unit: "ms", ours: ms(took[len(took)-1])})
	j.close()
}

// stopTime waits for a stop and returns how long its event took.
func (j *job) stopTime() time.Duration {
	for {
		e := j.next()
		now := time.Now()
		for _, c := range e.Group.Columns {
			if c.Name != columnAt {
				continue
			}
			at, err := strconv.ParseInt(c.Values()[0].Value, 10, 64)
			if err != nil {
				fatal("stop", err)
			}
			return now.Sub(time.Unix(0, at))
		}
	}
}
