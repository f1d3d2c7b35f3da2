package text

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// someTexts are values, names and words, both valid and invalid in output of gdb.
var someTexts = rapid.OneOf(
	rapid.SampledFrom([]string{"", "0", "-1", "1.5", "0.10000000000000001", "0.10000000000000002", "1e308", "-1e308", "5e-324", "nan(0x1)", "inf", "{1, 2, 3...}",
		"{x = {y = 1}}", "...", "}", "\n", "a\nb", "\xff", "(int &) @0x7fff: 5", "RED", "0x55 <f+4>", "\"abc\"...", "n", "1.n", "i", "x"}),
	rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', 17, 64) }),
	rapid.Map(rapid.IntRange(-3, 3), strconv.Itoa),
	rapid.String(),
)

// someJSON draws any JSON value, with keys that bodies have.
func someJSON(depth int) *rapid.Generator[any] {
	keys := rapid.SampledFrom([]string{"expr", "elements", "first", "last", "format", "part", "shape", "side", "text", "names", "frame", "frames", "args", "rows", "lines",
		"label", "here", "ranges", "more", "exact", "dims", "low", "count", "fortran", "displays", "number", "libraries", "signals", "threads", "places", "exprs",
		"commands", "location", "level", "line", "file", "func", "reason", "breakpoint", "source", "name", "kind", "message", "cause", "states", "n", "hosts", "code", "signal", "frames", "by"})
	within := rapid.Deferred(func() *rapid.Generator[any] { return someJSON(depth - 1) })
	objects := rapid.Map(rapid.MapOfN(keys, within, 1, 12), toAny[map[string]any])
	simple := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.IntRange(-3, 1<<40), toAny[int]), rapid.Map(someTexts, toAny[string]))
	if depth == 0 {
		return simple
	}
	return rapid.OneOf(simple, objects, objects, rapid.Map(rapid.SliceOfN(within, 0, 4), toAny[[]any]))
}

func toAny[T any](v T) any { return v }

// drawGroup draws an answer or an event: ranks, a body of any JSON, columns of any values.
func drawGroup(t *rapid.T, kinds []protocol.Kind) protocol.Group {
	n := rapid.IntRange(1, 30).Draw(t, "ranks")
	g := protocol.Group{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Ranks: rank.Range(0, rank.ID(n-1))}
	if rapid.IntRange(0, 20).Draw(t, "broken") == 0 {
		g.Body = []byte(someTexts.Draw(t, "no JSON"))
	} else {
		g.Body = canonical.JSON(someJSON(4).Draw(t, "body"))
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"value", "value.0", "value.n", "value.x", "display.1", "0.addr", "addr", "hits", "hits.2", "1.args.n", "args.n", "file", "pid",
		"min", "max", "mean", "nan", "output.0", "thread", "others", "data", "current"}), 0, 6, rapid.ID).Draw(t, "columns")
	for _, name := range names {
		c := column.Column{Name: name}
		limit := rapid.SampledFrom([]int{-1, 0, 1, 64}).Draw(t, "limit")
		for r := range n {
			c = c.Merge(column.New(name, rank.ID(r), someTexts.Draw(t, "value"), limit))
		}
		g.Columns = append(g.Columns, c)
	}
	return g
}

// Any answer to any command, and any event, is written without a panic.
func TestAnyAnswerIsWritten(t *testing.T) {
	var commands []string
	for _, c := range protocol.Commands {
		commands = append(commands, c.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := Asked{Command: rapid.SampledFrom(commands).Draw(t, "command"), Label: rapid.SampledFrom([]string{"", "n"}).Draw(t, "label"), Full: rapid.Bool().Draw(t, "full")}
		w := Writer{Color: rapid.Bool().Draw(t, "color"), Terminal: true, All: rank.Range(0, 29)}
		g := drawGroup(t, []protocol.Kind{protocol.KindResult, protocol.KindResult, protocol.KindResult, protocol.KindFault, protocol.KindMissing, protocol.KindLost})
		w.Answers(a, []protocol.Group{g})
		w.Late(a, g)
		PageOf(g)
	})
}

func TestAnyEventIsWritten(t *testing.T) {
	var kinds []protocol.Kind
	for k := range protocol.Kind(255) {
		kinds = append(kinds, k)
	}
	w := Writer{Terminal: true, All: rank.Range(0, 29)}
	rapid.Check(t, func(t *rapid.T) { w.Event(session.NewEvent(drawGroup(t, kinds))) })
}
