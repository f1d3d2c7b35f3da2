package gdb_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
)

// TestInterruptOfSigwait checks that a target that blocks or awaits SIGINT is stopped,
// and does not get it.
func TestInterruptOfSigwait(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "sigwait.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "sigwait.c", "both threads run"), Temporary: true})
	r.ok("continue", protocol.Args{})
	r.stop()
	for range 5 {
		before := r.value("turns")
		r.ok("continue", protocol.Args{})
		r.ok("interrupt", protocol.Args{})
		if s := r.stop(); s.Reason != "interrupted" || s.Signal != "" {
			t.Fatalf("after %s turns: %+v", before, s)
		}
	}
}

// TestAttachToSigwait checks the same for an attached target.
func TestAttachToSigwait(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "sigwait.c"))
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	r.ok("continue", protocol.Args{})
	r.ok("interrupt", protocol.Args{})
	if s := r.stop(); s.Reason != "interrupted" {
		t.Errorf("got %+v", s)
	}
	r.ok("detach", protocol.Args{})
	if s := processState(t, cmd.Process.Pid); strings.ContainsAny(s, "TtZ") {
		t.Errorf("after the detach it is in state %s", s)
	}
}

// TestResumeOfAKilledRank resumes a stopped threaded rank that was just killed: gdb
// answers ^running and then ^error to the same command. The rank must end once.
func TestResumeOfAKilledRank(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("break", protocol.Args{Location: "outer"})
	r.ok("continue", protocol.Args{})
	r.stop()
	syscall.Kill(r.process(0).PID, syscall.SIGKILL)
	r.ask("continue", protocol.Args{}) // may come before or after the end
	if g := r.await(0, protocol.KindSignalled); !strings.Contains(string(g.Body), `"SIGKILL"`) {
		t.Errorf("got %v", g)
	}
	if n := r.count(protocol.KindSignalled); n != 1 {
		t.Errorf("it ended %d times", n)
	}
	r.process(0).Wait()
}

// TestDetachFromStopped checks that a process that was stopped before runs after a
// detach.
func TestDetachFromStopped(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	halt(t, cmd.Process.Pid)
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	r.ok("detach", protocol.Args{})
	r.await(0, protocol.KindDetached)
	r.awaitState(cmd.Process.Pid, "RS")
}

// awaitState waits until a process is in one of some states of /proc/PID/stat.
func (r *rig) awaitState(pid int, states string) {
	r.Helper()
	r.until(func() bool { return strings.Contains(states, processState(r, pid)) }, fmt.Sprintf("process %d in state %s", pid, states))
}

// TestPrinterThatHangs checks that a pretty-printer that never ends is answered after
// the wait, and that an interrupt aborts it.
func TestPrinterThatHangs(t *testing.T) {
	needPython(t)
	r := inHelper(t)
	printers := filepath.Join(t.TempDir(), "printers.py")
	text := `import gdb
class Forever:
    def __init__(self, v): pass
    def to_string(self):
        while True: pass
gdb.pretty_printers.append(lambda v: Forever(v) if v.type.tag == "point" else None)
`
	if err := os.WriteFile(printers, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.ok("gdb", protocol.Args{Text: "source " + printers})
	g, took := r.timed("print", protocol.Args{Expr: "corner"}, shortWait)
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "busy with print corner") || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	r.ok("interrupt", protocol.Args{})
	r.backToWork("x", "0")
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}

// backToWork waits until gdb has aborted what it was busy with.
func (r *rig) backToWork(expr, want string) {
	r.Helper()
	r.until(func() bool {
		g := r.ask("print", protocol.Args{Expr: expr})
		return g.Kind == protocol.KindResult && column(g, "value") == want
	}, "a gdb that is back")
}

// TestCallThatHangs checks that an interrupt aborts a called function that never
// returns.
func TestCallThatHangs(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("break", protocol.Args{Location: "outer", Temporary: true})
	r.ok("continue", protocol.Args{})
	r.stop()
	if g := r.ask("print", protocol.Args{Expr: "add(1, 2)"}); g.Kind != protocol.KindResult {
		t.Skipf("gdb cannot call functions on this processor: %v", g)
	}
	g, took := r.timed("print", protocol.Args{Expr: "forever(1)"}, shortWait)
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "busy with print forever(1)") || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	r.ok("interrupt", protocol.Args{})
	r.backToWork("1 + 1", "2")
	r.ok("kill", protocol.Args{})
	r.await(0, protocol.KindSignalled)
}

// TestShellThatHangs checks a shell command of the user that never ends.
func TestShellThatHangs(t *testing.T) {
	r := inHelper(t)
	g, took := r.timed("gdb", protocol.Args{Text: "shell sleep 1000"}, shortWait)
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "busy with shell sleep 1000") || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	r.ok("interrupt", protocol.Args{})
	r.backToWork("x", "0")
}

// TestShellThatHangsForGood checks that killing the rank also kills a shell that
// ignores SIGINT.
func TestShellThatHangsForGood(t *testing.T) {
	r := inHelper(t)
	r.timed("gdb", protocol.Args{Text: "shell trap '' INT; sleep 1000"}, shortWait)
	r.ok("kill", protocol.Args{})
	r.await(0, protocol.KindSignalled)
	r.process(0).Wait()
}

// TestSymbolsThatTakeLong has gdb read the symbols of a program again and again.
func TestSymbolsThatTakeLong(t *testing.T) {
	r := inHelper(t)
	script := filepath.Join(t.TempDir(), "load")
	// The file is added once: gdb takes an interrupt for an error of a breakpoint, and
	// goes on, while it looks up breakpoints in a new file, which takes longer with
	// each file.
	text := "add-symbol-file " + build(t, "threads.c") + " -o 0x10000000\nwhile 1\nmaint expand-symtabs\nend\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g, took := r.timed("gdb", protocol.Args{Text: "source " + script}, shortWait)
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "busy with source") || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	r.ok("interrupt", protocol.Args{})
	r.backToWork("x", "0")
}

// TestGDBThatCrashesAtTheEnd has a gdb that crashes when its rank ends, as gdb 13.1
// does after a watchpoint that it has refused. The rank has ended regularly, and that
// must be reported.
func TestGDBThatCrashesAtTheEnd(t *testing.T) {
	needPython(t)
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "ends.c"), 1, "5")
	r.ok("gdb", protocol.Args{Text: "python import os; gdb.events.exited.connect(lambda e: os.kill(os.getpid(), 11))"})
	r.ok("continue", protocol.Args{})
	if g := r.await(0, protocol.KindExited); string(g.Body) != `{"code":5}` {
		t.Errorf("got %v", g)
	}
	r.fault("print", protocol.Args{Expr: "argc"}, protocol.FaultState, "exited") // constants are answered, as by gdb
}

// needPython skips a test if gdb has no Python.
func needPython(t *testing.T) {
	t.Helper()
	if err := exec.Command("gdb", "-nx", "-batch", "-ex", "python 1").Run(); err != nil {
		t.Skip("this gdb has no Python")
	}
}
