package aggregate_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree/aggregate"
	"sdm/tree/treetest"
)

func TestReplies(t *testing.T) {
	fault := func(ranks rank.Set, body string) protocol.Group {
		return protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: []byte(body)}
	}
	with := func(g protocol.Group, names ...string) protocol.Group {
		for _, name := range names {
			g.Columns = append(g.Columns, valuesOf(name, g.Ranks))
		}
		return g
	}
	for _, test := range []struct {
		name string
		add  []protocol.Group
		want string
		owed string
	}{
		{"nothing", nil, "", "0-9"},
		{"one", []protocol.Group{result(rank.Range(0, 9), "{}")}, "reply [0-9] {}\n", ""},
		{"equal", []protocol.Group{result(rank.Of(1), "{}"), result(rank.Of(0, 3), "{}")}, "reply [0-1,3] {}\n", "2,4-9"},
		{"another body", []protocol.Group{result(rank.Of(1), `{"a":1}`), result(rank.Of(0), "{}")},
			"reply [0] {}\nreply [1] {\"a\":1}\n", "2-9"},
		{"another kind", []protocol.Group{result(rank.Of(1), "{}"), fault(rank.Of(0), "{}")},
			"error [0] {}\nreply [1] {}\n", "2-9"},
		{"columns are merged", []protocol.Group{with(result(rank.Of(1), "{}"), "x"), with(result(rank.Of(6), "{}"), "x")},
			"reply [1,6] {} x=1[1,6]\n", "0,2-5,7-9"},
		{"another column", []protocol.Group{with(result(rank.Of(1), "{}"), "x"), with(result(rank.Of(2), "{}"), "y")},
			"reply [1] {} x=1[1]\nreply [2] {} y=2[2]\n", "0,3-9"},
		{"more columns", []protocol.Group{with(result(rank.Of(1), "{}"), "x"), with(result(rank.Of(2), "{}"), "x", "y")},
			"reply [1] {} x=1[1]\nreply [2] {} x=2[2] y=2[2]\n", "0,3-9"},
		{"the first answer wins", []protocol.Group{result(rank.Of(1), "{}"), fault(rank.Of(1), "{}"), fault(rank.Of(1, 2), "{}")},
			"reply [1] {}\nerror [2] {}\n", "0,3-9"},
		{"no rank was asked", []protocol.Group{result(rank.Of(9, 10, 11), "{}"), result(rank.Of(12), "{}")},
			"reply [9] {}\n", "0-8"},
		{"no rank answers", []protocol.Group{result(rank.Set{}, "{}")}, "", "0-9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r aggregate.Replies
			r.Expect(rank.Range(0, 9))
			for _, g := range test.add {
				r.Add(g)
			}
			if owed := r.Owed().String(); owed != test.owed || r.Complete() != (owed == "") {
				t.Errorf("owed %q, complete %v; want %q", owed, r.Complete(), test.owed)
			}
			if got := treetest.Text(r.Take()); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
			if r.Take() != nil {
				t.Error("Take gives the same a second time")
			}
		})
	}
}

func TestExcused(t *testing.T) {
	var r aggregate.Replies
	r.Expect(rank.Range(0, 3))
	r.Excuse(rank.Range(2, 8))
	r.Add(result(rank.Of(0), "{}"))
	if !r.Waiting() {
		t.Error("rank 1 is not waited for")
	}
	r.Add(result(rank.Of(1), "{}"))
	if r.Waiting() || r.Complete() {
		t.Errorf("waiting %v, complete %v; want none waited for and 2-3 owed", r.Waiting(), r.Complete())
	}
	if !r.Add(result(rank.Of(2), "{}")) {
		t.Error("an excused rank may not answer")
	}
	r.Release(rank.Of(3))
	if !r.Complete() {
		t.Errorf("%v still owed after Release", r.Owed())
	}
}

// For any input in any order, both implementations return identical bytes.
func TestRepliesAgainstTwin(t *testing.T) {
	for _, collide := range []bool{false, true} {
		t.Run(fmt.Sprintf("collide=%v", collide), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var fast aggregate.Replies
				var slow treetest.SlowReplies
				if collide {
					fast.Collide()
				}
				asked := rank.Range(0, rank.ID(rapid.IntRange(0, 60).Draw(t, "asked")))
				fast.Expect(asked)
				slow.Expect(asked)
				for range rapid.IntRange(0, 60).Draw(t, "groups") {
					// Disjoint columns: a group that repeats ranks in part is tested above.
					ranks := drawRanks(t, 64)
					if ranks.Intersects(asked) && !ranks.Minus(slow.Owed()).IsEmpty() {
						ranks = ranks.Intersect(slow.Owed())
					}
					g := drawGroup(t, ranks, protocol.KindResult, protocol.KindFault)
					if fast.Add(g) != slow.Add(g) {
						t.Fatalf("%v is new for one and not for the other", g)
					}
					if rapid.IntRange(0, 20).Draw(t, "take") == 0 {
						compare(t, fast.Take(), slow.Take())
					}
				}
				compare(t, fast.Take(), slow.Take())
				if !fast.Owed().Equal(slow.Owed()) {
					t.Fatalf("owed %v, twin says %v", fast.Owed(), slow.Owed())
				}
			})
		})
	}
}

func compare(t *rapid.T, got, want []protocol.Group) {
	if !bytes.Equal(treetest.Bytes(got), treetest.Bytes(want)) {
		t.Fatalf("got:\n%stwin:\n%s", treetest.Text(got), treetest.Text(want))
	}
}

// Groups with many different bodies are found even if all hashes are equal.
func TestManyCollisions(t *testing.T) {
	const bodies, each = 100, 3
	var r aggregate.Replies
	r.Collide()
	r.Expect(rank.Range(0, bodies*each-1))
	for i := range bodies * each {
		r.Add(result(rank.Of(rank.ID(i)), fmt.Sprintf(`{"body":%d}`, i%bodies)))
	}
	groups := r.Take()
	if len(groups) != bodies {
		t.Fatalf("%d groups, want %d", len(groups), bodies)
	}
	for i, g := range groups {
		want := result(rank.Of(rank.ID(i), rank.ID(i+bodies), rank.ID(i+2*bodies)), fmt.Sprintf(`{"body":%d}`, i))
		if g.String() != want.String() {
			t.Errorf("got %v, want %v", g, want)
		}
	}
}

// The order in which answers arrive does not matter.
func TestRepliesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var groups []protocol.Group
		for r := range rapid.IntRange(1, 40).Draw(t, "ranks") {
			groups = append(groups, drawGroup(t, rank.Of(rank.ID(r)), protocol.KindResult, protocol.KindFault))
		}
		fold := func() []protocol.Group {
			var r aggregate.Replies
			r.Expect(rank.Range(0, 40))
			for _, g := range groups {
				r.Add(g)
			}
			return r.Take()
		}
		want := fold()
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		compare(t, fold(), want)
	})
}

// Groups that were added are shared with the caller and not modified.
func TestMergeLeavesGroupsAlone(t *testing.T) {
	a, b := result(rank.Of(0), "{}"), result(rank.Of(1), "{}")
	a.Columns, b.Columns = []column.Column{valuesOf("x", a.Ranks)}, []column.Column{valuesOf("x", b.Ranks)}
	before := treetest.Text([]protocol.Group{a, b})
	var r aggregate.Replies
	r.Expect(rank.Of(0, 1))
	r.Add(a)
	r.Add(b)
	r.Take()
	if after := treetest.Text([]protocol.Group{a, b}); after != before {
		t.Errorf("groups were changed to:\n%sfrom:\n%s", after, before)
	}
}

// A single group costs one small allocation.
func TestLoneGroupIsNotCopied(t *testing.T) {
	g := result(rank.Range(0, 99), `{"expr":"n"}`)
	var out []protocol.Group
	allocs := testing.AllocsPerRun(100, func() {
		var r aggregate.Replies
		r.Expect(g.Ranks)
		r.Add(g)
		out = r.Take()
	})
	if len(out) != 1 || unsafe.SliceData(out[0].Body) != unsafe.SliceData(g.Body) {
		t.Errorf("the body was copied: %v", out)
	}
	if allocs > 1 {
		t.Errorf("%v pieces of memory, want 1", allocs)
	}
}

func BenchmarkReplies(b *testing.B) {
	for _, bodies := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("groups=64/bodies=%d", bodies), func(b *testing.B) {
			var groups []protocol.Group
			for i := range 64 {
				groups = append(groups, result(rank.Range(rank.ID(64*i), rank.ID(64*i+63)), fmt.Sprintf(`{"frames":[%0200d]}`, i%bodies)))
			}
			b.ReportAllocs()
			for b.Loop() {
				var r aggregate.Replies
				r.Expect(rank.Range(0, 64*64-1))
				for _, g := range groups {
					r.Add(g)
				}
				if len(r.Take()) != bodies || !r.Complete() {
					b.Fatal("not folded")
				}
			}
		})
	}
}

// BenchmarkRepliesOfValues measures what a server does for a print: each rank has a
// value of its own, or all have the same.
func BenchmarkRepliesOfValues(b *testing.B) {
	for _, distinct := range []int{1, 64} {
		b.Run(fmt.Sprintf("ranks=64/values=%d", distinct), func(b *testing.B) {
			var groups []protocol.Group
			for i := range rank.ID(64) {
				g := result(rank.Of(i), `{"expr":"x"}`)
				g.Columns = []column.Column{column.New("value", i, fmt.Sprint(int(i)%distinct), 0)}
				groups = append(groups, g)
			}
			b.ReportAllocs()
			for b.Loop() {
				var r aggregate.Replies
				r.Expect(rank.Range(0, 63))
				for _, g := range groups {
					r.Add(g)
				}
				if out := r.Take(); len(out) != 1 || !r.Complete() || out[0].Columns[0].Count() != 64 {
					b.Fatal("not folded")
				}
			}
		})
	}
}
