// Generators of the property tests.

package aggregate_test

import (
	"fmt"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// drawRanks draws up to six ranks below most.
func drawRanks(t *rapid.T, most int) rank.Set {
	ids := rapid.SliceOfN(rapid.IntRange(0, most-1), 1, 6).Draw(t, "ranks")
	var set rank.Set
	for _, id := range ids {
		set = set.Union(rank.Of(rank.ID(id)))
	}
	return set
}

// drawGroup draws one of a few payloads, so that equal ones are frequent, with
// columns that hold a value of each rank.
func drawGroup(t *rapid.T, ranks rank.Set, kinds ...protocol.Kind) protocol.Group {
	g := protocol.Group{
		Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
		Ranks: ranks,
		Body:  fmt.Appendf(nil, `{"body":%d}`, rapid.IntRange(0, 20).Draw(t, "body")),
	}
	if rapid.IntRange(0, 3).Draw(t, "columns") == 0 {
		g.Columns = []column.Column{valuesOf("x", ranks)}
	}
	if rapid.IntRange(0, 3).Draw(t, "stack") == 0 {
		for r := range ranks.All() {
			for k := range rapid.IntRange(1, 3).Draw(t, "threads") {
				g.Stack = g.Stack.Merge(stack.New(r, []stack.Frame{{Func: "main"}, {Func: fmt.Sprintf("f%d", (int(r)+k/2)%3)}}))
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "waits") == 0 {
		for r := range ranks.All() {
			g.Waits = g.Waits.Merge(wait.Of(rank.Of(r), wait.Rank{Waits: []wait.Message{{Peer: int(r) + 1}}}))
		}
	}
	return g
}

func valuesOf(name string, ranks rank.Set) column.Column {
	var all column.Column
	first := true
	for r := range ranks.All() {
		c := column.New(name, r, fmt.Sprint(r%5), 0)
		if first {
			all, first = c, false
		} else {
			all = all.Merge(c)
		}
	}
	return all
}

func result(ranks rank.Set, body string) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte(body)}
}
