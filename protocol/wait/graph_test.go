package wait

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
)

// world is the communicator of the tests.
func world(n int) Comm {
	return Comm{Key: "w", Name: "MPI_COMM_WORLD", Members: rank.Range(0, rank.ID(n-1))}
}

func barrier() Call { return Call{Function: "MPI_Barrier", Comm: "w", Root: No, Bytes: No} }

func receive(peer, tag int) Message {
	return Message{Edge{Function: "MPI_Recv", Comm: "w", Tag: tag}, peer}
}

// drawRank draws what a rank says, often something that another one says, too.
func drawRank(t *rapid.T, r int) Rank {
	x := Rank{Doing: Doing{State: State(rapid.IntRange(0, int(states)-1).Draw(t, "state")),
		Frames: rapid.SampledFrom([]string{"", "main", "f x.c:1\nmain"}).Draw(t, "frames")}}
	if rapid.IntRange(0, 3).Draw(t, "threads") == 0 {
		x.Doing.Does, x.Doing.Detail = rapid.SampledFrom([]string{"", "waits in read of /tmp/1"}).Draw(t, "does"), "a detail"
		x.Doing.For, x.Doing.Lock = rapid.IntRange(0, 2).Draw(t, "for"), rapid.Bool().Draw(t, "lock")
		for n := range rapid.IntRange(0, 2).Draw(t, "others") {
			x.Doing.Others = append(x.Doing.Others, Thread{Number: n + 2, Name: "io", State: Sleeping, Frames: "g y.c:2", Does: "waits for a mutex", For: 1, Lock: true})
		}
	}
	x.Doing.Left = len(x.Doing.Does)
	x.Moved, x.Doubt = rapid.Bool().Draw(t, "moved"), rapid.Bool().Draw(t, "doubt")
	x.Unheld = rapid.IntRange(0, 3).Draw(t, "unheld") == 0
	if x.Numbered = rapid.Bool().Draw(t, "numbered"); x.Numbered {
		x.Number = r + rapid.IntRange(0, 1).Draw(t, "number")
	}
	if rapid.Bool().Draw(t, "unexpected") {
		x.Comms = []Comm{world(100)}
		x.Unexpected = []Message{{Edge{Comm: "w", Tag: rapid.IntRange(0, 1).Draw(t, "its tag")}, r + 1}}
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		x.Calls, x.Comms = []Call{barrier()}, []Comm{world(100)}
	case 1:
		x.Comms = []Comm{world(100)}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			peer := rapid.SampledFrom([]int{Any, Unknown, 0, 7, r + 1, r + 2, r}).Draw(t, "peer")
			m := receive(peer, rapid.IntRange(-3, 1).Draw(t, "tag"))
			m.Object = rapid.SampledFrom([]string{"", "lock of /tmp/x"}).Draw(t, "object")
			m.Send, m.Need = rapid.Bool().Draw(t, "send"), Need(rapid.IntRange(0, 3).Draw(t, "need"))
			x.Waits = append(x.Waits, m)
		}
	case 2:
		x.Calls = []Call{{Function: "MPI_Bcast", Root: r % 3, Bytes: 8, Op: "MPI_SUM"}}
	}
	return x
}

// drawRanks draws what some ranks say.
func drawRanks(t *rapid.T) map[rank.ID]Rank {
	all := map[rank.ID]Rank{}
	for r := range rapid.IntRange(1, 12).Draw(t, "ranks") {
		if rapid.IntRange(0, 5).Draw(t, "there") > 0 {
			all[rank.ID(r)] = drawRank(t, r)
		}
	}
	return all
}

func wireOf(g *Graph) []byte { return g.AppendWire(nil) }

// merged merges the graphs of single ranks in an order.
func merged(all map[rank.ID]Rank, order []rank.ID) (g *Graph) {
	for _, r := range order {
		g = g.Merge(Of(rank.Range(r, r), all[r]))
	}
	return g
}

func TestGraphsMergeToTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRanks(t)
		ids := slices.Sorted(maps.Keys(all))
		want := wireOf(merged(all, ids))
		shuffled := rapid.Permutation(ids).Draw(t, "order")
		if got := wireOf(merged(all, shuffled)); !bytes.Equal(got, want) {
			t.Fatalf("in order %v: %v, want %v", shuffled, merged(all, shuffled), merged(all, ids))
		}
		at := rapid.IntRange(0, len(ids)).Draw(t, "at")
		parts := merged(all, shuffled[:at]).Merge(merged(all, shuffled[at:]))
		if got := wireOf(parts); !bytes.Equal(got, want) {
			t.Fatalf("in parts: %v, want %v", parts, merged(all, ids))
		}
	})
}

// pairs returns what a graph says, each pair of a rank and a peer for itself.
func pairs(g *Graph) map[string]bool {
	out := map[string]bool{}
	for _, e := range g.Edges() {
		for _, r := range e.Pairs.Runs() {
			for i := range r.Count {
				id := r.First + rank.ID(i)
				out[fmt.Sprint(e.Function, e.Comm, e.Object, e.Send, e.Need, e.Tag, id, r.Of(id))] = true
			}
		}
	}
	return out
}

func TestGraphsHoldWhatRanksSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRanks(t)
		g := merged(all, slices.Sorted(maps.Keys(all)))
		want := map[string]bool{}
		for r, x := range all {
			for _, m := range x.Waits {
				want[fmt.Sprint(m.Function, m.Comm, m.Object, m.Send, m.Need, m.Tag, r, m.Peer)] = true
			}
			for _, d := range g.Doings() {
				if d.Ranks.Contains(r) != (d.compare(&x.Doing) == 0) {
					t.Fatalf("%d does %v, not %v", r, x.Doing, d)
				}
			}
			for _, c := range g.Calls() {
				in := slices.ContainsFunc(x.Calls, func(y Call) bool { return y.compare(&c) == 0 })
				if c.Ranks.Contains(r) != in {
					t.Fatalf("%d is in %v: %v", r, c, in)
				}
			}
			if g.Moved().Contains(r) != x.Moved || g.Doubt().Contains(r) != x.Doubt || g.Unheld().Contains(r) != x.Unheld {
				t.Fatalf("%d moved: %v, unheld: %v", r, x.Moved, x.Unheld)
			}
		}
		if got := pairs(g); !maps.Equal(got, want) {
			t.Fatalf("pairs %v, want %v", got, want)
		}
	})
}

func TestGraphsSurviveEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRanks(t)
		g := merged(all, slices.Sorted(maps.Keys(all)))
		b := wireOf(g)
		back, rest, err := Decode(append(slices.Clip(b), 7))
		if err != nil || len(rest) != 1 || !bytes.Equal(wireOf(back), b) {
			t.Fatalf("%v, %d bytes after it: %v", err, len(rest), back)
		}
		text, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if g == nil {
			return
		}
		var again Graph
		if err := json.Unmarshal(text, &again); err != nil || !bytes.Equal(wireOf(&again), b) {
			t.Fatalf("%v: %s gives %v", err, text, &again)
		}
	})
}

func TestOnlyDividesGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRanks(t)
		ids := slices.Sorted(maps.Keys(all))
		g := merged(all, ids)
		some := rank.Of(rapid.SliceOf(rapid.Custom(func(t *rapid.T) rank.ID { return rank.ID(rapid.IntRange(0, 12).Draw(t, "id")) })).Draw(t, "some")...)
		var in []rank.ID
		for _, r := range ids {
			if some.Contains(r) {
				in = append(in, r)
			}
		}
		if got, want := g.Only(some), merged(all, in); !bytes.Equal(wireOf(got), wireOf(want)) {
			t.Fatalf("only %v: %v, want %v", some, got, want)
		}
	})
}

// TestAfterFindsRanksThatMoved compares two samples rank by rank.
func TestAfterFindsRanksThatMoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := drawRanks(t), drawRanks(t)
		first, last := merged(one, slices.Sorted(maps.Keys(one))), merged(two, slices.Sorted(maps.Keys(two)))
		got := last.After(first).Moved()
		for r, x := range two {
			y, was := one[r]
			a, b := Of(rank.Range(r, r), x), Of(rank.Range(r, r), y)
			unheld := x.Unheld || was && y.Unheld
			a.moved, b.moved = rank.Set{}, rank.Set{}
			a.doubt, b.doubt = rank.Set{}, rank.Set{}
			a.numbers, b.numbers = Pairs{}, Pairs{} // that they are known now, or what has come, is no progress
			a.unexpected, b.unexpected = nil, nil
			a.comms, b.comms = nil, nil
			a.unheld, b.unheld = rank.Set{}, rank.Set{}
			moved := x.Moved || y.Moved || !unheld && (!was || !bytes.Equal(wireOf(a), wireOf(b)))
			if got.Contains(r) != moved {
				t.Fatalf("%d moved: %v; %v then %v", r, !moved, b, a)
			}
		}
	})
}

// TestMergeAll: of ranks that are in several graphs the facts of the first are taken.
func TestMergeAll(t *testing.T) {
	var all []*Graph
	var want *Graph
	for i := range 7 {
		g := Of(rank.Range(rank.ID(i), rank.ID(2*i)), Rank{Doing: Doing{Frames: fmt.Sprint("f", i)}, Waits: []Message{receive(i, 0)}})
		all, want = append(all, g, nil), want.Merge(g)
	}
	if got := MergeAll(all); !bytes.Equal(wireOf(got), wireOf(want)) {
		t.Errorf("%v, want %v", got, want)
	}
	if MergeAll(nil) != nil {
		t.Error("no graphs have a graph")
	}
	for r := range rank.ID(14) {
		var runs []Run
		for _, x := range want.Edges()[0].Pairs.Runs() {
			if r >= x.First && r <= x.Last() {
				runs = append(runs, x)
			}
		}
		if got := want.Edges()[0].Pairs.RunsOf(r); !slices.Equal(got, runs) {
			t.Errorf("%d: %v, want %v", r, got, runs)
		}
	}
}

// TestTooManyDetailsAreLeftOut merges ranks that each do something else with another file.
func TestTooManyDetailsAreLeftOut(t *testing.T) {
	of := func(r int) *Graph {
		d := Doing{State: Sleeping, Frames: "save x.c:9", Does: fmt.Sprint("waits in write of /out/", r), Left: r}
		return Of(rank.Range(rank.ID(r), rank.ID(r)), Rank{Doing: d})
	}
	var up, down *Graph
	for r := range maxDoings {
		up, down = up.Merge(of(r)), of(maxDoings-r).Merge(down)
	}
	if n := len(up.Doings()); n != maxDoings || up.coarse {
		t.Fatalf("%d rows", n)
	}
	up, down = up.Merge(of(maxDoings)), of(0).Merge(down)
	if n := len(up.Doings()); n != 1 || up.Doings()[0].Does != "" || up.Ranks().Len() != maxDoings+1 || !bytes.Equal(wireOf(up), wireOf(down)) {
		t.Errorf("%d rows: %v and %v", n, up, down)
	}
	if _, _, err := Decode(wireOf(up)); err != nil {
		t.Error(err)
	}
	before := Of(up.Ranks(), Rank{Doing: of(0).Doings()[0]})
	for name, moved := range map[string]rank.Set{"more rows": up.After(before).Moved(), "fewer rows": before.After(up).Moved()} {
		if before.coarse || !moved.IsEmpty() {
			t.Errorf("%s than may have details: %v moved", name, moved)
		}
	}
	one := Of(rank.Range(0, 0), Rank{Doing: Doing{State: Sleeping, Left: 3}}).Merge(Of(rank.Range(1, 1), Rank{Doing: Doing{State: Sleeping, Left: 5}}))
	if d := one.Doings(); len(d) != 1 || d[0].Left != 5 {
		t.Errorf("%v", d)
	}
}

func TestShiftedIsMergedRanks(t *testing.T) {
	x := Rank{Comms: []Comm{world(9)}}
	for n := range 4 {
		all := map[rank.ID]Rank{}
		for r := rank.ID(3); r <= rank.ID(3+n); r++ {
			y := x
			y.Waits = []Message{receive(int(r)+2, 5)}
			all[r] = y
		}
		want := merged(all, slices.Sorted(maps.Keys(all)))
		if got := Shifted(3, rank.ID(3+n), 2, receive(0, 5).Edge, x); !bytes.Equal(wireOf(got), wireOf(want)) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestGraphString(t *testing.T) {
	var g *Graph
	for r := range 4 {
		id := rank.ID(r)
		x := Rank{Doing: Doing{State: Running, Frames: "main"}, Comms: []Comm{world(4)}, Waits: []Message{receive((r+1)%4, 9)}}
		g = g.Merge(Of(rank.Range(id, id), x))
	}
	const want = `{all receive MPI_Recv("w", 9) [0-2] → 1..3, [3] → 0; comm "w" MPI_COMM_WORLD of [0-3]; running in "main" [0-3]}`
	if got := g.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhatOneRankSaysIsBounded(t *testing.T) {
	x := Rank{Doing: Doing{Frames: strings.Repeat("é", maxText)}}
	for i := range MaxEdges + 1 {
		x.Waits = append(x.Waits, receive(i, 0))
	}
	g := Of(rank.Of(5), x)
	if g.Edges() != nil || !g.Cut().Contains(5) || len(g.Doings()[0].Frames) > maxText {
		t.Errorf("%v", g)
	}
	if _, _, err := Decode(wireOf(g)); err != nil {
		t.Error(err)
	}
	if w := Of(rank.Of(5), Rank{Waits: []Message{receive(1, 0)}}).Without(); w.Edges() != nil || !w.Cut().Contains(5) {
		t.Errorf("%v", w)
	}
}

func TestDecodeErrors(t *testing.T) {
	good := wireOf(Of(rank.Range(0, 2), Rank{Comms: []Comm{world(3)}, Calls: []Call{barrier()}, Waits: []Message{receive(2, 1)}}))
	for n := range good {
		if g, _, err := Decode(good[:n]); err == nil {
			t.Errorf("%d of %d bytes: %v", n, len(good), g)
		}
	}
	doing := Doing{Ranks: rank.Range(0, 3)}
	lane := func(runs ...Run) Pairs { return Pairs{[][]Run{runs}} }
	for name, g := range map[string]*Graph{
		"no ranks":           {doings: []Doing{{}}},
		"two doings":         {doings: []Doing{doing, {State: Running, Ranks: rank.Of(3)}}},
		"out of order":       {doings: []Doing{{State: Running, Ranks: rank.Of(4)}, doing}},
		"call of a stranger": {doings: []Doing{doing}, calls: []Call{{Ranks: rank.Of(9)}}},
		"edge of a stranger": {doings: []Doing{doing}, edges: []Edge{{Pairs: lane(Run{9, 1, 0, 0})}}},
		"no pairs":           {doings: []Doing{doing}, edges: []Edge{{}}},
		"runs not joined":    {doings: []Doing{doing}, edges: []Edge{{Pairs: lane(Run{0, 1, 5, 0}, Run{1, 1, 6, 0})}}},
		"step of one":        {doings: []Doing{doing}, edges: []Edge{{Pairs: lane(Run{0, 1, 5, 1})}}},
		"peer":               {doings: []Doing{doing}, edges: []Edge{{Pairs: lane(Run{0, 1, -4, 0})}}},
		"far peer":           {doings: []Doing{doing}, edges: []Edge{{Pairs: lane(Run{0, 2, math.MaxInt32, 1})}}},
		"peers not ascending": {doings: []Doing{doing}, edges: []Edge{{Pairs: Pairs{[][]Run{
			{{0, 1, 5, 0}}, {{0, 1, 5, 0}}}}}}},
		"second peer only": {doings: []Doing{doing}, edges: []Edge{{Pairs: Pairs{[][]Run{
			{{0, 1, 5, 0}}, {{1, 1, 5, 0}}}}}}},
		"moved": {doings: []Doing{doing}, moved: rank.Of(9)},
	} {
		if _, _, err := Decode(wireOf(g)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzGraph(f *testing.F) {
	f.Add(wireOf(nil))
	f.Add(wireOf(Of(rank.Range(0, 2), Rank{Comms: []Comm{world(3)}, Calls: []Call{barrier()}, Waits: []Message{receive(2, 1), receive(0, 1)}})))
	f.Add(wireOf(Of(rank.Of(1), Rank{Moved: true, Waits: []Message{receive(Any, Any)}}).Merge(Of(rank.Of(2), Rank{Waits: []Message{receive(3, Any)}}))))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, rest, err := Decode(b)
		if err != nil {
			return
		}
		if again := wireOf(g); !bytes.Equal(again, b[:len(b)-len(rest)]) {
			t.Fatalf("%x is encoded as %x", b, again)
		}
		half := g.Only(rank.Range(0, 5))
		other := g.Only(g.Ranks().Minus(rank.Range(0, 5)))
		for _, x := range []*Graph{half, other, half.Merge(other), other.Merge(half)} {
			if _, _, err := Decode(wireOf(x)); err != nil {
				t.Fatalf("%v: %v", err, x)
			}
		}
		_ = g.After(half).String()
	})
}

// BenchmarkMerge merges the graphs of a million ranks in pairs, as a binomial tree does: in a ring,
// in barriers, and each with a peer of its own without any order.
func BenchmarkMerge(b *testing.B) {
	const n = 1 << 20
	for name, of := range map[string]func(r int) Rank{
		"ring": func(r int) Rank {
			return Rank{Comms: []Comm{world(n)}, Waits: []Message{receive((r+1)%n, 3)}}
		},
		"barrier": func(r int) Rank { return Rank{Comms: []Comm{world(n)}, Calls: []Call{barrier()}} },
		"scattered": func(r int) Rank {
			return Rank{Comms: []Comm{world(n)}, Waits: []Message{receive(r*7919%n, 3)}}
		},
	} {
		b.Run(name, func(b *testing.B) {
			leaves := make([]*Graph, n)
			for r := range leaves {
				leaves[r] = Of(rank.Range(rank.ID(r), rank.ID(r)), of(r))
			}
			parts := make([]*Graph, n)
			for b.Loop() {
				copy(parts, leaves)
				for size := n; size > 1; size /= 2 {
					for i := range size / 2 {
						parts[i] = parts[2*i].Merge(parts[2*i+1])
					}
				}
			}
			b.ReportMetric(float64(len(wireOf(parts[0]))), "bytes")
		})
	}
}

// TestJSONErrors: numbers of hostile JSON are within their bounds.
func TestJSONErrors(t *testing.T) {
	const good = `{"doing":[{"state":"running","ranks":"0-9"}],"edges":[{"function":"f","tag":1,"lanes":[[[2,1,5,0]]]}]}`
	for _, c := range [][2]string{
		{`[2,1,5,0]`, `[2,9223372036854775807,5,0]`}, {`[2,1,5,0]`, `[2,2,9223372036854775807,1]`}, {`[2,1,5,0]`, `[16777216,1,5,0]`},
	} {
		var g Graph
		if err := json.Unmarshal([]byte(good), &g); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(strings.Replace(good, c[0], c[1], 1)), &g); err == nil {
			t.Errorf("%s: %v", c[1], &g)
		}
	}
}

func TestChanged(t *testing.T) {
	of := func(key string, ranks rank.Set, peer int) *Graph {
		all := rank.Range(0, 5)
		return Of(ranks, Rank{
			Doing: Doing{Frames: "f"}, Comms: []Comm{{Key: key, Name: "w", Members: all}},
			Calls: []Call{{Function: "MPI_Barrier", Comm: key, Root: No, Bytes: No}},
			Waits: []Message{{Edge{Function: "MPI_Recv", Comm: key, Tag: 1}, peer}},
		})
	}
	a := of("1", rank.Range(0, 2), 5).Merge(of("1", rank.Of(3), 4))
	if got := Changed(a, of("2", rank.Range(0, 2), 5).Merge(of("2", rank.Of(3), 4))); !got.IsEmpty() {
		t.Errorf("the same in another run: %v", got)
	}
	if got := Changed(a, of("2", rank.Range(0, 1), 5).Merge(of("2", rank.Range(2, 4), 4))); !got.Equal(rank.Of(2, 4)) {
		t.Errorf("another peer, and a rank more: %v", got)
	}
	if got := Changed(nil, a); !got.Equal(rank.Range(0, 3)) {
		t.Errorf("nothing before: %v", got)
	}
}
