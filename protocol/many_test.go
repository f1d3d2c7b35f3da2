package protocol

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
)

func TestManyAgreesWithMerging(t *testing.T) {
	frames := []StackFrame{{Func: "main", Line: 3}, {Func: "compute"}}
	for _, ranks := range []rank.Set{rank.Of(), rank.Of(7), rank.Of(0, 1, 2, 9, 500)} {
		column, stack := Column{Name: "n"}, &Stack{}
		for r := range ranks.All() {
			column = column.Merge(NewColumn("n", r, "4", 2))
			stack = stack.Merge(NewStack(r, frames))
		}
		if got := ColumnOf("n", ranks, "4", 2); !bytes.Equal(got.AppendWire(nil), column.AppendWire(nil)) {
			t.Errorf("column of %v is %v, want %v", ranks, got, column)
		}
		if got := StackOf(ranks, frames); !bytes.Equal(got.AppendWire(nil), stack.AppendWire(nil)) {
			t.Errorf("stack of %v is %v, want %v", ranks, got, stack)
		}
	}
}

// TestStackOfParts: many stacks at once are what merging them one by one gives,
// to the byte.
func TestStackOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := rapid.Custom(func(t *rapid.T) StackFrame {
			return StackFrame{
				Func: rapid.SampledFrom([]string{"main", "f", "g", "\xff", "\xfe", "\uFFFD"}).Draw(t, "func"),
				Line: rapid.IntRange(-1, 2).Draw(t, "line"),
			}
		})
		var parts []StackPart
		want := &Stack{}
		for r := range rank.ID(rapid.IntRange(0, 30).Draw(t, "ranks")) {
			frames := rapid.SliceOfN(frame, 0, 5).Draw(t, "frames")
			if rapid.IntRange(0, 20).Draw(t, "deep") == 0 {
				frames = append(make([]StackFrame, MaxStackDepth), frames...)
			}
			parts = append(parts, StackPart{pathOf(frames), rank.Of(r)})
			want = want.Merge(NewStack(r, slices.Clone(frames)))
		}
		if got := StackOfParts(parts); !bytes.Equal(got.AppendWire(nil), want.AppendWire(nil)) {
			t.Fatalf("got\n%v\nwant\n%v", got, want)
		}
	})
}
