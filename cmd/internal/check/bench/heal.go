// The time until the others answer after one of 64 servers is killed.

package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// victims are the servers that are killed, one in each session. Each has another height in the
// binomial tree, from 32 servers in its subtree to a leaf.
var victims = []int{31, 47, 23, 11, 61, 62}

// benchHeal kills a server in each of several sessions.
func benchHeal(b *bench) {
	var detected, healed []time.Duration
	for _, v := range victims {
		b.progress("server %d of %d is killed", v, manyServers)
		j := startJob(b.server, manyServers, 1, "--backend", "sim")
		j.launch("simulated")
		pid := j.servers.PIDs()[v]
		began := time.Now()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			fatal("kill", err)
		}
		seen := j.lostAt()
		rest := j.all().Minus(rank.Of(rank.ID(v)))
		j.print(rest.String(), "size")
		detected = append(detected, seen.Sub(began))
		healed = append(healed, time.Since(seen))
		j.abandon()
	}
	b.table.add(row{what: "a server of 64 is killed, until the loss is told (median)", unit: "ms", ours: ms(median(detected))})
	b.table.add(row{what: "from there until all others have answered a command (median)", unit: "ms", ours: ms(median(healed)), limit: limit{most: 1000}})
	b.table.add(row{what: "the slowest of 6 such servers", unit: "ms", ours: ms(healed[len(healed)-1]), limit: limit{most: 1000}})
}

// lostAt waits until lost ranks are reported, and returns that time.
func (j *job) lostAt() time.Time {
	for {
		if e := j.next(); e.ID == 0 && e.Group.Kind == protocol.KindLost {
			return time.Now()
		}
	}
}

// abandon ends a session in which a server was killed.
func (j *job) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		drain(j.master.Events())
	}()
	if err := j.master.Close(ctx); err != nil {
		fatal("end of session", fmt.Errorf("%w\n%s", err, j.servers.Trouble()))
	}
	<-ended
	j.servers.Close(ctx) // the error names the killed server
}

// drain reads events to their end.
func drain(events <-chan session.Event) {
	for range events {
	}
}
