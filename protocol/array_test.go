package protocol_test

import (
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol"
)

func TestShapeNamesElements(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape protocol.Shape
		n, i  int
		want  string
	}{
		{"one", protocol.Shape{Dims: []protocol.Dim{{Count: 10}}}, 10, 7, "[7]"},
		{"rows", protocol.Shape{Dims: []protocol.Dim{{Count: 3}, {Count: 4}}}, 12, 5, "[1][1]"},
		{"columns", protocol.Shape{Dims: []protocol.Dim{{Low: 1, Count: 3}, {Low: -2, Count: 4}}, Fortran: true}, 12, 5, "(3,-1)"},
		{"none", protocol.Shape{}, 0, 0, "[]"},
		{"empty", protocol.Shape{Dims: []protocol.Dim{{Count: 0}}}, 0, 0, "[0]"},
		{"beyond counting", protocol.Shape{Dims: []protocol.Dim{{Count: 1 << 30}, {Count: 1 << 30}}}, 0, 1, "[0][1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.shape.Elements(); got != c.n {
				t.Errorf("%d elements, want %d", got, c.n)
			}
			if got := c.shape.Index(c.i); got != c.want {
				t.Errorf("element %d is %s, want %s", c.i, got, c.want)
			}
		})
	}
}

// Blocks cover their span without gaps and have almost equal lengths.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := protocol.Span{First: rapid.IntRange(0, 1<<40).Draw(t, "first")}
		s.Last = s.First + rapid.IntRange(0, 1<<20).Draw(t, "more")
		blocks := s.Blocks()
		next, shortest, longest := s.First, s.Len(), 0
		for _, b := range blocks {
			if b.First != next || b.Len() < 1 {
				t.Fatalf("%v: block %v, want one from %d on", s, b, next)
			}
			next = b.Last + 1
			shortest, longest = min(shortest, b.Len()), max(longest, b.Len())
		}
		if next != s.Last+1 || len(blocks) > protocol.HashBlocks || longest-shortest > 1 {
			t.Fatalf("%v: %d blocks of %d to %d, the last ends at %d", s, len(blocks), shortest, longest, next-1)
		}
	})
	if got := (protocol.Span{First: 3, Last: 2}).Blocks(); got != nil {
		t.Errorf("an empty span has %v", got)
	}
}
