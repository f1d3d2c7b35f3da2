package gdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

const (
	// shortWait is a wait; faults come after nine tenths of it.
	shortWait = 500 * time.Millisecond
	// soon bounds the time of an answer that must not wait for patience. The margin is
	// for a loaded machine.
	soon = patience / 4
)

// halt stops a process, and waits until all its threads have stopped: on a busy machine
// they run on for a while after the signal.
func halt(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; runtime.Gosched() {
		running := false
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			_, state, _ := strings.Cut(string(stat), ") ")
			running = running || err == nil && !strings.HasPrefix(state, "T")
		}
		if !running {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d does not stop", pid)
		}
	}
}

// freeze stops the gdb of rank 0, as if it hung.
func (r *rig) freeze() (thaw func()) {
	pid := r.gdbPID(0)
	halt(r, pid)
	return func() { syscall.Kill(pid, syscall.SIGCONT) }
}

func (r *rig) timed(name string, args protocol.Args, wait time.Duration) (protocol.Group, time.Duration) {
	r.Helper()
	began := time.Now()
	g := r.answers(r.send(1, name, args, wait), 1)[0]
	return g, time.Since(began)
}

func TestHungGDB(t *testing.T) {
	r := inHelper(t)
	thaw := r.freeze()
	g, took := r.timed("print", protocol.Args{Expr: "x+1"}, shortWait)
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "busy with print x+1") || took > soon || took < shortWait/2 {
		t.Errorf("after %v: %v", took, g)
	}
	g, took = r.timed("print", protocol.Args{Expr: "x+2"}, patience)
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "busy with print x+1") || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	g, took = r.timed("continue", protocol.Args{}, patience)
	if g.Kind != protocol.KindFault || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	thaw()
	// The late answer is dropped, and shows that gdb works again.
	for end := time.Now().Add(patience); ; {
		if g, _ := r.timed("print", protocol.Args{Expr: "x+3"}, patience); g.Kind == protocol.KindResult {
			break
		} else if time.Now().After(end) {
			t.Fatalf("gdb did not come back: %v", g)
		}
	}
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}

func TestInterruptReachesHungGDB(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("continue", protocol.Args{})
	r.freeze()
	r.ok("interrupt", protocol.Args{}) // wakes it
	if s := r.stop(); s.Reason != "interrupted" {
		t.Errorf("got %+v", s)
	}
	r.value("turns")
}

func TestKillNeedsNoGDB(t *testing.T) {
	for _, name := range []string{"stopped", "running"} {
		for _, known := range []string{"known to hang", "not known to hang"} {
			t.Run(name+", "+known, func(t *testing.T) {
				r := newRig(t, gdb.Config{})
				r.launch(build(t, "calls.c"), 1)
				if name == "running" {
					r.ok("continue", protocol.Args{})
				}
				r.freeze()
				if known == "known to hang" {
					r.timed("info breakpoints", protocol.Args{}, shortWait)
				}
				r.ok("kill", protocol.Args{})
				if g := r.await(0, protocol.KindSignalled); !strings.Contains(string(g.Body), "SIGKILL") {
					t.Errorf("got %v", g)
				}
				r.process(0).Wait()
			})
		}
	}
}

func TestGDBThatIsBusyIsInterrupted(t *testing.T) {
	r := inHelper(t)
	busy := r.send(1, "gdb", protocol.Args{Text: "python while True: pass"}, patience)
	r.ok("interrupt", protocol.Args{})
	if g := r.answers(busy, 1)[0]; g.Kind != protocol.KindFault {
		t.Errorf("got %v", g)
	}
	if v := r.value("x"); v != "0" {
		t.Errorf("then: %s", v)
	}
}

func TestManyUnreadCommands(t *testing.T) {
	r := inHelper(t)
	thaw := r.freeze()
	long := protocol.Args{Expr: "x+0*sizeof(\"" + strings.Repeat("y", 50_000) + "\")"}
	var ids []protocol.RequestID
	for range 20 { // far more than a pipe holds
		ids = append(ids, r.send(1, "print", long, patience))
	}
	g, took := r.timed("info breakpoints", protocol.Args{}, shortWait)
	if g.Kind != protocol.KindFault || took > soon {
		t.Errorf("after %v: %v", took, g)
	}
	thaw()
	for _, id := range ids {
		if g := r.answers(id, 1)[0]; column(g, "value") != "0" {
			t.Fatalf("got %v", g)
		}
	}
}

// until polls for a condition.
func (r *rig) until(ok func() bool, what string) {
	r.Helper()
	for end := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			r.Fatalf("no %s in %v", what, patience)
		}
	}
}

// TestGDBThatIgnoresInterruptsIsReplaced checks that a gdb that does not process an interrupt is killed,
// and that others take over all its ranks.
func TestGDBThatIgnoresInterruptsIsReplaced(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: 2})
	r.launch(build(t, "work.c"), 2)
	busy := r.send(1, "gdb", protocol.Args{Text: "python exec(\"import signal\\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\\nwhile True: pass\")"}, patience)
	r.ok("interrupt", protocol.Args{})
	if g := r.answers(busy, 1)[0]; !strings.Contains(string(g.Body), "did not hear an interrupt") {
		t.Errorf("who was busy: %v", g)
	}
	for i := range rank.ID(2) {
		if g := r.await(i, protocol.KindNote); !strings.Contains(string(g.Body), "taken the rank over") {
			t.Errorf("rank %d: %v", i, g)
		}
		if g := r.await(i, protocol.KindStopped); !strings.Contains(string(g.Body), `"func":"main"`) {
			t.Errorf("rank %d: %v", i, g)
		}
	}
	r.ok("next", protocol.Args{})
	r.stop()
}
