package gdb_test

import (
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/launch/local"
	"sdm/protocol"
)

// begin holds rank 0 and attaches to it with commands that were given before.
func (r *rig) begin(program, stopAt string, before ...protocol.Command) {
	r.Helper()
	p, err := r.forker.Hold(local.Spec{Program: program, Env: []string{"SDM_RANK=2"}})
	if err != nil {
		r.Fatal(err)
	}
	r.mu.Lock()
	r.procs[0] = p
	r.mu.Unlock()
	r.tasks.Go(func() { r.engine.Ended(0, p.Wait()) })
	r.Cleanup(func() { p.Stdout.Close(); p.Stderr.Close() })
	id := r.id()
	r.engine.Attach(id, []backend.Target{{PID: p.PID, Program: program, Held: true, Before: before}}, stopAt, patience)
	if g := r.answers(id, 1)[0]; g.Kind != protocol.KindResult {
		r.Fatalf("launch: %v", g)
	}
}

func given(name string, args protocol.Args) protocol.Command {
	return protocol.Command{Name: name, Args: args}
}

// TestCommandsBeforeTheStart checks that a rank that starts executes the commands that were given
// before, in order: a command that changes a breakpoint finds it.
func TestCommandsBeforeTheStart(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.begin(build(t, "work.c"), "none",
		given("break", protocol.Args{Breakpoint: 3, Location: "helper"}),
		given("condition", protocol.Args{Breakpoints: []int{3}, Condition: "x == 1"}),
		given("commands", protocol.Args{Breakpoints: []int{3}, Lines: []string{"print x + 41"}}),
		given("break", protocol.Args{Breakpoint: 5, Location: "factorial"}),
		given("disable", protocol.Args{Breakpoints: []int{5}}),
		given("break", protocol.Args{Breakpoint: 7, Location: "of_a_library_that_comes_later"}),
		given("display", protocol.Args{Display: 2, Expr: "total"}),
		given("watch", protocol.Args{Breakpoint: 8, Expr: "nothing_of_this_name"}),
	)
	if n := r.await(0, protocol.KindNote); !strings.Contains(string(n.Body), "watchpoint 8 (nothing_of_this_name) could not be set again: No symbol") {
		t.Errorf("note: %v", n)
	}
	g := r.await(0, protocol.KindStopped)
	if body := string(g.Body); !strings.Contains(body, `"breakpoint":3,`) || !strings.Contains(body, `"displays":[{"number":2,"expr":"total"}]`) {
		t.Errorf("stop: %v", g)
	}
	if got := column(g, "output.0"); got != "x + 41 = 42" && got != "$1 = 42" && got != "42" {
		t.Errorf("output %q", got)
	}
	info := string(r.ok("info breakpoints", protocol.Args{}).Body)
	for _, want := range []string{`"number":3,"type":"breakpoint","enabled":true`, `"number":5,"type":"breakpoint","enabled":false`, `"number":7,"type":"breakpoint","enabled":true,"pending":true`} {
		if !strings.Contains(info, want) {
			t.Errorf("%s\nwithout %s", info, want)
		}
	}
}

// TestCommandsBeforeMain checks that they are executed before the first stop, which is
// reported as usual.
func TestCommandsBeforeMain(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.begin(build(t, "work.c"), "main", given("break", protocol.Args{Breakpoint: 1, Location: "helper"}))
	if s := r.stop(); s.Frame == nil || s.Frame.Func != "main" || s.Breakpoint != 0 {
		t.Errorf("first stop: %+v", s)
	}
	r.ok("continue", protocol.Args{})
	if s := r.stop(); s.Breakpoint != 1 {
		t.Errorf("second stop: %+v", s)
	}
}

// TestTakeOverRepeatsChangesOfBreakpoints checks that a gdb that takes over a rank also
// executes the commands that changed breakpoints.
func TestTakeOverRepeatsChangesOfBreakpoints(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("break", protocol.Args{Breakpoint: 1, Location: "forever"})
	r.ok("condition", protocol.Args{Breakpoints: []int{1}, Condition: "n == 100"})
	r.ok("break", protocol.Args{Breakpoint: 2, Location: "main"})
	r.ok("disable", protocol.Args{Breakpoints: []int{2}})
	if err := syscall.Kill(r.gdbPID(0), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.stop()
	info := string(r.ok("info breakpoints", protocol.Args{}).Body)
	for _, want := range []string{`"condition":"n == 100"`, `"number":2,"type":"breakpoint","enabled":false`} {
		if !strings.Contains(info, want) {
			t.Errorf("%s\nwithout %s", info, want)
		}
	}
}
