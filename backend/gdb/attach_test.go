package gdb_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestHeldRankStopsAtMain(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "ends.c"), 1, "5")
	want := `running [0] {}
1 reply [0] {}
stopped [0] {"reason":"breakpoint-hit","temporary":true,"frame":{"level":0,"func":"main","args":["argc","argv"]`
	if got := r.sink.transcript(); !strings.Contains(strings.ReplaceAll(got, "\n0 ", "\n"), want) || !strings.Contains(got, "args.argc=2[0]") {
		t.Errorf("got %s", got)
	}
	r.ok("continue", protocol.Args{})
	if g := r.await(0, protocol.KindExited); string(g.Body) != `{"code":5}` {
		t.Errorf("got %v", g)
	}
}

func TestFirstStop(t *testing.T) {
	for _, c := range []struct {
		name, source, flag, stopAt string
		reason, function           string
	}{
		{"main", "work.c", "-O0", "main", "breakpoint-hit", "main"},
		{"default is main", "work.c", "-O0", "", "breakpoint-hit", "main"},
		{"a function", "work.c", "-O0", "helper", "breakpoint-hit", "helper"},
		{"a line", "work.c", "-O0", "work.c:28", "breakpoint-hit", "factorial"},
		{"entry", "work.c", "-O0", "entry", "entry", "??"},
		{"static program at entry", "work.c", "-static", "entry", "entry", "_start"},
		{"no symbols", "work.c", "strip", "main", "entry", "??"},
		{"no such place", "work.c", "-O0", "nowhere", "breakpoint-hit", "main"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gdb.Config{})
			id := r.hold(build(t, c.source, c.flag), 1, c.stopAt, patience)
			if g := r.answers(id, 1)[0]; string(g.Body) != "{}" {
				t.Fatalf("answer %v", g)
			}
			s := r.stop()
			if s.Reason != c.reason || s.Frame == nil || s.Frame.Func != c.function {
				t.Errorf("stopped %+v in %+v", s, s.Frame)
			}
			wantNotes := 0
			if c.reason == "entry" && c.stopAt != "entry" || c.stopAt == "nowhere" {
				wantNotes = 1
			}
			if n := r.count(protocol.KindNote); n != wantNotes {
				t.Errorf("%d notes", n)
			}
			r.ok("continue", protocol.Args{})
			r.await(0, protocol.KindExited)
		})
	}
}

func TestStopAtNone(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.answers(r.hold(build(t, "ends.c"), 1, "none", patience, "0"), 1)
	r.await(0, protocol.KindExited)
	if n := r.count(protocol.KindStopped); n != 0 {
		t.Errorf("%d stops", n)
	}
}

// TestThreadsOfHeldRankDoNotStop checks that the group stop of a held rank is ended:
// otherwise every thread that it creates would start in it.
func TestThreadsOfHeldRankDoNotStop(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "joins.c"), 1)
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
	if n := r.count(protocol.KindStopped); n != 1 {
		t.Errorf("%d stops", n)
	}
}

func TestUserStillSeesSIGSTOPAndSIGCONT(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		t.Run(sig.String(), func(t *testing.T) {
			r := newRig(t, gdb.Config{})
			r.launch(build(t, "ends.c"), 1, strconv.Itoa(-int(sig)))
			r.ok("continue", protocol.Args{})
			if s := r.stop(); s.Reason != "signal-received" || s.Signal == "" {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestUsersOwnHandlingSurvivesTheStart(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.answers(r.hold(build(t, "work.c"), 1, "entry", patience), 1)
	r.stop()
	r.ok("gdb", protocol.Args{Text: "handle SIGCONT nostop print pass"})
	r.ok("break", protocol.Args{Location: "main"})
	r.ok("continue", protocol.Args{})
	r.stop()
	if got := text(t, r.ok("gdb", protocol.Args{Text: "info signals SIGCONT"})); !strings.Contains(got, "No\tYes\tYes") {
		t.Errorf("got %q", got)
	}
}

func TestAttachToRunning(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	id := r.id()
	r.engine.Attach(id, []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	if g := r.answers(id, 1)[0]; g.Kind != protocol.KindResult {
		t.Fatal(g)
	}
	if s := r.stop(); s.Reason != "attached" || s.Frame == nil || len(s.Others) != 0 {
		t.Errorf("got %+v", s)
	}
	r.ok("continue", protocol.Args{})
	r.ok("interrupt", protocol.Args{})
	if s := r.stop(); s.Reason != "interrupted" {
		t.Errorf("got %+v", s)
	}
	r.ok("detach", protocol.Args{})
	r.await(0, protocol.KindDetached)
	if s := processState(t, cmd.Process.Pid); strings.ContainsAny(s, "TtZ") {
		t.Errorf("after detach it is in state %s", s)
	}
	r.fault("print", protocol.Args{Expr: "1"}, protocol.FaultState, "detached")
}

// processState returns the state letter in /proc/PID/stat.
func processState(t testing.TB, pid int) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	return string(b[strings.LastIndexByte(string(b), ')')+2:][:1])
}

// TestAttachToManyWithThreads checks that a SIGSTOP by which gdb has attached is not
// delivered later, neither at a resume nor at a detach.
func TestAttachToManyWithThreads(t *testing.T) {
	const n = 5
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.own = n
	program := build(t, "laps.c")
	var targets []backend.Target
	var cmds []*exec.Cmd
	for id := range rank.ID(n) {
		cmd := exec.Command(program, "2", "1000")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
		targets = append(targets, backend.Target{Rank: id, PID: cmd.Process.Pid})
	}
	all := func(name string, kind protocol.Kind) {
		r.answers(r.send(n, name, protocol.Args{}, patience), n)
		for id := range rank.ID(n) {
			r.await(id, kind)
		}
	}
	id := r.id()
	r.engine.Attach(id, targets, "", patience)
	r.answers(id, n)
	for id := range rank.ID(n) {
		r.await(id, protocol.KindStopped)
	}
	all("continue", protocol.KindRunning)
	all("interrupt", protocol.KindStopped)
	r.sink.until(0, func(all []told) bool {
		for _, e := range all {
			if e.group.Kind == protocol.KindStopped && strings.Contains(string(e.group.Body), "signal") {
				t.Errorf("got %v", e.group)
			}
		}
		return true
	})
	all("detach", protocol.KindDetached)
	for _, cmd := range cmds {
		cmd.Process.Signal(syscall.SIGTERM) // a stopped process does not react
		late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		cmd.Wait()
		late.Stop()
		if s := cmd.ProcessState.String(); s != "signal: terminated" {
			t.Errorf("a rank that was let go has ended with %s", s)
		}
	}
}

func TestAttachToStopped(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	if s := r.stop(); s.Reason != "attached" {
		t.Fatalf("got %+v", s)
	}
	r.ok("break", protocol.Args{Location: "add"})
	r.ok("continue", protocol.Args{})
	r.ok("interrupt", protocol.Args{})
	if s := r.stop(); s.Reason != "interrupted" && s.Reason != "breakpoint-hit" {
		t.Errorf("got %+v", s)
	}
}

func TestDetachFromHeldRankLetsItRun(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.answers(r.hold(build(t, "ends.c"), 1, "entry", patience, "6"), 1)
	r.stop()
	p := r.process(0)
	r.ok("detach", protocol.Args{})
	if exit := p.Wait(); exit.Code != 6 {
		t.Errorf("it ended with %+v", exit)
	}
}

func TestAttachFails(t *testing.T) {
	r := newRig(t, gdb.Config{})
	cmd := r.run(build(t, "calls.c"))
	r.engine.Attach(r.id(), []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.stop()
	for _, c := range []struct {
		name  string
		pid   int
		words string
	}{
		{"traced already", cmd.Process.Pid, "debugs it: end that first"},
		{"no such process", 1 << 22, "No such process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := r.id()
			r.engine.Attach(id, []backend.Target{{Rank: 1, PID: c.pid}}, "", patience)
			g := r.answers(id, 1)[0]
			if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), c.words) || !strings.Contains(string(g.Body), `"launch"`) {
				t.Errorf("got %v", g)
			}
			r.await(1, protocol.KindDetached)
		})
	}
}

func TestNoGDB(t *testing.T) {
	for _, path := range []string{"/nonexistent/gdb", "no-such-gdb"} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, gdb.Config{Path: path})
			g := r.answers(r.hold(build(t, "work.c"), 1, "main", patience), 1)[0]
			if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), `"engine"`) || !strings.Contains(string(g.Body), "--gdb PATH") {
				t.Errorf("got %v", g)
			}
		})
	}
}

func TestGDBThatEndsAtOnce(t *testing.T) {
	r := newRig(t, gdb.Config{Args: []string{"--no-such-option"}})
	g := r.answers(r.hold(build(t, "work.c"), 1, "main", patience), 1)[0]
	if g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "no-such-option") {
		t.Errorf("got %v", g)
	}
}

func TestEnvironmentWithoutHarmfulVariables(t *testing.T) {
	t.Setenv("SDM_SECRET_TEST", "secret")
	t.Setenv("PYTHONUNBUFFERED", "1")
	t.Setenv("DEBUGINFOD_URLS", "http://localhost/")
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), 1)
	b, err := os.ReadFile("/proc/" + strconv.Itoa(r.gdbPID(0)) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "SDM_") || strings.Contains(string(b), "DEBUGINFOD") || strings.Contains(string(b), "PYTHONUNBUFFERED") || !strings.Contains(string(b), "PATH=") {
		t.Errorf("gdb's environment: %q", b)
	}
}

func TestRankIsStartedAgain(t *testing.T) {
	r := newRig(t, gdb.Config{})
	for range 2 {
		r.launch(build(t, "ends.c"), 1, "0")
		r.ok("continue", protocol.Args{})
		r.await(0, protocol.KindExited)
		r.process(0).Wait()
	}
	r.launch(build(t, "ends.c"), 1, "0")
	id := r.id()
	r.engine.Attach(id, []backend.Target{{Rank: 0, PID: r.process(0).PID}}, "", patience)
	if g := r.answers(id, 1)[0]; g.Kind != protocol.KindFault {
		t.Errorf("a second attach: %v", g)
	}
}
