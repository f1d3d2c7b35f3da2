// Guarantees of a tree that hold in all circumstances.

package treetest_test

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/treetest"
)

// check verifies the guarantees that hold in all circumstances.
func (p *play) check(t *rapid.T) {
	t.Helper()
	if len(p.master.Errors) > 0 {
		t.Fatalf("%s: %v", p.table.Shape, p.master.Errors)
	}
	for id, a := range p.asked {
		o := p.master.Outcome(id)
		if !o.Ended || a.wait > 0 && o.First > o.Since+a.wait {
			t.Fatalf("%s: request %d of %v was answered: %v, at %v; asked at %v with wait %v", p.table.Shape, id, a.ranks, o.Ended, o.First, o.Since, a.wait)
		}
		if a.silent == 0 && !o.Final {
			t.Fatalf("%s: request %d has no end, though no rank of %v is silent", p.table.Shape, id, a.ranks)
		}
		for r, n := range p.before[id] {
			if heard, ok := o.Received[r]; ok && !p.master.Lost(r) && heard < n {
				t.Fatalf("%s: rank %d answered request %d when it had said %d things, of which %d had been heard", p.table.Shape, r, id, n, heard)
			}
		}
	}
	for r, said := range p.events {
		p.checkSaid(t, r, said, p.master.Events(r))
	}
}

// checkSaid compares the events of a rank with those received: all, in order, in
// time; for a lost rank, a prefix of them.
func (p *play) checkSaid(t *rapid.T, r rank.ID, said, heard []treetest.Event) {
	t.Helper()
	if len(heard) > len(said) || len(heard) < len(said) && !p.unheard(r) {
		t.Fatalf("%s: rank %d said %d things, %d were heard", p.table.Shape, r, len(said), len(heard))
	}
	for i := range heard {
		if heard[i].Kind != said[i].Kind || heard[i].Body != said[i].Body {
			t.Fatalf("%s: rank %d said %v, %v was heard", p.table.Shape, r, said[:i+1], heard[:i+1])
		}
		bound := treetest.Bound(p.table, p.maxDelay, said[i].Kind, p.starting(said[i].At))
		// For each server that is killed: the report to the root, its permission,
		// connecting to and asking the orphans, and the way up.
		bound += time.Duration(len(p.kills)) * 6 * time.Duration(treetest.Depth(p.table)) * p.maxDelay
		if late := heard[i].At - said[i].At; late > bound && !p.unplaced(r) {
			t.Fatalf("%s: what rank %d said at %v was heard %v later; %v is the most", p.table.Shape, r, said[i].At, late, bound)
		}
	}
}

// starting reports whether ranks were started so recently that others may be
// awaited.
func (p *play) starting(at time.Duration) bool {
	for _, said := range p.events {
		for _, one := range said {
			if one.Kind == protocol.KindStarted && one.At >= at-3*time.Second && one.At <= at+time.Second {
				return true
			}
		}
	}
	return false
}

// unplaced reports whether the server of a rank was not reached when the tree was
// built: it can send events only when a later loss has it adopted.
func (p *play) unplaced(r rank.ID) bool {
	var ready rank.Set
	for _, g := range p.master.Outcome(building).Groups() {
		if g.Kind == protocol.KindResult {
			ready = ready.Union(g.Ranks)
		}
	}
	for _, route := range p.table.Routes {
		if route.Ranks.Contains(r) {
			return !ready.Contains(rank.ID(route.Server))
		}
	}
	return false
}

// unheard reports whether events of a rank may be lost: a vertex between it and the
// root was killed or never reached.
func (p *play) unheard(r rank.ID) bool {
	return p.master.Lost(r) || len(p.refuse) > 0 || len(p.kills) > 0
}

var shapes = []string{"flat", "2", "8", "binomial"}

// One history over four trees gives identical answers.
func TestEveryShapeGivesTheSameAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawJob(t, 3*time.Millisecond)
		var first *play
		for _, shape := range shapes {
			p := h.play(shape)
			p.check(t)
			if first == nil {
				first = p
				continue
			}
			for id := range p.asked {
				got, want := p.master.Outcome(id).Groups(), first.master.Outcome(id).Groups()
				if !bytes.Equal(treetest.Bytes(got), treetest.Bytes(want)) {
					t.Fatalf("request %d, %s:\n%s%s:\n%s", id, shape, treetest.Text(got), shapes[0], treetest.Text(want))
				}
			}
		}
	})
}

// The guarantees hold with slow ranks, short waits, and servers that are killed or
// refuse.
func TestGuaranteesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawJob(t, time.Duration(rapid.IntRange(1, 3000).Draw(t, "slow in ms"))*time.Millisecond)
		for i := range h.commands {
			h.commands[i].wait = h.time(2*time.Second, 20, i) + 1
			if h.commands[i].silent == 0 && mix(h.seed, 21, i)%4 == 0 {
				h.commands[i].wait = 0
			}
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "kills") {
			h.kills = append(h.kills, kill{h.time(4*time.Second, 22, i), protocol.ServerID(mix(h.seed, 23, i) % uint64(h.servers))})
		}
		h.refuse = make(map[tree.NodeID]bool)
		for i := range rapid.IntRange(0, 2).Draw(t, "refusals") {
			h.refuse[tree.NodeID(1+mix(h.seed, 24, i)%uint64(h.servers))] = true
		}
		h.play(rapid.SampledFrom(append(shapes, "1", "3")).Draw(t, "shape")).check(t)
	})
}
