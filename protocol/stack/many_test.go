package stack

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
)

func TestOfAgreesWithMerging(t *testing.T) {
	frames := []Frame{{Func: "main", Line: 3}, {Func: "compute"}}
	for _, ranks := range []rank.Set{rank.Of(), rank.Of(7), rank.Of(0, 1, 2, 9, 500)} {
		want := &Tree{}
		for r := range ranks.All() {
			want = want.Merge(New(r, frames))
		}
		if got := Of(ranks, frames); !bytes.Equal(got.AppendWire(nil), want.AppendWire(nil)) {
			t.Errorf("stack of %v is %v, want %v", ranks, got, want)
		}
	}
}

// TestOfParts verifies that OfParts equals merging the stacks one by one, to the
// byte.
func TestOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := rapid.Custom(func(t *rapid.T) Frame {
			return Frame{
				Func: rapid.SampledFrom([]string{"main", "f", "g", "\xff", "\xfe", "\uFFFD"}).Draw(t, "func"),
				Line: rapid.IntRange(-1, 2).Draw(t, "line"),
			}
		})
		var parts []RankedPath
		want := &Tree{}
		for r := range rank.ID(rapid.IntRange(0, 30).Draw(t, "ranks")) {
			frames := rapid.SliceOfN(frame, 0, 5).Draw(t, "frames")
			if rapid.IntRange(0, 20).Draw(t, "deep") == 0 {
				frames = append(make([]Frame, MaxDepth), frames...)
			}
			parts = append(parts, RankedPath{PathOf(frames), rank.Of(r)})
			want = want.Merge(New(r, slices.Clone(frames)))
		}
		if got := OfPaths(parts); !bytes.Equal(got.AppendWire(nil), want.AppendWire(nil)) {
			t.Fatalf("got\n%v\nwant\n%v", got, want)
		}
	})
}
