package aggregate_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/aggregate"
	"sdm/tree/treetest"
)

func say(text string, ids ...rank.ID) protocol.Group {
	return protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(ids...), Body: []byte(text)}
}

func stop(ids ...rank.ID) protocol.Group {
	return protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Of(ids...), Body: []byte("{}")}
}

func run(ids ...rank.ID) protocol.Group {
	return protocol.Group{Kind: protocol.KindRunning, Ranks: rank.Of(ids...), Body: []byte("{}")}
}

func TestPending(t *testing.T) {
	for _, test := range []struct {
		name string
		add  []protocol.Group
		want string
	}{
		{"nothing", nil, ""},
		{"empty", []protocol.Group{say("a")}, ""},
		{"equal", []protocol.Group{say("a", 0), say("a", 1)}, "output [0-1] \"a\"\n"},
		{"in order", []protocol.Group{say("b", 0), say("a", 1)}, "output [0] \"b\"\noutput [1] \"a\"\n"},
		{"output merges past the output of another rank", []protocol.Group{say("a", 0), say("b", 0), say("a", 1)},
			"output [0-1] \"a\"\noutput [0] \"b\"\n"},
		{"output does not merge past other output of its rank", []protocol.Group{say("a", 0), say("b", 1), say("a", 1)},
			"output [0] \"a\"\noutput [1] \"b\"\noutput [1] \"a\"\n"},
		{"output of two ranks does not merge past output of one of them", []protocol.Group{say("a", 0), say("b", 2), say("a", 1, 2)},
			"output [0] \"a\"\noutput [2] \"b\"\noutput [1-2] \"a\"\n"},
		{"a line that a rank repeats stays repeated", []protocol.Group{say("a", 0), say("a", 0), say("a", 0, 1)},
			"output [0] \"a\"\noutput [0] \"a\"\noutput [0-1] \"a\"\n"},
		{"repeated lines of two ranks merge one by one", []protocol.Group{say("a", 0), say("a", 0), say("a", 1), say("a", 1)},
			"output [0-1] \"a\"\noutput [0-1] \"a\"\n"},
		{"output and events of a rank keep their order", []protocol.Group{
			say("a", 0), stop(0), stop(1), say("a", 1)},
			"output [0] \"a\"\nstopped [0-1] {}\noutput [1] \"a\"\n"},
		{"a running rank does not delay a stop", []protocol.Group{stop(0), run(1), stop(1), run(2), stop(2)},
			"running [1-2] {}\nstopped [0-2] {}\n"},
		{"a rank that stops, runs and stops is reported in that order", []protocol.Group{stop(0), stop(3), run(0, 1), stop(0), run(2), stop(1, 2)},
			"stopped [0,3] {}\nrunning [0-2] {}\nstopped [0-2] {}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p aggregate.Pending
			for _, g := range test.add {
				p.Add(g)
			}
			if got := treetest.Text(p.Take()); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
			if p.Len() != 0 || p.Bytes() != 0 || p.Take() != nil {
				t.Errorf("%d groups, %d bytes left", p.Len(), p.Bytes())
			}
		})
	}
}

func TestPendingAgainstTwin(t *testing.T) {
	for _, collide := range []bool{false, true} {
		t.Run(fmt.Sprintf("collide=%v", collide), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var fast aggregate.Pending
				var slow treetest.SlowPending
				if collide {
					fast.Collide()
				}
				for range rapid.IntRange(0, 80).Draw(t, "groups") {
					g := drawGroup(t, drawRanks(t, 12), protocol.KindStdout, protocol.KindStopped, protocol.KindRunning)
					fast.Add(g)
					slow.Add(g)
					if rapid.IntRange(0, 30).Draw(t, "take") == 0 {
						compare(t, fast.Take(), slow.Take())
					}
				}
				compare(t, fast.Take(), slow.Take())
			})
		})
	}
}

// The groups of each rank are kept in order and number.
func TestPendingKeepsEachRanksOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p aggregate.Pending
		want, got := make(map[rank.ID]string), make(map[rank.ID]string)
		for range rapid.IntRange(0, 200).Draw(t, "groups") {
			g := say(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "text"))
			g.Ranks = drawRanks(t, 8)
			if rapid.Bool().Draw(t, "running") {
				g.Kind = protocol.KindRunning
			}
			for r := range g.Ranks.All() {
				want[r] += string(g.Body)
			}
			p.Add(g)
		}
		for _, g := range p.Take() {
			for r := range g.Ranks.All() {
				got[r] += string(g.Body)
			}
		}
		for r := range want {
			if got[r] != want[r] {
				t.Fatalf("rank %d said %q, got %q", r, want[r], got[r])
			}
		}
	})
}

func BenchmarkPending(b *testing.B) {
	for _, test := range []struct {
		name  string
		ranks func(i int) rank.Set
		text  func(i int) string
		want  int
	}{
		{"alone", func(i int) rank.Set { return rank.Of(rank.ID(i)) }, func(i int) string { return "the same line" }, 1},
		{"distinct", func(i int) rank.Set { return rank.Of(rank.ID(i % 64)) }, func(i int) string { return fmt.Sprintf("line %d", i) }, 512},
		{"lockstep", func(i int) rank.Set { return rank.Of(rank.ID(i / 64)) }, func(i int) string { return fmt.Sprintf("line %d", i%64) }, 64},
		{"interleaved sets", func(i int) rank.Set { return rank.Of(rank.ID(i/256), rank.ID(1000+i/256)) }, func(i int) string { return fmt.Sprintf("line %d", i%256) }, 256},
	} {
		b.Run(test.name, func(b *testing.B) {
			var groups []protocol.Group
			for i := range 512 {
				groups = append(groups, protocol.Group{Kind: protocol.KindStdout, Ranks: test.ranks(i), Body: []byte(test.text(i))})
			}
			var p aggregate.Pending
			b.ReportAllocs()
			for b.Loop() {
				for _, g := range groups {
					p.Add(g)
				}
				if got := len(p.Take()); got != test.want {
					b.Fatalf("%d groups, want %d", got, test.want)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(groups)), "ns/group")
		})
	}
}
