package gdb_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/protocol"
)

// inHelper brings rank 0 into helper, called by compute, called by main.
func inHelper(t *testing.T) *rig {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "work.c", "total += twice"), Breakpoint: 7})
	r.ok("continue", protocol.Args{})
	r.stop()
	return r
}

func TestPrint(t *testing.T) {
	r := inHelper(t)
	for _, c := range []struct{ name, expr, want string }{
		{"number", "twice + 1", "1"},
		{"struct", "corner", "{x = 3, y = 4}"},
		{"array", "table", "{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}"},
		{"assignment", "total = 12", "12"},
		{"assigned", "total", "12"},
		{"negative", "-x - 1", "-1"},
		{"looks like an option", "--x", "-1"},
		{"quotes", `"a\"b"[1]`, `34 '"'`},
		{"convenience variable", "$mine = 4", "4"},
		{"format", "/x 255", "0xff"},
		{"options", "-elements 3 -- table", "{0, 1, 4...}"},
		{"double", "ratio", "0.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := r.ok("print", protocol.Args{Expr: c.expr})
			if got := column(g, "value"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			var body struct{ Expr string }
			if json.Unmarshal(g.Body, &body); body.Expr != c.expr {
				t.Errorf("body %s", g.Body)
			}
		})
	}
	r.fault("print", protocol.Args{Expr: "nix"}, protocol.FaultGDB, `No symbol "nix" in current context.`)
	r.fault("print", protocol.Args{Expr: "*(int*)0"}, protocol.FaultGDB, "Cannot access memory at address 0x0")
	if g := r.ok("print", protocol.Args{}); column(g, "value") != "0.5" {
		t.Errorf("without an expression: %v", g)
	}
	r.fault("print", protocol.Args{Expr: "$ + $2"}, protocol.FaultUsage, "no numbers")
	r.fault("print", protocol.Args{Expr: "x", Thread: 9}, protocol.FaultGDB, "thread")
	one := 1
	if g := r.ok("print", protocol.Args{Expr: "n", Frame: &one}); column(g, "value") != "0" {
		t.Errorf("n of the caller: %v", g)
	}
}

// TestCall allows that gdb 13 cannot call functions on processors with AMX: the kernel
// accepts the extended state only as a whole, and gdb does not know all of it. Then
// gdb's error must be reported, and the rank must stay usable.
func TestCall(t *testing.T) {
	r := inHelper(t)
	g := r.ask("print", protocol.Args{Expr: "factorial(5)"})
	if column(g, "value") != "120" && !strings.Contains(string(g.Body), "extended state") {
		t.Errorf("got %v", g)
	}
	r.ok("gdb", protocol.Args{Text: "info registers rip"})
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}

// TestFrameAtAddress selects frames by addresses on the stack: the caller's, the selected frame's, and
// one without a frame.
func TestFrameAtAddress(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the expressions use rbp")
	}
	r := inHelper(t)
	for _, c := range []struct{ from, want string }{
		{"*(long *)$rbp+16", `"frame":{"level":1,"func":"compute"`},
		{"$rbp+16", `"frame":{"level":1,"func":"compute"`},
		{"0x10", `"message":"No frame at address 0x10."`},
	} {
		if g := r.ask("frame", protocol.Args{From: c.from}); !strings.Contains(string(g.Body), c.want) {
			t.Errorf("frame address %s: %v, want %s", c.from, g, c.want)
		}
	}
	if g := r.ask("frame", protocol.Args{}); !strings.Contains(string(g.Body), `"level":1`) {
		t.Errorf("selected: %v", g)
	}
}

func TestFrames(t *testing.T) {
	r := inHelper(t)
	two, nine := 2, 9
	for _, c := range []struct {
		name, command string
		args          protocol.Args
		want          string // function, or gdb's error
	}{
		{"current", "frame", protocol.Args{}, "helper"},
		{"up", "up", protocol.Args{}, "compute"},
		{"stays", "frame", protocol.Args{}, "compute"},
		{"up too far goes to the top", "up", protocol.Args{Count: 50}, "main"},
		{"with a count it stays there", "up", protocol.Args{Count: 9}, "main"},
		{"no further", "up", protocol.Args{}, "Initial frame selected; you cannot go up."},
		{"down", "down", protocol.Args{Count: 9}, "helper"},
		{"no further down", "down", protocol.Args{}, "Bottom (innermost) frame selected; you cannot go down."},
		{"by level", "frame", protocol.Args{Frame: &two}, "main"},
		{"no such level", "frame", protocol.Args{Frame: &nine}, "No frame at level 9."},
		{"nothing has changed", "frame", protocol.Args{}, "main"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := r.ask(c.command, c.args)
			if !strings.Contains(string(g.Body), `"func":"`+c.want+`"`) && !strings.Contains(string(g.Body), `"message":"`+c.want+`"`) {
				t.Errorf("got %v, want %s", g, c.want)
			}
		})
	}
	if v := r.value("rank + 5"); v != "5" {
		t.Errorf("in main: %s", v)
	}
	r.ok("gdb", protocol.Args{Text: "down"})
	if g := r.ok("info args", protocol.Args{}); string(g.Body) != `{"names":["n"]}` || column(g, "value.n") != "0" {
		t.Errorf("after gdb's own down: %v", g)
	}
	if g := r.ok("info locals", protocol.Args{}); string(g.Body) != `{"names":["i","sum"]}` || column(g, "value.i") != "0" {
		t.Errorf("locals: %v", g)
	}
}

func TestBacktrace(t *testing.T) {
	r := inHelper(t)
	for _, c := range []struct {
		name string
		args protocol.Args
		body string
		cols map[string]string
	}{
		{"all", protocol.Args{}, `"func":"main"`, map[string]string{"0.args.x": "0", "1.args.n": "0"}},
		{"not more", protocol.Args{Count: 3}, `"more":false`, nil},
		{"more", protocol.Args{Count: 2}, `"more":true`, map[string]string{"1.args.n": "0"}},
		{"full", protocol.Args{Full: true}, `"locals":[["twice"],["i","sum"],["sum","f"]]`, map[string]string{"1.locals.i": "0"}},
		{"thread", protocol.Args{Thread: 1}, `"thread":1`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := r.ok("backtrace", c.args)
			if !strings.Contains(string(g.Body), c.body) {
				t.Errorf("body %s", g.Body)
			}
			for name, want := range c.cols {
				if got := column(g, name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
	r.fault("backtrace", protocol.Args{Thread: 5}, protocol.FaultGDB, "5")
}

func TestStacks(t *testing.T) {
	r := inHelper(t)
	for by, want := range map[string]string{
		"":         `{"by":"line"}`,
		"function": `{"by":"function"}`,
		"address":  `{"by":"address"}`,
	} {
		g := r.ok("stacks", protocol.Args{By: by})
		tree := g.Stack.String()
		if string(g.Body) != want || strings.Contains(tree, "work.c") == (by == "function") || strings.Contains(tree, "0x") != (by == "address") {
			t.Errorf("by %q: %v", by, g)
		}
	}
	r.fault("stacks", protocol.Args{By: "colour"}, protocol.FaultUsage, "function, line or address")
}

func TestInfoThreads(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "joins.c"), 1)
	r.ok("break", protocol.Args{Location: "hit"})
	r.ok("continue", protocol.Args{})
	r.stop()
	g := r.ok("info threads", protocol.Args{})
	var body struct {
		Threads []struct {
			ID      int
			State   string
			Current bool
			Frame   *protocol.Frame
		}
	}
	if err := json.Unmarshal(g.Body, &body); err != nil || len(body.Threads) != 3 {
		t.Fatalf("got %v", g)
	}
	current := 0
	for _, th := range body.Threads {
		if th.Current {
			current = th.ID
		}
		if th.State != "stopped" || th.Frame == nil {
			t.Errorf("thread %+v", th)
		}
	}
	if current < 2 || !strings.Contains(column(g, "target.1"), "LWP") {
		t.Errorf("current %d, columns %v", current, g.Columns)
	}
}

func TestList(t *testing.T) {
	r := inHelper(t)
	first := func(g protocol.Group) (n int, text string, lines, current int) {
		var body struct {
			Lines []struct {
				N    int
				Text string
			}
			Current int
		}
		if err := json.Unmarshal(g.Body, &body); err != nil || len(body.Lines) == 0 {
			t.Fatalf("got %v", g)
		}
		return body.Lines[0].N, body.Lines[0].Text, len(body.Lines), body.Current
	}
	line := lineOf(t, "work.c", "total += twice")
	if n, _, count, current := first(r.ok("list", protocol.Args{})); n != line-5 || count != 10 || current != line {
		t.Errorf("around the frame: %d lines from %d, current %d", count, n, current)
	}
	if n, text, count, _ := first(r.ok("list", protocol.Args{First: 3, Last: 4})); n != 3 || count != 2 || !strings.HasPrefix(text, "// compute calls") {
		t.Errorf("lines 3 to 4: %d from %d: %q", count, n, text)
	}
	for _, location := range []string{"factorial", "work.c:26"} {
		if n, _, _, _ := first(r.ok("list", protocol.Args{Location: location})); n < 20 || n > 23 {
			t.Errorf("%s: from %d", location, n)
		}
	}
	r.fault("list", protocol.Args{First: 5000}, protocol.FaultGDB, "out of range")
	r.fault("list", protocol.Args{Location: "nix"}, protocol.FaultGDB, "nix")
}

func TestLongStrings(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "bigstring.c"), 1)
	r.ok("break", protocol.Args{Location: "look"})
	r.ok("continue", protocol.Args{})
	r.stop()
	if v := r.value("big"); len(v) > 300 || !strings.HasSuffix(v, `"...`) {
		t.Errorf("with gdb's default: %d bytes", len(v))
	}
	if v := r.value("hard"); !strings.Contains(v, `broken \377 end`) || !strings.Contains(v, `\"`) {
		t.Errorf("hard: %s", v)
	}
	r.ok("gdb", protocol.Args{Text: "set print elements unlimited"})
	if v := r.value("(char*)big"); strings.Count(v, "abcdefghijklmnopqrstuvwxyz") != 200000/26 {
		t.Errorf("unlimited: %d bytes", len(v))
	}
	g := r.ok("mi", protocol.Args{Text: "-data-read-memory-bytes &big 200000"})
	if n := len(text(t, g)); n < 400000 {
		t.Errorf("memory: %d bytes", n)
	}
}

func TestRawLines(t *testing.T) {
	r := inHelper(t)
	for _, c := range []struct{ name, command, line, want string }{
		{"gdb", "gdb", "info source", "Current source file is"},
		{"shell", "gdb", "shell echo hi; echo 'no mi: ^x'", "hi\nno mi: ^x\n"},
		{"echo", "gdb", `echo a\nb`, "a\nb"},
		{"print through gdb", "gdb", "print x", "0\n"}, // without the number of the value
		{"mi", "mi", "-data-evaluate-expression x", "^done,value=\"0\"\n"},
		{"mi with text", "mi", "-interpreter-exec console \"echo hi\"", "~\"hi\"\n^done\n"},
		{"quotes", "gdb", `print "a b\"c"`, `"a b\"c"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text(t, r.ok(c.command, protocol.Args{Text: c.line})); !strings.Contains(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	r.fault("gdb", protocol.Args{Text: "bogus"}, protocol.FaultGDB, "Undefined command")
	f := r.fault("gdb", protocol.Args{Text: "frame apply all -q print x"}, protocol.FaultGDB, "No symbol \"x\" in current context.")
	if want := "0\nNo symbol \"x\" in current context."; f.Message != want { // main has none
		t.Errorf("a line that ends early: %q, want %q", f.Message, want)
	}
	r.fault("gdb", protocol.Args{Text: "run"}, protocol.FaultUsage, "launch")
	r.fault("gdb", protocol.Args{Text: "quit"}, protocol.FaultUsage, "not handed to gdb")
	for _, swallows := range []string{"commands 7", "python", "while 1", "shell", "define f"} {
		r.fault("gdb", protocol.Args{Text: swallows}, protocol.FaultUsage, "not handed to gdb")
	}
	if got := text(t, r.ok("gdb", protocol.Args{Text: "shell cat"})); got != "" {
		t.Errorf("the shell has read %q", got)
	}
	r.ok("mi", protocol.Args{Text: "-thread-select 1"})
	r.fault("mi", protocol.Args{Text: "print x"}, protocol.FaultUsage, "dash")
	r.fault("mi", protocol.Args{Text: "-no-such"}, protocol.FaultGDB, "Undefined MI command")
}

func TestRawLinesThatResume(t *testing.T) {
	for _, c := range []struct{ command, line string }{
		{"gdb", "next"}, {"gdb", "finish"}, {"gdb", "continue"}, {"gdb", "stepi 3"}, {"mi", "-exec-next"}, {"mi", "-exec-continue --all"},
	} {
		t.Run(c.line, func(t *testing.T) {
			r := newRig(t, gdb.Config{})
			r.launch(build(t, "joins.c"), 1)
			r.ok("break", protocol.Args{Location: "hit"})
			r.ok("continue", protocol.Args{})
			r.stop()
			before := r.count(protocol.KindRunning)
			r.ok(c.command, protocol.Args{Text: c.line})
			r.stop()
			if r.count(protocol.KindRunning) != before+1 || r.count(protocol.KindStopped) != before+1 {
				t.Error("not one resume and one stop")
			}
			r.value("sums[0]")
		})
	}
}

func TestRawLineWhileRunning(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("continue", protocol.Args{})
	if got := text(t, r.ok("gdb", protocol.Args{Text: "info threads"})); !strings.Contains(got, "(running)") {
		t.Errorf("got %q", got)
	}
	r.fault("gdb", protocol.Args{Text: "next"}, protocol.FaultState, "running")
	r.ok("gdb", protocol.Args{Text: "interrupt"})
	if s := r.stop(); s.Reason != "interrupted" {
		t.Errorf("got %+v", s)
	}
}

func TestWatchpointThroughGDB(t *testing.T) {
	backendtest.NeedDebugRegisters(t)
	r := inHelper(t)
	r.ok("gdb", protocol.Args{Text: "watch total"})
	r.ok("delete", protocol.Args{Breakpoints: []int{7}})
	r.ok("gdb", protocol.Args{Text: "set var twice = 9"})
	r.ok("continue", protocol.Args{})
	g := r.await(0, protocol.KindStopped)
	if !strings.Contains(string(g.Body), `"watchpoint-trigger"`) || column(g, "old") != "0" || column(g, "new") != "9" {
		t.Errorf("got %v", g)
	}
}
