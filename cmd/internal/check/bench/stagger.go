// 65,536 ranks that stop one after the other within 200 ms.

package main

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"sdm/backend"
	"sdm/master/session"
	"sdm/protocol"
)

func benchStagger(b *bench) { b.runInside("stagger") }

// moments records when the first and the last rank have stopped, according to their engines.
type moments struct{ first, last atomic.Int64 }

// reset forgets both.
func (m *moments) reset() { m.first.Store(0); m.last.Store(0) }

// watched is the event sink of one server that updates moments.
type watched struct {
	backend.Sink
	at *moments
}

// Event implements backend.Sink.
func (w watched) Event(groups ...protocol.Group) {
	if slices.ContainsFunc(groups, func(g protocol.Group) bool { return g.Kind == protocol.KindStopped }) {
		now := time.Now().UnixNano()
		w.at.first.CompareAndSwap(0, now)
		for last := w.at.last.Load(); last < now && !w.at.last.CompareAndSwap(last, now); last = w.at.last.Load() {
		}
	}
	w.Sink.Event(groups...)
}

// insideStagger measures steps of all ranks.
func insideStagger(in *insider) {
	const servers, each, rounds = 1024, 64, 10 // the program ends soon after
	in.say("%d ranks on %d servers stop within 200 ms, %d times", servers*each, servers, rounds)
	at := &moments{}
	c := startSimulated(servers*each, servers, "binomial", "run 0ms..200ms\n", func(s backend.Sink) backend.Sink { return watched{s, at} })
	c.launch("work")
	var first, last []time.Duration
	most := 0
	for range rounds {
		at.reset()
		f, l, events := c.staggered(at)
		first, last, most = append(first, f), append(last, l), max(most, events)
	}
	in.add("65,536 ranks stop within 200 ms: the first is shown after", "ms", ms(median(first)), 15)
	in.add("the slowest of "+strconv.Itoa(rounds), "ms", ms(first[rounds-1]), 0)
	in.add("all are shown after the last has stopped", "ms", ms(median(last)), 0)
	in.add("the slowest of "+strconv.Itoa(rounds)+" (p99)", "ms", ms(last[rounds-1]), 100)
	in.add("events in all, at most", "", float64(most), 20)
}

// staggered steps all ranks once. It returns the time from the first stop of a rank until the first
// event, that from the last stop until the last event, and the number of events.
func (c *simSession) staggered(at *moments) (first, last time.Duration, events int) {
	c.call(session.Call{Command: "step"})
	for rest := c.all(); !rest.IsEmpty(); {
		e := c.next()
		if e.Group.Kind != protocol.KindStopped || e.Done != nil {
			continue
		}
		now := time.Now().UnixNano()
		if events++; events == 1 {
			first = time.Duration(now - at.first.Load())
		}
		last = time.Duration(now - at.last.Load())
		rest = rest.Minus(e.Group.Ranks)
	}
	return first, last, events
}
