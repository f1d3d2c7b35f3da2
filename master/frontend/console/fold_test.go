package console

import (
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

func stopAt(line string, value string, first, last rank.ID) protocol.Group {
	g := protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Range(first, last), Body: []byte(`{"reason":"` + line + `"}`)}
	for r := first; r <= last; r++ {
		c := column.New("args.n", r, value, 0)
		if r > first {
			c = g.Columns[0].Merge(c)
		}
		g.Columns = []column.Column{c}
	}
	return g
}

// Equal events are joined, but not past another event of one of their ranks.
func TestHeldKeepsTheOrderOfARank(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []protocol.Group
		want []string
	}{
		{"equal stops join", []protocol.Group{stopAt("a", "1", 0, 1), stopAt("a", "2", 4, 5), stopAt("a", "1", 2, 3)},
			[]string{`stopped [0-5] {"reason":"a"}`}},
		{"the largest group comes first", []protocol.Group{stopAt("a", "1", 0, 0), stopAt("b", "1", 1, 2)},
			[]string{`stopped [1-2] {"reason":"b"}`, `stopped [0] {"reason":"a"}`}},
		{"a stop does not pass another stop of its rank", []protocol.Group{stopAt("a", "1", 0, 1), stopAt("b", "1", 2, 2), stopAt("a", "1", 2, 2)},
			[]string{`stopped [0-1] {"reason":"a"}`, `stopped [2] {"reason":"b"}`, `stopped [2] {"reason":"a"}`}},
		{"a stop joins the first equal group without its rank", []protocol.Group{stopAt("a", "1", 0, 0), stopAt("b", "1", 0, 0), stopAt("a", "1", 0, 0), stopAt("a", "1", 1, 1)},
			[]string{`stopped [0-1] {"reason":"a"}`, `stopped [0] {"reason":"b"}`, `stopped [0] {"reason":"a"}`}},
		{"a repeated stop stays repeated", []protocol.Group{stopAt("a", "1", 0, 0), stopAt("a", "1", 0, 0)},
			[]string{`stopped [0] {"reason":"a"}`, `stopped [0] {"reason":"a"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h foldBuffer
			for _, g := range c.in {
				h.add(g)
			}
			got := h.take()
			if len(got) != len(c.want) {
				t.Fatalf("%d groups, want %d: %v", len(got), len(c.want), got)
			}
			for i, g := range got {
				if text := g.Kind.String() + " [" + g.Ranks.String() + "] " + string(g.Body); text != c.want[i] {
					t.Errorf("group %d is %s, want %s", i, text, c.want[i])
				}
				if n := g.Columns[0].Count(); n != g.Ranks.Len() {
					t.Errorf("group %d: %d ranks in the column, %d in the group", i, n, g.Ranks.Len())
				}
			}
		})
	}
}

// Successive events are held together, but only for a limited time.
func TestHeldWindows(t *testing.T) {
	for _, c := range []struct {
		name    string
		busy    int // windows with an event, after the first
		windows int
	}{
		{"quiet at once", 0, 1},
		{"quiet after three", 3, 4},
		{"never quiet", 1000, foldMost},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h foldBuffer
			h.arm(time.Hour)
			windows := 1
			for ; ; windows++ {
				if windows <= c.busy {
					h.arm(time.Hour)
				}
				if h.expired() {
					break
				}
			}
			if h.take(); windows != c.windows {
				t.Errorf("held for %d windows, want %d", windows, c.windows)
			}
		})
	}
}
