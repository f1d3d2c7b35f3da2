package gdb_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/launch/launchtest"
	"sdm/protocol"
)

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, arg string
		kind      protocol.Kind
		body      string
	}{
		{"0", "0", protocol.KindExited, `{"code":0}`},
		{"octal 3", "3", protocol.KindExited, `{"code":3}`},
		{"octal 8", "8", protocol.KindExited, `{"code":8}`},
		{"octal 255", "255", protocol.KindExited, `{"code":255}`},
		{"SIGKILL by itself", "-9", protocol.KindSignalled, `{"code":0,"signal":"SIGKILL","meaning":"Killed"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gdb.Config{})
			r.launch(build(t, "ends.c"), 1, c.arg)
			r.ok("continue", protocol.Args{})
			if g := r.await(0, c.kind); string(g.Body) != c.body {
				t.Errorf("got %v", g)
			}
			r.fault("print", protocol.Args{Expr: "argc"}, protocol.FaultState, "the rank ")
			r.fault("kill", protocol.Args{}, protocol.FaultState, "the rank ")
		})
	}
}

func TestKill(t *testing.T) {
	for _, source := range []string{"work.c", "calls.c"} {
		for _, state := range []string{"stopped", "running"} {
			t.Run(source+" "+state, func(t *testing.T) {
				r := newRig(t, gdb.Config{})
				r.launch(build(t, source), 1)
				if state == "running" {
					if source == "work.c" {
						return // it would have ended
					}
					r.ok("continue", protocol.Args{})
				}
				began := time.Now()
				r.ok("kill", protocol.Args{})
				r.await(0, protocol.KindSignalled)
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		}
	}
}

// A target that is killed while it stands in the debugger: gdb does not notice,
// and its parent cannot reap it before gdb has.
func TestKilledFromOutside(t *testing.T) {
	for _, source := range []string{"work.c", "calls.c"} {
		for _, state := range []string{"stopped", "running"} {
			if source+state == "work.crunning" {
				continue // it would have ended
			}
			t.Run(source+" "+state, func(t *testing.T) {
				r := newRig(t, gdb.Config{})
				r.launch(build(t, source), 1)
				if source == "calls.c" {
					r.ok("break", protocol.Args{Location: "add"})
					r.ok("continue", protocol.Args{})
					r.stop()
				}
				if state == "running" {
					r.ok("continue", protocol.Args{})
				}
				syscall.Kill(r.process(0).PID, syscall.SIGKILL)
				if g := r.await(0, protocol.KindSignalled); !strings.Contains(string(g.Body), `"SIGKILL"`) {
					t.Errorf("got %v", g)
				}
				r.process(0).Wait()
			})
		}
	}
}

func TestAttachedIsKilledFromOutside(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	cmd.Process.Kill()
	if g := r.await(0, protocol.KindSignalled); !strings.Contains(string(g.Body), `"SIGKILL"`) {
		t.Errorf("got %v", g)
	}
}

func TestAttachedIsKilledByUs(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	r.ok("continue", protocol.Args{})
	r.ok("kill", protocol.Args{})
	r.await(0, protocol.KindSignalled)
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v", err)
	}
}

func TestGDBIsKilled(t *testing.T) {
	const n = 3
	r := newRig(t, gdb.Config{RanksPerGDB: 1})
	r.launch(build(t, "calls.c"), n)
	pid := r.gdbPID(0)
	halt(t, pid)
	print := r.send(n, "print", protocol.Args{Expr: "turns"}, patience)
	where := r.send(n, "backtrace", protocol.Args{}, patience)
	r.answers(where, n-1) // of the others: now all have been asked
	syscall.Kill(pid, syscall.SIGKILL)
	for _, id := range []protocol.RequestID{print, where} {
		for _, g := range r.answers(id, n) {
			dead := g.Ranks.Contains(0)
			if dead != (g.Kind == protocol.KindFault) || dead && !strings.Contains(string(g.Body), `"kind":"engine"`) || dead && !strings.Contains(string(g.Body), "(killed by SIGKILL)") {
				t.Errorf("got %v", g)
			}
		}
	}
	r.await(0, protocol.KindNote)
	if s := r.stop(); s.Reason != "attached" {
		t.Errorf("got %+v", s)
	}
	for _, g := range r.answers(r.send(n, "print", protocol.Args{Expr: "turns"}, patience), n) {
		if g.Kind != protocol.KindResult {
			t.Errorf("got %v", g)
		}
	}
}

// A gdb that crashes while its rank runs, with a breakpoint in it: another takes
// over, and the breakpoint is there.
func TestGDBThatCrashes(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("break", protocol.Args{Location: "forever", Breakpoint: 2, Condition: "n == 3"})
	r.ok("continue", protocol.Args{})
	before := r.count(protocol.KindRunning)
	id := r.send(1, "gdb", protocol.Args{Text: "python import os; os.kill(os.getpid(), 11)"}, patience)
	if g := r.answers(id, 1)[0]; g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "gdb died") {
		t.Errorf("got %v", g)
	}
	if g := r.await(0, protocol.KindNote); !strings.Contains(string(g.Body), "SIGSEGV") {
		t.Errorf("got %v", g)
	}
	if n := r.count(protocol.KindRunning); n != before {
		t.Errorf("told %d times that it runs, not %d", n, before)
	}
	r.ok("interrupt", protocol.Args{})
	r.stop()
	r.ask("print", protocol.Args{Expr: "forever(3)"})
	if s := r.stop(); s.Breakpoint != 2 || s.Frame.Func != "forever" {
		t.Errorf("got %+v", s)
	}
}

// A gdb that crashes while its rank stands: the rank stays there, although it would end at once, and what is asked
// meanwhile is answered by the next gdb. Crashes at commands of the user are not counted.
func TestGDBThatCrashesAtAStop(t *testing.T) {
	t.Run("here", func(t *testing.T) { crashAtAStop(t, "") })
	// Version 18 tells of it on its standard error.
	t.Run("forky", func(t *testing.T) { crashAtAStop(t, launchtest.FindRoot(t, "forky").GDB()) })
}

// crashAtAStop makes a gdb crash four times; path is its program.
func crashAtAStop(t *testing.T, path string) {
	r := newRig(t, gdb.Config{Path: path})
	r.launch(build(t, "inlined.c"), 1)
	before := r.value("$pc")
	for i := range 4 {
		id := r.send(1, "gdb", protocol.Args{Text: fmt.Sprintf("python import os; os.kill(os.getpid(), 11) # %d", i)}, patience)
		if g := r.answers(id, 1)[0]; g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), `gdb died at \"python import os`) {
			t.Fatalf("got %v", g)
		}
		if pc := r.value("$pc"); pc != before {
			t.Fatalf("it stands at %s, not at %s", pc, before)
		}
		if g := r.await(0, protocol.KindNote); !strings.Contains(string(g.Body), "where it stood") {
			t.Errorf("got %v", g)
		}
		r.stop()
	}
}

// A rank whose gdb dies again and again is lost in the end.
func TestGDBThatCrashesAgain(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	for range 3 {
		syscall.Kill(r.gdbPID(0), syscall.SIGKILL)
		r.await(0, protocol.KindNote)
		r.stop()
	}
	syscall.Kill(r.gdbPID(0), syscall.SIGKILL)
	if g := r.await(0, protocol.KindLost); string(g.Body) != `{"cause":"gdb died (killed by SIGKILL)"}` {
		t.Errorf("got %v", g)
	}
	r.fault("print", protocol.Args{Expr: "1"}, protocol.FaultState, "lost")
}

func TestUnknownRankAndCommand(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.fault("print", protocol.Args{Expr: "1"}, protocol.FaultState, "not been started")
	r.launch(build(t, "work.c"), 1)
	r.fault("launch", protocol.Args{}, protocol.FaultUsage, "launch")
}

func TestCloseWhileStarting(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.hold(build(t, "work.c"), 8, "main", patience)
}

func TestCloseEndsAHungGDB(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	b := processTracer(t, cmd.Process.Pid)
	halt(t, b)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := r.engine.Close(ctx); err != context.DeadlineExceeded {
		t.Errorf("close: %v", err)
	}
	if err := syscall.Kill(b, 0); err != syscall.ESRCH {
		t.Errorf("gdb %d: %v", b, err)
	}
}

func TestCloseLetsAttachedRun(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	r.ok("break", protocol.Args{Location: "spin"})
	if err := r.engine.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := processState(t, cmd.Process.Pid); strings.ContainsAny(s, "TtZ") {
		t.Errorf("it is in state %s", s)
	}
	if pid := processTracer(t, cmd.Process.Pid); pid != 0 {
		t.Errorf("it is traced by %d", pid)
	}
}

func TestKillCommandDuringAttach(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.hold(build(t, "work.c"), 1, "main", patience)
	g := r.ask("kill", protocol.Args{})
	r.await(0, protocol.KindSignalled)
	if g.Kind != protocol.KindResult {
		t.Errorf("got %v", g)
	}
}

// If sdm is killed, an attached target runs on as if it had not been debugged,
// and its gdb is gone.
func TestEngineKilled(t *testing.T) {
	r := newRig(t, gdb.Config{})
	target := r.run(build(t, "calls.c"))
	us := exec.Command(os.Args[0])
	us.Env = append(os.Environ(), attachVariable+"="+strconv.Itoa(target.Process.Pid))
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	tracer := processTracer(t, target.Process.Pid)
	gone, err := unix.PidfdOpen(tracer, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(gone)
	us.Process.Kill()
	us.Wait()
	n, err := 0, error(unix.EINTR)
	for err == unix.EINTR {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(gone), Events: unix.POLLIN}}, int(patience.Milliseconds()))
	}
	if n != 1 {
		t.Errorf("gdb %d is still there: %v", tracer, err)
	}
	turns := func() string {
		r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: target.Process.Pid}}, "", patience)
		r.stop()
		v := r.value("turns")
		r.ok("detach", protocol.Args{})
		r.await(0, protocol.KindDetached)
		return v
	}
	if a, b := turns(), turns(); a == b {
		t.Errorf("the target does not get on: %s turns", a)
	}
}

func TestKillDuringAttach(t *testing.T) {
	r := newRig(t, gdb.Config{})
	id := r.hold(build(t, "work.c"), 1, "main", patience)
	r.process(0).Kill()
	r.await(0, protocol.KindSignalled)
	if g := r.answers(id, 1)[0]; g.Kind == protocol.KindMissing {
		t.Errorf("got %v", g)
	}
}

func TestCommandsOfManyRanks(t *testing.T) {
	const n = 8
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), n)
	r.answers(r.send(n, "break", protocol.Args{Location: "helper", Breakpoint: 2}, patience), n)
	r.answers(r.send(n, "continue", protocol.Args{}, patience), n)
	for _, g := range r.answers(r.send(n, "print", protocol.Args{Expr: "rank"}, patience), n) {
		if g.Kind == protocol.KindFault { // still running
			continue
		}
		if first, _ := g.Ranks.Min(); column(g, "value") != strconv.Itoa(int(first)) {
			t.Errorf("got %v", g)
		}
	}
}
