package master

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// text prints the commands that ranks would receive.
func (g *persistentCommands) text(ranks rank.Set) string {
	var b strings.Builder
	for _, o := range g.list {
		if those := o.ranks.Intersect(ranks); !those.IsEmpty() {
			fmt.Fprintf(&b, "[%s] %s %s\n", those, o.command.Name, canonical.JSON(o.command.Args))
		}
	}
	return b.String()
}

func TestPersistentCommands(t *testing.T) {
	all := rank.Range(0, 3)
	type said struct {
		name  string
		ranks rank.Set
		args  protocol.Args
	}
	at := func(n int) protocol.Args { return protocol.Args{Breakpoint: n, Location: fmt.Sprint("f", n)} }
	of := func(n ...int) protocol.Args { return protocol.Args{Breakpoints: n} }
	places := func(n int, numbers ...int) (a protocol.Args) {
		for _, k := range numbers {
			a.Places = append(a.Places, protocol.Site{Breakpoint: n, Number: k})
		}
		return a
	}
	for _, c := range []struct {
		name string
		said []said
		want string
	}{
		{"commands keep their order", []said{{"break", all, at(1)}, {"watch", rank.Of(2), protocol.Args{Breakpoint: 2, Expr: "x"}}},
			"[0-3] break {\"location\":\"f1\",\"breakpoint\":1}\n[2] watch {\"expr\":\"x\",\"breakpoint\":2}\n"},
		{"of lines for gdb only settings are kept", []said{{"handle", all, protocol.Args{Signal: "SIGUSR1"}}, {"gdb", all, protocol.Args{Text: "set print elements 4"}}, {"gdb", all, protocol.Args{Text: "set var x = 4"}},
			{"gdb", all, protocol.Args{Text: "info files"}}, {"delete", all, of()}, {"gdb", rank.Of(1), protocol.Args{Text: "set print elements 4"}}},
			"[0-3] handle {\"signal\":\"SIGUSR1\"}\n[0,2-3] gdb {\"text\":\"set print elements 4\"}\n[1] gdb {\"text\":\"set print elements 4\"}\n"},
		{"a breakpoint is deleted for some ranks", []said{{"break", all, at(1)}, {"disable", all, of(1)}, {"delete", rank.Of(0, 1), of(1)}},
			"[2-3] break {\"location\":\"f1\",\"breakpoint\":1}\n[2-3] disable {\"breakpoints\":[1]}\n"},
		{"delete without numbers keeps displays", []said{{"break", all, at(1)}, {"display", all, protocol.Args{Expr: "n", Display: 1}}, {"delete", all, of()}},
			"[0-3] display {\"expr\":\"n\",\"display\":1}\n"},
		{"the last change counts", []said{{"break", all, at(1)}, {"disable", all, of(1)}, {"enable", all, of(1)}, {"disable", rank.Of(3), of(1)}},
			"[0-3] break {\"location\":\"f1\",\"breakpoint\":1}\n[0-2] enable {\"breakpoints\":[1]}\n[3] disable {\"breakpoints\":[1]}\n"},
		{"a change of several breakpoints is kept for each", []said{{"break", all, at(1)}, {"break", all, at(2)}, {"disable", all, of(1, 2)}, {"delete", all, of(1)}},
			"[0-3] break {\"location\":\"f2\",\"breakpoint\":2}\n[0-3] disable {\"breakpoints\":[2]}\n"},
		{"a change of several places is kept for each", []said{{"break", all, at(1)}, {"disable", all, places(1, 2, 3)}, {"enable", rank.Of(2), places(1, 3)}, {"disable", all, of(1)}, {"enable", all, of()}},
			"[0-3] break {\"location\":\"f1\",\"breakpoint\":1}\n[0-3] disable {\"places\":[{\"breakpoint\":1,\"number\":2}]}\n[0-1,3] disable {\"places\":[{\"breakpoint\":1,\"number\":3}]}\n" +
				"[2] enable {\"places\":[{\"breakpoint\":1,\"number\":3}]}\n[0-3] enable {}\n"},
		{"a deleted breakpoint has no places", []said{{"break", all, at(1)}, {"disable", all, places(1, 2, 3)}, {"delete", all, of(1)}}, ""},
		{"ignore is kept for ranks that have not started", []said{{"break", all, at(1)}, {"ignore", all, protocol.Args{Breakpoints: []int{1}, Count: 3}}},
			"[0-3] break {\"location\":\"f1\",\"breakpoint\":1}\n[0] ignore {\"breakpoints\":[1],\"count\":3}\n"},
		{"the last handling of a signal counts", []said{{"handle", all, protocol.Args{Signal: "SIGUSR1", Actions: []string{"stop"}}}, {"handle", all, protocol.Args{Signal: "SIGUSR1", Actions: []string{"nostop"}}}},
			"[0-3] handle {\"signal\":\"SIGUSR1\",\"actions\":[\"nostop\"]}\n"},
		{"undisplay", []said{{"display", all, protocol.Args{Expr: "n", Display: 1}}, {"display", all, protocol.Args{Expr: "m", Display: 2}}, {"undisplay", all, protocol.Args{Displays: []int{1}}}},
			"[0-3] display {\"expr\":\"m\",\"display\":2}\n"},
		{"commands without a lasting effect are not kept", []said{{"print", all, protocol.Args{Expr: "n"}}, {"display", all, protocol.Args{}}, {"continue", all, protocol.Args{}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g persistentCommands
			for i, s := range c.said {
				g.record(protocol.RequestID(i+1), s.name, s.args, s.ranks, rank.Of(0).Intersect(s.ranks))
			}
			if got := g.text(all); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// Stops at a breakpoint that is disabled after a number of them are counted for each rank.
func TestDisableCountsForEachRank(t *testing.T) {
	var g persistentCommands
	of := protocol.Args{Breakpoints: []int{1, 2}, Then: "disable", Count: 2}
	g.record(1, "break", protocol.Args{Breakpoint: 1, Location: "f"}, rank.Range(0, 3), rank.Set{})
	g.record(2, "enable", of, rank.Range(0, 3), rank.Set{})
	g.reached(1, rank.Range(0, 2))
	g.reached(1, rank.Of(2))
	g.reached(3, rank.Of(0))
	want := "[0-3] break {\"location\":\"f\",\"breakpoint\":1}\n" +
		"[3] enable {\"breakpoints\":[1],\"then\":\"disable\",\"count\":2}\n" +
		"[0-3] enable {\"breakpoints\":[2],\"then\":\"disable\",\"count\":2}\n" +
		"[0-1] enable {\"breakpoints\":[1],\"then\":\"disable\",\"count\":1}\n" +
		"[2] disable {\"breakpoints\":[1]}\n"
	if got := g.text(rank.Range(0, 3)); got != want || !g.countsDown() {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	first := g.subsets(rank.Of(0))[0].breakpoints()[0]
	last := g.subsets(rank.Of(2))[0].breakpoints()[0]
	if !first.Enabled || first.Left != 1 || last.Enabled || last.Left != 0 {
		t.Errorf("got %+v and %+v", first, last)
	}
}

// A rank's commands do not depend on other ranks' commands, nor on how they were grouped.
func TestPersistentCommandsAreKeptForEachRank(t *testing.T) {
	names := []string{"break", "disable", "enable", "condition", "delete", "undisplay", "display"}
	rapid.Check(t, func(t *rapid.T) {
		var together persistentCommands
		alone := make([]persistentCommands, 4)
		for i := range rapid.IntRange(1, 30).Draw(t, "commands") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			n := rapid.IntRange(1, 3).Draw(t, "number")
			a := protocol.Args{Breakpoints: []int{n}, Displays: []int{n}}
			if makesPoint(name) || name == "display" {
				a = protocol.Args{Breakpoint: i + 1, Display: i + 1, Location: "f", Expr: "x"}
			}
			ranks := rapid.SampledFrom([]rank.Set{rank.Range(0, 3), rank.Of(0), rank.Of(1, 2), rank.Of(3)}).Draw(t, "ranks")
			id := protocol.RequestID(i + 1)
			together.record(id, name, a, ranks, rank.Set{})
			for r := range ranks.All() {
				alone[r].record(id, name, a, rank.Of(r), rank.Set{})
			}
		}
		covered := rank.Set{}
		for _, p := range together.subsets(rank.Range(0, 3)) {
			for r := range p.ranks.All() {
				if covered.Contains(r) {
					t.Fatalf("rank %d is in two parts", r)
				}
				covered = covered.Union(rank.Of(r))
				own := alone[r].subsets(rank.Of(r))[0]
				if fmt.Sprint(p.breakpoints(), p.displays()) != fmt.Sprint(own.breakpoints(), own.displays()) {
					t.Fatalf("rank %d: %v, alone %v", r, p.commands, own.commands)
				}
			}
		}
		if !covered.Equal(rank.Range(0, 3)) {
			t.Fatalf("parts cover %s", covered)
		}
	})
}

// Breakpoints can be set before the launch, and are sent with it.
func TestBreakpointsBeforeTheLaunch(t *testing.T) {
	m, f := standing(t, obedient)
	defer closeNow(t, m)
	steps := []struct {
		call session.Call
		want string
	}{
		{session.Call{Command: "break", Args: protocol.Args{Location: "work.c:31", Condition: "n > 2"}}, `"ranks":"0-7","n":8,"result":{"breakpoints":[{"number":1,"type":"breakpoint","enabled":true,"pending":true,"location":"work.c:31","condition":"n > 2"}]}}`},
		{session.Call{Command: "disable", Ranks: "7", Args: protocol.Args{Breakpoints: []int{1}}}, `"ranks":"7","n":1,"result":{}}`},
		{session.Call{Command: "watch", Ranks: "0-1", Args: protocol.Args{Expr: "total"}}, `"type":"watchpoint"`},
		{session.Call{Command: "info breakpoints", Ranks: "6-7"}, `"ranks":"7","n":1,"result":{"breakpoints":[{"number":1,"type":"breakpoint","enabled":false,`},
		{session.Call{Command: "break"}, `"done"`}, // without a location, ranks are asked
	}
	for _, s := range steps {
		if got := call(t, m, s.call); !strings.Contains(got, s.want) {
			t.Errorf("%s:\n%s\nwant %s", s.call.Command, got, s.want)
		}
	}
	before := len(f.sent(wire.Command))
	call(t, m, session.Call{Command: "launch", Ranks: "1-7", Args: protocol.Args{Job: &protocol.Job{Program: "./a"}}})
	sent := f.sent(wire.Command)[before:]
	if len(sent) != 1 {
		t.Fatalf("%d packets for a launch", len(sent))
	}
	for _, want := range []string{
		`"before":[{"ranks":"1-7","given":{"command":"break","args":{"location":"work.c:31","condition":"n > 2","breakpoint":1}}}`,
		`{"ranks":"7","given":{"command":"disable","args":{"breakpoints":[1]}}}`,
		`{"ranks":"1","given":{"command":"watch","args":{"expr":"total","breakpoint":2}}}`,
	} {
		if body := string(sent[0].Body); !strings.Contains(body, want) {
			t.Errorf("launch: %s\nwithout %s", body, want)
		}
	}
}

// Commands that a rank refused, and temporary breakpoints that were reached, are not sent again.
func TestObsoleteCommandsAreNotSentAgain(t *testing.T) {
	refuse := false
	m, f := standing(t, func(f *fakeRoot, m wire.Message) {
		if m.Kind == wire.Command && refuse {
			f.reply(m.ID, wire.Final,
				protocol.Group{Kind: protocol.KindFault, Ranks: rank.Of(0), Body: []byte(`{"kind":"gdb","message":"No symbol."}`)},
				protocol.Group{Kind: protocol.KindResult, Ranks: m.Ranks.Minus(rank.Of(0)), Body: []byte("{}")})
			return
		}
		obedient(f, m)
	})
	defer closeNow(t, m)
	happens := func(k protocol.Kind, ranks rank.Set, body string) {
		f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: k, Ranks: ranks, Body: []byte(body)}}})
	}
	happens(protocol.KindRunning, rank.Range(0, 7), "{}")
	refuse = true
	call(t, m, session.Call{Command: "break", Args: protocol.Args{Location: "f"}})
	refuse = false
	call(t, m, session.Call{Command: "break", Args: protocol.Args{Location: "g", Temporary: true}})
	happens(protocol.KindStopped, rank.Of(1), `{"reason":"breakpoint-hit","breakpoint":2,"temporary":true}`)
	before := len(f.sent(wire.Command))
	call(t, m, session.Call{Command: "run"})
	body := string(f.sent(wire.Command)[before].Body)
	for _, want := range []string{`{"ranks":"1-7","given":{"command":"break","args":{"location":"f",`, `{"ranks":"0,2-7","given":{"command":"break","args":{"location":"g",`} {
		if !strings.Contains(body, want) {
			t.Errorf("run: %s\nwithout %s", body, want)
		}
	}
}
