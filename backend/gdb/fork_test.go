package gdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// script writes a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.sh")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFollowChild checks that a rank that follows its child is the child from then on,
// and ends with it.
func TestFollowChild(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: 1})
	work := build(t, "work.c")
	r.launch(build(t, "forks.c"), 1, work)
	r.ok("gdb", protocol.Args{Text: "set follow-fork-mode child"})
	r.ok("break", protocol.Args{Breakpoint: 1, Location: "inchild"})
	r.ok("break", protocol.Args{Breakpoint: 2, Location: "inparent"})
	r.ok("break", protocol.Args{Breakpoint: 3, Location: "helper", Pending: true})
	if s := r.goes("continue"); s.Breakpoint != 1 || s.Frame.Func != "inchild" {
		t.Fatalf("got %+v", s)
	}
	if g := r.ok("info threads", protocol.Args{}); !strings.Contains(string(g.Body), `"id":1`) {
		t.Errorf("threads: %s", g.Body)
	}
	if s := r.goes("finish"); s.Frame.Func != "main" {
		t.Fatalf("got %+v", s)
	}
	// The program that the child starts by exec gets the breakpoints.
	if s := r.goes("continue"); s.Breakpoint != 3 || s.Frame.Func != "helper" {
		t.Fatalf("got %+v", s)
	}
	r.ok("kill", protocol.Args{})
	r.await(0, protocol.KindSignalled)
}

// TestParentEndsFirst checks that the end of the parent does not end the rank.
func TestParentEndsFirst(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: 1})
	r.launch(build(t, "forks.c"), 1)
	parent := r.process(0)
	r.ok("gdb", protocol.Args{Text: "set follow-fork-mode child"})
	r.ok("break", protocol.Args{Breakpoint: 1, Location: "inchild"})
	r.goes("continue")
	syscall.Kill(parent.PID, syscall.SIGKILL) // without its group
	parent.Wait()
	if got := r.value("n"); got != "1" {
		t.Errorf("n is %s", got)
	}
	r.ok("continue", protocol.Args{})
	if g := r.await(0, protocol.KindExited); !strings.Contains(string(g.Body), `"code":3`) {
		t.Errorf("got %v", g)
	}
}

// TestFollowChildInSharedGDB checks that a rank that shares a gdb gets one of its own
// to follow its child.
func TestFollowChildInSharedGDB(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: 2})
	r.launch(build(t, "forks.c"), 2)
	r.ok("gdb", protocol.Args{Text: "set follow-fork-mode child"})
	if r.gdbPID(0) == r.gdbPID(1) {
		t.Error("they still share a gdb")
	}
	r.ok("break", protocol.Args{Breakpoint: 1, Location: "inchild"})
	if s := r.goes("continue"); s.Breakpoint != 1 {
		t.Errorf("got %+v", s)
	}
}

// TestForkSettings checks that settings by which gdb would debug two processes are
// refused.
func TestForkSettings(t *testing.T) {
	for _, per := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d in a gdb", per), func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: per})
			r.launch(build(t, "forks.c"), 2)
			r.fault("gdb", protocol.Args{Text: "set detach-on-fork off"}, protocol.FaultUsage, "a rank is one process: a second one would stand still unseen (set follow-fork-mode child goes with the child)")
			r.fault("mi", protocol.Args{Text: "-gdb-set follow-exec-mode new"}, protocol.FaultUsage, "(set follow-exec-mode same)")
			r.ok("catch", protocol.Args{Breakpoint: 1, Event: "fork"})
			if s := r.goes("continue"); s.Reason != "fork" || s.Breakpoint != 1 {
				t.Fatalf("got %+v", s)
			}
			r.ok("continue", protocol.Args{})
			if g := r.await(0, protocol.KindExited); !strings.Contains(string(g.Body), `"code":0`) {
				t.Errorf("got %v", g)
			}
		})
	}
}

// TestCatchVfork checks that a rank that has stopped at a vfork can be resumed, and
// stops there again after a restart.
func TestCatchVfork(t *testing.T) {
	for _, per := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d in a gdb", per), func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: per})
			r.launch(build(t, "forks.c"), 2, "vfork", "/bin/true")
			r.ok("catch", protocol.Args{Breakpoint: 1, Event: "vfork"})
			r.ok("break", protocol.Args{Breakpoint: 2, Location: "inparent"})
			if s := r.goes("continue"); s.Reason != "vfork" || s.Breakpoint != 1 {
				t.Fatalf("got %+v", s)
			}
			if s := r.goes("finish"); s.Frame.Func != "main" {
				t.Fatalf("got %+v", s)
			}
			if s := r.goes("continue"); s.Breakpoint != 2 {
				t.Fatalf("got %+v", s)
			}
			r.ok("continue", protocol.Args{})
			if g := r.await(0, protocol.KindExited); !strings.Contains(string(g.Body), `"code":0`) {
				t.Errorf("got %v", g)
			}
			if g := r.one(1, "print", protocol.Args{Expr: "seen"}); g.Kind != protocol.KindResult {
				t.Errorf("the neighbour: %v", g)
			}
		})
	}
}

// TestExec checks that after an exec breakpoints are looked up again, that all kinds of breakpoints
// remain, and that other ranks are not affected.
func TestExec(t *testing.T) {
	for _, per := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d in a gdb", per), func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: per})
			work := build(t, "work.c")
			r.launch(build(t, "forks.c"), 2, "exec", work)
			r.ok("break", protocol.Args{Breakpoint: 1, Location: "helper", Pending: true})
			r.ok("catch", protocol.Args{Breakpoint: 2, Event: "exec"})
			if s := r.goes("continue"); s.Breakpoint != 2 || s.Detail != "exec'd "+work {
				t.Fatalf("%d in a gdb: got %+v", per, s)
			}
			if s := r.goes("continue"); s.Breakpoint != 1 || s.Frame.Func != "helper" {
				t.Fatalf("%d in a gdb: got %+v", per, s)
			}
			if got := r.value("x"); got != "0" {
				t.Errorf("x is %s", got)
			}
			r.ok("kill", protocol.Args{})
			r.await(0, protocol.KindSignalled)
			if g := r.one(1, "print", protocol.Args{Expr: "seen"}); g.Kind != protocol.KindResult {
				t.Errorf("the neighbour: %v", g)
			}
		})
	}
}

// TestWrappers checks that a script's shell and the wrappers that it executes run to
// the main of the program, with the breakpoints that were set before.
func TestWrappers(t *testing.T) {
	work := build(t, "work.c")
	for _, per := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d in a gdb", per), func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: per})
			r.neighbours = 0
			job := script(t, "#!/bin/sh\nexport A=b\n/bin/true\nexec env C=d nice -n 1 \"$@\"\n")
			var targets []backend.Target
			for i := range rank.ID(3) {
				p, err := r.forker.Hold(local.Spec{Rank: i, Program: job, Args: []string{work}, Env: append(os.Environ(), fmt.Sprintf("SDM_RANK=%d", i))})
				if err != nil {
					t.Fatal(err)
				}
				r.adopt(i, p)
				targets = append(targets, backend.Target{Rank: i, PID: p.PID, Program: job, Held: true, Before: []protocol.Command{
					{Name: "break", Args: protocol.Args{Breakpoint: 1, Location: "compute"}},
					{Name: "watch", Args: protocol.Args{Breakpoint: 2, Expr: "total"}},
				}})
			}
			id := r.id()
			r.own = 3
			r.engine.Attach(id, targets, "main", patience)
			r.answers(id, 3)
			for i := range rank.ID(3) {
				if g := r.await(i, protocol.KindStopped); !strings.Contains(string(g.Body), `work.c","line":42}`) {
					t.Fatalf("rank %d: %s", i, g.Body)
				}
			}
			if s := r.goes("continue"); s.Breakpoint != 1 || s.Frame.Func != "compute" {
				t.Fatalf("got %+v", s)
			}
			r.answers(r.send(3, "delete", protocol.Args{}, patience), 3)
			r.send(3, "continue", protocol.Args{}, patience)
			for i := range rank.ID(3) {
				r.await(i, protocol.KindExited)
			}
			if n := r.count(protocol.KindNote); n != 0 {
				t.Errorf("%d notes", n)
			}
		})
	}
}

// TestWrapperWithout checks the note about a script that does not exec its program.
func TestWrapperWithout(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: 1})
	r.neighbours = 0
	job := script(t, "#!/bin/sh\n/bin/true\nexit 3\n")
	id := r.hold(job, 1, "main", patience)
	r.answers(id, 1)
	if g := r.await(0, protocol.KindNote); !strings.Contains(string(g.Body), "put exec in front of the program in the script") {
		t.Errorf("got %v", g)
	}
	if g := r.await(0, protocol.KindExited); !strings.Contains(string(g.Body), `"code":3`) {
		t.Errorf("got %v", g)
	}
}

// TestWrapperBeside checks that a rank whose wrapper starts the program as a child is that child,
// and that a wrapper that traces its program stays at its entry.
func TestWrapperBeside(t *testing.T) {
	work := build(t, "work.c")
	dir := t.TempDir()
	strace, memcheck := filepath.Join(dir, "strace"), filepath.Join(dir, "valgrind", "memcheck")
	program, err := os.ReadFile("/bin/true")
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(memcheck), 0o700), os.WriteFile(strace, program, 0o700), os.WriteFile(memcheck, program, 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, script, note string
		reached            bool // main of the program
	}{
		{"timeout", "exec env C=d timeout 100 nice -n 1 " + work, "the rank is work", true},
		{"a script in timeout", "exec timeout 100 sh -c 'exec " + work + "'", ", run by timeout", true},
		{"a tracer", "exec " + strace + " " + work, "strace traces its program", false},
		{"valgrind", "exec " + memcheck + " " + work, "valgrind runs the program inside of itself", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: 1})
			r.neighbours = 0
			id := r.hold(script(t, "#!/bin/sh\n"+c.script+"\n"), 1, "main", patience)
			r.answers(id, 1)
			note := r.await(0, protocol.KindNote)
			stop := r.await(0, protocol.KindStopped)
			r.ok("kill", protocol.Args{})
			r.await(0, protocol.KindSignalled)
			if is := strings.Contains(string(stop.Body), `work.c","line":42}`); is != c.reached || !strings.Contains(string(note.Body), c.note) {
				t.Errorf("%s: %s", note.Body, stop.Body)
			}
		})
	}
}

// TestWrapperAtEntry checks that the shell itself can be debugged from its entry.
func TestWrapperAtEntry(t *testing.T) {
	r := newRig(t, gdb.Config{})
	job := script(t, "#!/bin/sh\nexec \"$@\"\n")
	id := r.hold(job, 1, "entry", patience, build(t, "work.c"))
	r.answers(id, 1)
	if s := r.stop(); s.Reason != "entry" {
		t.Fatalf("got %+v", s)
	}
	r.ok("catch", protocol.Args{Breakpoint: 1, Event: "exec"})
	if s := r.goes("continue"); s.Reason != "exec" {
		t.Fatalf("got %+v", s)
	}
	r.ok("break", protocol.Args{Breakpoint: 2, Location: "helper"})
	if s := r.goes("continue"); s.Breakpoint != 2 {
		t.Fatalf("got %+v", s)
	}
}

// TestForksOfManyThreads checks ranks that share a gdb, have several threads and start
// other programs. gdb forgets some of them if their vforks coincide: these get a gdb of
// their own, run on, and reach their breakpoints.
func TestForksOfManyThreads(t *testing.T) {
	t.Setenv("TICKING", "1")
	const n = 4
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "children.c"), n)
	r.answers(r.send(n, "break", protocol.Args{Breakpoint: 1, Location: "status_of", Condition: "child < 0"}, patience), n)
	r.answers(r.send(n, "break", protocol.Args{Breakpoint: 2, Location: "job_sum"}, patience), n)
	for _, g := range r.allGo(n, "continue", protocol.Args{}) {
		if !strings.Contains(string(g.Body), `"breakpoint":2`) || column(g, "args.mine") == "" {
			t.Errorf("got %v", g)
		}
	}
	r.send(n, "continue", protocol.Args{}, patience)
	for i := range rank.ID(n) {
		if g := r.await(i, protocol.KindExited); !strings.Contains(string(g.Body), `"code":0`) {
			t.Errorf("rank %d: %v", i, g)
		}
	}
}
