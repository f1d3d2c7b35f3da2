// Commands that a shared gdb cannot confine to one rank, and handovers.

package gdb_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// each runs a test with a gdb for each rank and with one for all four.
func each(t *testing.T, test func(t *testing.T, r *rig, n int)) {
	const n = 4
	for _, per := range []int{1, n} {
		t.Run(fmt.Sprintf("%d to a gdb", per), func(t *testing.T) {
			test(t, newRig(t, gdb.Config{RanksPerGDB: per}), n)
		})
	}
}

// allGo executes a command on all ranks and waits until they have stopped.
func (r *rig) allGo(n int, name string, args protocol.Args) []protocol.Group {
	r.Helper()
	for _, g := range r.answers(r.send(n, name, args, patience), n) {
		if g.Kind != protocol.KindResult {
			r.Fatalf("%s: %v", name, g)
		}
	}
	var stops []protocol.Group
	for id := range rank.ID(n) {
		stops = append(stops, r.await(id, protocol.KindStopped))
	}
	return stops
}

func (r *rig) meets(t *testing.T, n int) {
	r.launch(build(t, "meet.c"), n, t.TempDir(), strconv.Itoa(n))
}

// TestConditionOfLocal checks that a condition about a local variable works for every
// rank of a gdb.
func TestConditionOfLocal(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.meets(t, n)
		r.answers(r.send(n, "break", protocol.Args{Location: "work", Breakpoint: 1}, patience), n)
		r.allGo(n, "continue", protocol.Args{})
		r.answers(r.send(n, "condition", protocol.Args{Breakpoints: []int{1}, Condition: "i == 4"}, patience), n)
		for _, g := range r.allGo(n, "continue", protocol.Args{}) {
			if column(g, "args.i") != "4" {
				t.Errorf("got %v", g)
			}
		}
	})
}

// TestUntilOverBarriers executes until and advance over calls in which ranks wait for
// each other.
func TestUntilOverBarriers(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.meets(t, n)
		line := lineOf(t, "meet.c", "meet(0);")
		r.answers(r.send(n, "break", protocol.Args{Location: "meet.c:" + strconv.Itoa(line), Breakpoint: 1}, patience), n)
		r.allGo(n, "continue", protocol.Args{})
		for i, c := range []struct {
			name string
			args protocol.Args
		}{{"until", protocol.Args{}}, {"until", protocol.Args{Location: strconv.Itoa(line + 2)}}, {"advance", protocol.Args{Location: strconv.Itoa(line + 3)}}} {
			for _, g := range r.allGo(n, c.name, c.args) {
				if want := fmt.Sprintf(`"line":%d`, line+1+i); !strings.Contains(string(g.Body), want) {
					t.Errorf("%v: got %v, want %s", c, g, want)
				}
			}
		}
	})
}

// TestAdvanceWhileNeighboursEnd checks advance and until while other ranks end: gdb 13
// cannot insert breakpoints in those.
func TestAdvanceWhileNeighboursEnd(t *testing.T) {
	const n = 8
	for _, name := range []string{"advance", "until"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: n})
			r.launch(build(t, "work.c"), n)
			r.answers(r.send(n, "break", protocol.Args{Location: strconv.Itoa(lineOf(t, "work.c", "return 0;")), Breakpoint: 1}, patience), n)
			r.allGo(n, "continue", protocol.Args{})
			r.allGo(n, name, protocol.Args{Location: "compute"}) // main has returned
			for _, g := range r.answers(r.send(n, name, protocol.Args{Location: "compute"}, patience), n) {
				if g.Kind != protocol.KindResult {
					t.Error(g)
				}
			}
			for id := range rank.ID(n) {
				r.await(id, protocol.KindExited)
			}
		})
	}
}

// TestRawLinesAboutTheLastPlace checks that lines about gdb's last place and breakpoint refer to
// the place and breakpoint of each rank.
func TestRawLinesAboutTheLastPlace(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.launch(build(t, "work.c"), n)
		r.answers(r.send(n, "break", protocol.Args{Location: "helper", Breakpoint: 1}, patience), n)
		r.allGo(n, "continue", protocol.Args{})
		for _, g := range r.answers(r.send(n, "gdb", protocol.Args{Text: "info line"}, patience), n) {
			if want := fmt.Sprintf("Line %d of ", lineOf(t, "work.c", "int twice = 2 * x;")); !strings.Contains(g.String(), want) {
				t.Errorf("got %v, want %s", g, want)
			}
		}
		for _, g := range r.answers(r.send(n, "gdb", protocol.Args{Text: "info program"}, patience), n) {
			if got := g.String(); strings.Count(got, "It stopped at") != 1 || !strings.Contains(got, "It stopped at breakpoint 1.") {
				t.Errorf("got %v", got)
			}
		}
	})
}

// TestHardwareBreakpointBesideAnother checks that gdb is not shared when a hardware and
// another breakpoint are at one place: gdb 13 would crash over a step.
func TestHardwareBreakpointBesideAnother(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.launch(build(t, "work.c"), n)
		r.answers(r.send(n, "break", protocol.Args{Location: "main", Breakpoint: 1, Hardware: true}, patience), n)
		r.allGo(n, "next", protocol.Args{})
		r.answers(r.send(n, "break", protocol.Args{Location: "main", Breakpoint: 2, Temporary: true}, patience), n)
		for range 2 {
			r.allGo(n, "stepi", protocol.Args{Count: 4})
			r.allGo(n, "next", protocol.Args{})
		}
	})
}

func TestJump(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.meets(t, n)
		line := lineOf(t, "meet.c", "go = 0;")
		r.answers(r.send(n, "break", protocol.Args{Location: strconv.Itoa(line), Breakpoint: 1}, patience), n)
		for _, g := range r.allGo(n, "jump", protocol.Args{Location: strconv.Itoa(line)}) {
			if !strings.Contains(string(g.Body), fmt.Sprintf(`"line":%d`, line)) {
				t.Errorf("got %v", g)
			}
		}
	})
}

// TestBreakAtLog checks that a breakpoint at the place of a log stops, and that the log
// is reported.
func TestBreakAtLog(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.meets(t, n)
		r.answers(r.send(n, "log", protocol.Args{Location: "work", Exprs: []string{"i"}, Breakpoint: 1}, patience), n)
		r.answers(r.send(n, "break", protocol.Args{Location: "work", Condition: "i > 1", Breakpoint: 2}, patience), n)
		r.answers(r.send(n, "ignore", protocol.Args{Breakpoints: []int{2}, Count: 1}, patience), n)
		for _, want := range []string{"3", "4"} {
			for _, g := range r.allGo(n, "continue", protocol.Args{}) {
				if column(g, "args.i") != want || !strings.Contains(string(g.Body), `"breakpoint":2`) {
					t.Errorf("got %v, want i = %s", g, want)
				}
			}
		}
		if logs := r.count(protocol.KindLogged); logs != 5 {
			t.Errorf("%d logs", logs)
		}
	})
}

// errorInCondition matches gdb's error up to version 14 and from then on, with sdm's
// number.
var errorInCondition = regexp.MustCompile(`Error in testing (breakpoint condition|condition for breakpoint 1): Cannot access memory at address 0x`)

// TestConditionsWithErrors checks that gdb's errors in conditions of this rank,
// and only these, are reported.
func TestConditionsWithErrors(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.meets(t, n)
		r.answers(r.send(n, "break", protocol.Args{Location: "work", Breakpoint: 1, Condition: "*(int *)i == 5"}, patience), n)
		r.answers(r.send(n, "break", protocol.Args{Location: "work", Breakpoint: 2, Condition: "i == 99"}, patience), n)
		for id := range rank.ID(n) {
			if g := r.await(id, protocol.KindNote); !strings.Contains(string(g.Body), "Note: breakpoint 1 also set at the same pc.") {
				t.Errorf("got %v", g)
			}
		}
		r.answers(r.send(n, "continue", protocol.Args{}, patience), n)
		for id := range rank.ID(n) {
			if g := r.await(id, protocol.KindNote); !errorInCondition.Match(g.Body) {
				t.Errorf("got %v", g)
			}
		}
	})
}

// TestIdentity checks $rank and $size in every rank, also in conditions.
func TestIdentity(t *testing.T) {
	each(t, func(t *testing.T, r *rig, n int) {
		r.meets(t, n)
		for i, g := range r.answers(r.send(n, "print", protocol.Args{Expr: "$rank + 10"}, patience), n) {
			if id, _ := g.Ranks.Min(); column(g, "value") != strconv.Itoa(int(id)+10) {
				t.Errorf("%d: %v", i, g)
			}
		}
		r.answers(r.send(n, "break", protocol.Args{Location: "work", Condition: "i == $rank + 2", Breakpoint: 1}, patience), n)
		for id, g := range r.allGo(n, "continue", protocol.Args{}) {
			if column(g, "args.i") != strconv.Itoa(id+2) {
				t.Errorf("rank %d: %v", id, g)
			}
		}
	})
}

// TestHandOver checks that a handover moves no thread and keeps breakpoints and
// settings.
func TestHandOver(t *testing.T) {
	backendtest.NeedDebugRegisters(t)
	const n = 4
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.meets(t, n)
	r.answers(r.send(n, "break", protocol.Args{Location: "work", Breakpoint: 1, Condition: "i > 2"}, patience), n)
	r.answers(r.send(n, "ignore", protocol.Args{Breakpoints: []int{1}, Count: 1}, patience), n)
	r.allGo(n, "continue", protocol.Args{})
	r.one(1, "up", protocol.Args{})
	r.one(1, "print", protocol.Args{Expr: "$kept = sum"})
	r.one(1, "watch", protocol.Args{Expr: "sum", Breakpoint: 2})
	r.one(1, "display", protocol.Args{Expr: "i", Display: 1})
	look := func() string {
		var b strings.Builder
		for _, expr := range []string{"counted", "$pc", "$sp", "sum", "$kept", "$rank"} {
			b.WriteString(column(r.one(1, "print", protocol.Args{Expr: expr}), "value") + "\n")
		}
		return b.String() + r.one(1, "info threads", protocol.Args{}).String() + r.one(1, "info breakpoints", protocol.Args{}).String()
	}
	before, others := look(), column(r.one(0, "print", protocol.Args{Expr: "counted"}), "value")
	r.one(1, "gdb", protocol.Args{Text: "set print pretty on"})
	if g := r.await(1, protocol.KindNote); !strings.Contains(string(g.Body), `a gdb of its own now, for \"set print pretty on\"`) {
		t.Errorf("got %v", g)
	}
	if r.gdbPID(0) == r.gdbPID(1) || r.gdbPID(0) != r.gdbPID(2) {
		t.Error("it has none, or others have")
	}
	if after := look(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if now := column(r.one(0, "print", protocol.Args{Expr: "counted"}), "value"); now != others {
		t.Errorf("a neighbour has run: %s, %s", others, now)
	}
	r.one(1, "continue", protocol.Args{})
	if g := r.await(1, protocol.KindStopped); !strings.Contains(string(g.Body), `"breakpoint":2`) || column(g, "display.1") != "4" {
		t.Errorf("got %v", g)
	}
	r.one(1, "delete", protocol.Args{Breakpoints: []int{2}})
	r.allGo(n, "continue", protocol.Args{})
	r.answers(r.send(n, "delete", protocol.Args{}, patience), n)
	r.answers(r.send(n, "continue", protocol.Args{}, patience), n)
	for id := range rank.ID(n) {
		r.await(id, protocol.KindExited)
	}
}

// TestHandOverAtSignal checks that the signal at which a rank has stopped is delivered
// by its new gdb.
func TestHandOverAtSignal(t *testing.T) {
	const n = 2
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "signals.c"), n)
	r.answers(r.send(n, "break", protocol.Args{Location: "done", Breakpoint: 1}, patience), n)
	r.allGo(n, "continue", protocol.Args{})
	r.one(1, "gdb", protocol.Args{Text: "set print pretty on"})
	for range 2 {
		r.allGo(n, "continue", protocol.Args{})
	}
	r.allGo(n, "continue", protocol.Args{})
	for _, g := range r.answers(r.send(n, "print", protocol.Args{Expr: "caught"}, patience), n) {
		if column(g, "value") != "3" {
			t.Errorf("got %v", g)
		}
	}
}

// TestHandOverAtInlined checks that a rank at the first instruction of inlined
// functions is shown as by its old gdb, and that no instruction is executed.
func TestHandOverAtInlined(t *testing.T) {
	const n = 4
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "inlined.c", "-O1"), n)
	r.allGo(n, "next", protocol.Args{})
	pc := column(r.one(0, "print", protocol.Args{Expr: "$pc"}), "value")
	for steps, shown := range []string{"main", "outer", "inner"} {
		id := rank.ID(steps)
		for range steps {
			r.one(id, "step", protocol.Args{})
			r.await(id, protocol.KindStopped)
		}
		before := string(r.one(id, "backtrace", protocol.Args{}).Body)
		if !strings.Contains(before, `"frames":[{"level":0,"func":"`+shown+`"`) {
			t.Errorf("before: %s", before)
		}
		r.one(id, "gdb", protocol.Args{Text: "set print pretty on"})
		if after := string(r.one(id, "backtrace", protocol.Args{}).Body); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		if now := column(r.one(id, "print", protocol.Args{Expr: "$pc"}), "value"); now != pc {
			t.Errorf("stood at %s, stands at %s", pc, now)
		}
	}
}

// TestHandOversTogether checks that ranks of one gdb that are handed over together, all
// with flush, execute no instruction.
func TestHandOversTogether(t *testing.T) {
	const n = 4
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "work.c"), n)
	r.allGo(n, "next", protocol.Args{})
	pc := column(r.one(0, "print", protocol.Args{Expr: "$pc"}), "value")
	for id := range rank.ID(n) {
		r.engine.PendStops(id)
	}
	r.answers(r.send(n, "break", protocol.Args{Location: "main", Breakpoint: 1, Hardware: true}, patience), n)
	for _, g := range r.answers(r.send(n, "print", protocol.Args{Expr: "$pc"}, patience), n) {
		if now := column(g, "value"); now != pc {
			t.Errorf("%v stood at %s, stands at %s", g.Ranks, pc, now)
		}
	}
}

// TestHandOverThatGDBRefuses checks that a rank that needs a step by flush stays in its
// gdb while gdb cannot insert a breakpoint of another rank.
func TestHandOverThatGDBRefuses(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: 2})
	r.launch(build(t, "work.c"), 2)
	r.one(0, "break", protocol.Args{Location: "*0", Breakpoint: 1})
	pc := column(r.one(1, "print", protocol.Args{Expr: "$pc"}), "value")
	r.engine.PendStops(1)
	g := r.one(1, "gdb", protocol.Args{Text: "set print pretty on"})
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "cannot get a gdb of its own") {
		t.Errorf("got %v", g)
	}
	if now := column(r.one(1, "print", protocol.Args{Expr: "$pc"}), "value"); now != pc || r.gdbPID(0) != r.gdbPID(1) {
		t.Errorf("stood at %s, stands at %s", pc, now)
	}
	r.one(0, "delete", protocol.Args{})
	r.allGo(2, "next", protocol.Args{})
}
