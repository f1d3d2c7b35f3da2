package master

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wire"
)

// looker answers the queries of live sets: ranks 0-3 are in helper, which was called at work.c:31,
// ranks 4-5 in main. x is the rank; rank 5 has no x.
func looker(f *fakeRoot, m wire.Message) {
	if m.Kind != wire.Command {
		obedient(f, m)
		return
	}
	var c protocol.Command
	if err := json.Unmarshal(m.Body, &c); err != nil {
		panic(err)
	}
	var groups []protocol.Group
	add := func(ranks rank.Set, g protocol.Group) {
		if g.Ranks = ranks.Intersect(m.Ranks); !g.Ranks.IsEmpty() {
			groups = append(groups, g)
		}
	}
	deep, shallow := rank.Range(0, 3), rank.Range(4, 5)
	main, helper := stack.Frame{Func: "main"}, stack.Frame{Func: "helper"}
	switch c.Name {
	case "stacks":
		add(rank.Range(0, 5), protocol.Group{Kind: protocol.KindResult, Body: []byte("{}"),
			Stack: stack.Of(deep, []stack.Frame{main, helper}).Merge(stack.Of(shallow, []stack.Frame{main}))})
	case "backtrace":
		add(deep, protocol.Group{Kind: protocol.KindResult,
			Body: []byte(`{"frames":[{"level":0,"func":"poll","from":"libc.so.6"},{"level":1,"func":"helper","file":"src/work.c","line":31},{"level":2,"func":"main","file":"src/work.c","line":55}]}`)})
		add(shallow, protocol.Group{Kind: protocol.KindResult, Body: []byte(`{"frames":[{"level":0,"func":"main","file":"src/work.c","line":55}]}`)})
	case "print":
		for r := range rank.Range(0, 4).All() {
			value := map[string]string{"x": rank.Of(r).String(), "x > 1": "0", "same": "7",
				"known": fmt.Sprintf("{n = %d, p = 0x5555%04x <buf+16>}", r/4, r), "unknown": fmt.Sprintf("(int *) 0x5555%04x", r)}[c.Args.Expr]
			if c.Args.Expr == "x > 1" && r > 1 {
				value = "1"
			}
			add(rank.Of(r), protocol.Group{Kind: protocol.KindResult, Body: []byte(`{"expr":"` + c.Args.Expr + `"}`),
				Columns: []column.Column{column.New("value", r, value, c.Args.Limit)}})
		}
		add(rank.Of(5), protocol.Group{Kind: protocol.KindFault, Body: []byte(`{"kind":"gdb","message":"No symbol \"x\" in current context."}`)})
	default:
		obedient(f, m)
		return
	}
	f.reply(m.ID, wire.Final, groups...)
}

// lookedAt returns a master of ranks 0-5, which are stopped, and 6-7, which run; 0-1 have stopped
// at breakpoint 1.
func lookedAt(t *testing.T, answer func(*fakeRoot, wire.Message)) (*Master, *fakeRoot) {
	m, f := standing(t, answer)
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
		{Kind: protocol.KindRunning, Ranks: rank.Range(6, 7), Body: []byte("{}")},
		{Kind: protocol.KindStopped, Ranks: rank.Range(0, 1), Body: []byte(`{"reason":"breakpoint-hit","breakpoint":1}`)},
		{Kind: protocol.KindStopped, Ranks: rank.Range(2, 5), Body: []byte(`{"reason":"interrupted"}`)},
	}})
	call(t, m, session.Call{Command: "break", Args: protocol.Args{Location: "f"}})
	call(t, m, session.Call{Command: "break", Args: protocol.Args{Location: "g"}})
	return m, f
}

func TestLiveSets(t *testing.T) {
	m, f := lookedAt(t, looker)
	defer closeNow(t, m)
	const running = `{"event":"note","id":N,"command":"focus","ranks":"6-7","n":2,"text":"left out: running, and so not asked for @`
	const unknown = `{"event":"note","id":N,"command":"focus","ranks":"5","n":1,"text":"left out: No symbol \"x\" in current context."}`
	done := func(n string) string {
		return `{"event":"done","id":N,"command":"focus","asked":` + n + `,"answered":` + n + `,"ms":0}`
	}
	reply := func(set, n string) string {
		return `{"event":"reply","id":N,"command":"focus","ranks":"` + set + `","n":` + n + `,"result":{"set":"` + set + `"}}`
	}
	for set, want := range map[string][]string{
		"@bp:1":                 {reply("0-1", "2"), done("2")},
		"@host:node01&@stopped": {reply("0-3", "4"), done("4")},
		"@host:node[01-02]":     {reply("0-7", "8"), done("8")},
		"@fn:helper":            {running + `fn:helper"}`, reply("0-3", "4"), done("4")},
		"@fn:main&!@fn:helper":  {reply("4-5", "2"), done("2")},
		"@at:work.c:31":         {running + `at:work.c:31"}`, reply("0-3", "4"), done("4")},
		"@at:src/work.c:55,7":   {strings.ReplaceAll(running, `"6-7","n":2`, `"6","n":1`) + `at:src/work.c:55"}`, reply("4-5,7", "3"), done("3")},
		"@fn:helper&0-6":        {strings.ReplaceAll(running, `"6-7","n":2`, `"6","n":1`) + `fn:helper"}`, reply("0-3", "4"), done("4")},
		"@fn:helper&@stopped":   {reply("0-3", "4"), done("4")},
		"@expr{x > 1}":          {unknown, running + `expr{x > 1}"}`, reply("2-4", "3"), done("3")},
		"@expr{x}^@bp:1":        {unknown, running + `expr{x}"}`, reply("0,2-4", "4"), done("4")},
		"@fn:absent": {running + `fn:absent"}`,
			`{"event":"error","id":N,"command":"focus","ranks":"","n":0,"kind":"state","op":"focus","message":"there are no ranks in @fn:absent now","hint":"6 stopped, 2 running"}`,
			`{"event":"done","id":N,"command":"focus","asked":0,"answered":0,"ms":0}`},
		"@bp:2": {
			`{"event":"error","id":N,"command":"focus","ranks":"","n":0,"kind":"state","op":"focus","message":"there are no ranks in @bp:2 now","hint":"6 stopped, 2 running"}`,
			`{"event":"done","id":N,"command":"focus","asked":0,"answered":0,"ms":0}`},
		"@exited": {
			`{"event":"error","id":N,"command":"focus","ranks":"","n":0,"kind":"state","op":"focus","message":"there are no ranks in @exited now","hint":"6 stopped, 2 running"}`,
			`{"event":"done","id":N,"command":"focus","asked":0,"answered":0,"ms":0}`},
	} {
		t.Run(set, func(t *testing.T) {
			got := call(t, m, session.Call{Command: "focus", Args: protocol.Args{Set: set}})
			if got = withoutID(got); got != strings.Join(want, "\n")+"\n" {
				t.Errorf("got\n%swant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
	for _, p := range f.sent(wire.Command) {
		if p.ID >= protocol.FirstInternal && p.Ranks.String() != "0-5" {
			t.Errorf("ranks %s were asked, not those that are stopped", p.Ranks)
		}
	}
}

// withoutID replaces the number of a call by N.
func withoutID(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		head, rest, ok := strings.Cut(line, `"id":`)
		if _, after, cut := strings.Cut(rest, ","); ok && cut {
			line = head + `"id":N,` + after
		}
		b.WriteString(line)
	}
	return b.String()
}

// A live set is evaluated before the command is sent, and the command goes to its members only.
func TestLiveSetInFront(t *testing.T) {
	m, f := lookedAt(t, looker)
	defer closeNow(t, m)
	got := call(t, m, session.Call{Command: "print", Ranks: "@fn:helper&@expr{x > 1}", Args: protocol.Args{Expr: "same"}})
	if !strings.Contains(got, `"ranks":"2","n":1,"result":{"expr":"same"}`) || !strings.Contains(got, `"asked":2,"answered":2`) {
		t.Errorf("got %s", got)
	}
	sent := f.sent(wire.Command)
	if last := sent[len(sent)-1]; last.Ranks.String() != "2-3" || last.ID >= protocol.FirstInternal {
		t.Errorf("asked %v, number %d", last.Ranks, last.ID)
	}
}

// The states in a set are those at the time of the call, also if they change before the ranks that
// must be asked have answered.
func TestStatesInASetAreFixedByTheCall(t *testing.T) {
	m, f := lookedAt(t, func(f *fakeRoot, m wire.Message) {
		if m.ID >= protocol.FirstInternal {
			f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
				{Kind: protocol.KindStopped, Ranks: rank.Range(2, 3), Body: []byte(`{"reason":"breakpoint-hit","breakpoint":1}`)},
				{Kind: protocol.KindExited, Ranks: rank.Range(6, 7), Body: []byte(`{"code":0}`)},
			}})
		}
		looker(f, m)
	})
	defer closeNow(t, m)
	for set, want := range map[string]string{"@expr{x}^@bp:1": "0,2-4", "@expr{x},@running": "1-4,6-7"} {
		f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
			{Kind: protocol.KindRunning, Ranks: rank.Range(6, 7), Body: []byte("{}")},
			{Kind: protocol.KindStopped, Ranks: rank.Range(2, 3), Body: []byte(`{"reason":"interrupted"}`)},
		}})
		if got := call(t, m, session.Call{Command: "focus", Args: protocol.Args{Set: set}}); !strings.Contains(got, `"result":{"set":"`+want+`"}`) {
			t.Errorf("%s: want %s, got\n%s", set, want, got)
		}
	}
}

// A session that ends while a set is being evaluated also ends the call.
func TestEndWhileASetIsWorkedOut(t *testing.T) {
	m, _ := lookedAt(t, func(f *fakeRoot, m wire.Message) {
		if m.ID < protocol.FirstInternal {
			looker(f, m)
		}
	})
	id, err := m.Do(t.Context(), session.Call{Command: "print", Ranks: "@fn:helper", Args: protocol.Args{Expr: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	closeNow(t, m)
	ended := false
	for e := range m.Events() {
		ended = ended || e.Done != nil && e.ID == id
	}
	if !ended {
		t.Error("the call has no done")
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, ranks, expr string
		want              []string
	}{
		{"all values are equal", "0-4", "same", []string{`"ranks":"0-4","n":5,"result":{"expr":"same","side":"majority"}`}},
		{"most values are equal", "0-4", "x > 1", []string{`"ranks":"2-4","n":3,"result":{"expr":"x > 1","side":"majority"}`, `"ranks":"0-1","n":2,"result":{"expr":"x > 1","side":"others"}`}},
		{"half of the values are equal", "0-3", "x > 1", []string{`"ranks":"0-3","n":4,"result":{"expr":"x > 1","side":"none"}`}},
		{"values that differ in addresses only", "0-4", "known", []string{`"ranks":"0-3","n":4,"result":{"expr":"known","side":"majority"}`, `"ranks":"4","n":1`}},
		{"addresses without symbols differ", "0-4", "unknown", []string{`"ranks":"0-4","n":5,"result":{"expr":"unknown","side":"none"}`}},
		{"some fail", "0-5", "same", []string{`"side":"majority"`, `"event":"error","id":N,"command":"diff","ranks":"5"`}},
		{"all fail", "5", "x", []string{`"event":"error"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := lookedAt(t, looker)
			defer closeNow(t, m)
			got := withoutID(call(t, m, session.Call{Command: "diff", Ranks: c.ranks, Args: protocol.Args{Expr: c.expr}}))
			lines := strings.Split(strings.TrimSpace(got), "\n")
			if len(lines) != len(c.want)+1 || !strings.Contains(lines[len(c.want)], `"event":"done"`) {
				t.Fatalf("got %s", got)
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("got %s\nwant %s", lines[i], want)
				}
			}
		})
	}
}

func TestIsFunction(t *testing.T) {
	for frame, want := range map[string]bool{"ns::f(int, char)": true, "ns::f": true, "f": false, "ns::f2(int)": false, "": false} {
		if got := protocol.IsFunction(frame, "ns::f"); got != want {
			t.Errorf("%q: %v", frame, got)
		}
	}
	for frame, want := range map[string]bool{"MPI_Recv": true, "PMPI_Recv": true, "PMPI_Recv_init": false, "XMPI_Recv": false} {
		if got := protocol.IsFunction(frame, "MPI_Recv"); got != want {
			t.Errorf("%s is MPI_Recv: %v", frame, got)
		}
	}
	if protocol.IsFunction("MPI_Recv", "PMPI_Recv") || protocol.IsFunction("Phelper", "helper") {
		t.Error("a name was found that was not asked for")
	}
	if !protocol.IsFunction("ns::f(int)", "ns::f(int)") || protocol.IsFunction("ns::f(int)", "ns::f(char)") {
		t.Error("arguments that are given count")
	}
}

func TestIsTrue(t *testing.T) {
	for value, want := range map[string]bool{
		"0": false, "1": true, "-3": true, "0.0": false, "0.5": true, "false": false, "true": true, ".FALSE.": false, ".TRUE.": true,
		"0x0": false, "0x55": true, "(int *) 0x0": false, "(int *) 0x55": true, `0 '\000'`: false, "97 'a'": true, "nan(0x8000000000000)": true,
		`0x55 "text"`: true, "void": false, "{x = 0}": true,
	} {
		if got := isTrue(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
