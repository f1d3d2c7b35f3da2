package rank

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// twin is a simple, obviously correct set.
type twin map[ID]bool

// drawTwin draws a set that may be dense, sparse, clustered, one range, or blocks
// at equal distances. There are few variants of these, so that two sets often fit
// together.
func drawTwin(t *rapid.T, label string) twin {
	w := twin{}
	if rapid.Bool().Draw(t, label+" has a step") {
		step := rapid.SampledFrom([]ID{2, 5, 64, 200}).Draw(t, label+" step")
		length := ID(rapid.IntRange(1, int(step)-1).Draw(t, label+" length"))
		first := step*ID(rapid.IntRange(0, 8).Draw(t, label+" blocks before")) + ID(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, label+" first"))
		for n := rapid.IntRange(1, 8).Draw(t, label+" blocks"); n > 0; n-- {
			for id := first; id < first+length; id++ {
				w[id] = true
			}
			first += step
		}
		if rapid.IntRange(0, 3).Draw(t, label+" is whole") > 0 {
			return w
		}
	}
	base := rapid.SampledFrom([]ID{0, 1, 63, 64, 1000, 4000, MaxID - 400}).Draw(t, label+" base")
	for range rapid.IntRange(0, 6).Draw(t, label+" parts") {
		first := base + ID(rapid.IntRange(0, 300).Draw(t, label+" first"))
		length := ID(rapid.SampledFrom([]int{1, 1, 2, 63, 64, 65, 100}).Draw(t, label+" length"))
		step := ID(rapid.IntRange(1, 3).Draw(t, label+" step"))
		for id := first; id < first+length && id <= MaxID; id += step {
			w[id] = true
		}
	}
	return w
}

func (w twin) ids() []ID {
	ids := make([]ID, 0, len(w))
	for id := range w {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w twin) set() Set { return Of(w.ids()...) }

// joined applies a rule to every rank of two twins.
func joined(a, b twin, keep func(inA, inB bool) bool) twin {
	out := twin{}
	for _, w := range []twin{a, b} {
		for id := range w {
			if keep(a[id], b[id]) {
				out[id] = true
			}
		}
	}
	return out
}

// same fails the test unless the set has the members of the twin, in its canonical
// representation.
func same(t *rapid.T, what string, s Set, w twin) {
	t.Helper()
	ids := w.ids()
	if got := slices.Collect(s.All()); !slices.Equal(got, ids) {
		t.Fatalf("%s: got %v, want %v", what, got, ids)
	}
	if !s.Equal(w.set()) {
		t.Fatalf("%s: %v is not in the form of %v", what, s, w.set())
	}
	if s.Len() != len(ids) {
		t.Fatalf("%s: Len is %d, want %d", what, s.Len(), len(ids))
	}
	low, ok := s.Min()
	high, ok2 := s.Max()
	if ok != (len(ids) > 0) || ok2 != ok || s.IsEmpty() == ok {
		t.Fatalf("%s: %d members, but Min, Max, IsEmpty say %v, %v, %v", what, len(ids), ok, ok2, s.IsEmpty())
	}
	if ok && (low != ids[0] || high != ids[len(ids)-1]) {
		t.Fatalf("%s: from %d to %d, want %d to %d", what, low, high, ids[0], ids[len(ids)-1])
	}
}

func TestSetAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTwin(t, "a"), drawTwin(t, "b")
		s, u := a.set(), b.set()
		same(t, "a", s, a)
		same(t, "union", s.Union(u), joined(a, b, func(x, y bool) bool { return x || y }))
		both := joined(a, b, func(x, y bool) bool { return x && y })
		same(t, "intersection", s.Intersect(u), both)
		same(t, "difference", s.Minus(u), joined(a, b, func(x, y bool) bool { return x && !y }))
		same(t, "symmetric difference", s.Xor(u), joined(a, b, func(x, y bool) bool { return x != y }))
		if got := s.Intersects(u); got != (len(both) > 0) {
			t.Fatalf("%v intersects %v: %v", s, u, got)
		}
		for id := ID(-1); id < 3500; id++ {
			if s.Contains(id) != a[id] {
				t.Fatalf("%v contains %d: %v", s, id, s.Contains(id))
			}
		}
		for id := range b {
			if s.Contains(id) != a[id] {
				t.Fatalf("%v contains %d: %v", s, id, s.Contains(id))
			}
		}
	})
}

func TestSetSurvivesWireAndText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawTwin(t, "a")
		s := w.set()
		b := s.AppendWire([]byte("before"))
		got, rest, err := DecodeWire(append(b[len("before"):], "after"...))
		if err != nil || string(rest) != "after" {
			t.Fatalf("decode: rest %q, error %v", rest, err)
		}
		same(t, "wire", got, w)
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		got = Range(3, 4)
		if err := got.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		same(t, "text", got, w)
	})
}
