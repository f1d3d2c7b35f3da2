package gdb_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// cores makes gdb write a core file of crash.c for each of some ranks: whether the
// kernel writes them depends on the machine.
func cores(t testing.TB, ranks ...int) (program string, files []string) {
	t.Helper()
	program = build(t, "crash.c")
	dir := t.TempDir()
	for i, r := range ranks {
		file := filepath.Join(dir, fmt.Sprintf("core %d", i))
		cmd := exec.Command("gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set env SDM_RANK "+strconv.Itoa(r),
			"-ex", "break helper", "-ex", "run", "-ex", "delete", "-ex", "next", "-ex", "generate-core-file "+file, program)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return program, files
}

// open attaches to core files.
func (r *rig) open(program string, files ...string) protocol.RequestID {
	id := r.id()
	var targets []backend.Target
	for i, f := range files {
		targets = append(targets, backend.Target{Rank: rank.ID(i), Program: program, Core: f})
	}
	r.engine.Attach(id, targets, "", patience)
	return id
}

// gdbs returns the gdbs that an engine of this process has started.
func gdbs(t testing.TB) []int {
	t.Helper()
	var found []int
	for _, line := range strings.Split(children(t), "\n") {
		if pid, comm, _ := strings.Cut(line, " "); comm == "gdb" {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, n)
		}
	}
	return found
}

func TestCores(t *testing.T) {
	program, files := cores(t, 1, 3, 3)
	for _, per := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d to a gdb", per), func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: per})
			for _, g := range r.answers(r.open(program, files...), 3) {
				if g.Kind != protocol.KindResult {
					t.Fatalf("open: %v", g)
				}
			}
			for i := range rank.ID(3) {
				var s protocol.Stop
				g := r.await(i, protocol.KindStopped)
				if err := json.Unmarshal(g.Body, &s); err != nil {
					t.Fatal(err)
				}
				signal := ""
				if i > 0 {
					signal = "SIGSEGV"
				}
				if s.Reason != "core" || s.Frame == nil || s.Frame.Func != "helper" || i > 0 && s.Signal != signal {
					t.Errorf("rank %d: %v", i, g)
				}
			}
			if got := len(gdbs(t)); got != 3/per {
				t.Errorf("%d gdbs, want %d", got, 3/per)
			}
			for i, want := range []string{"1", "3", "3"} {
				r.one(rank.ID(i), "up", protocol.Args{})
				if got := column(r.one(rank.ID(i), "print", protocol.Args{Expr: "n"}), "value"); got != want {
					t.Errorf("rank %d: n is %s, want %s", i, got, want)
				}
			}
			g := r.one(2, "stacks", protocol.Args{By: "line"})
			if text := fmt.Sprint(g); !strings.Contains(text, "SIGSEGV") || !strings.Contains(text, "helper") {
				t.Errorf("stacks: %s", text)
			}
		})
	}
}

// TestCoreRefuses checks that sdm itself refuses commands that need a process: gdb
// accepts some of them.
func TestCoreRefuses(t *testing.T) {
	program, files := cores(t, 3)
	r := newRig(t, gdb.Config{})
	r.answers(r.open(program, files...), 1)
	r.await(0, protocol.KindStopped)
	for name, args := range map[string]protocol.Args{
		"continue": {}, "next": {}, "finish": {}, "jump": {Location: "8"}, "signal": {Signal: "0"}, "kill": {},
		"break": {Location: "main"}, "watch": {Expr: "n"}, "delete": {}, "handle": {Signal: "SIGUSR1"},
		"memory write": {Expr: "where", Data: []byte{1}}, "set variable": {Expr: "n = 1"},
	} {
		r.fault(name, args, protocol.FaultState, name+" needs a process, and this is a core file")
	}
	r.fault("gdb", protocol.Args{Text: "continue"}, protocol.FaultState, "continue needs a process")
	r.fault("mi", protocol.Args{Text: "-exec-next"}, protocol.FaultState, "-exec-next needs a process")
	r.fault("print", protocol.Args{Expr: "helper(where)"}, protocol.FaultGDB, "without a process")
	r.ok("set variable", protocol.Args{Expr: "$x = 42"})
	if got := r.value("$x"); got != "42" {
		t.Errorf("$x is %s", got)
	}
	r.ok("interrupt", protocol.Args{})
	r.ok("detach", protocol.Args{})
	r.await(0, protocol.KindDetached)
}

func TestCoreThatCannotBeOpened(t *testing.T) {
	program, files := cores(t, 3)
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, whole[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, gdb.Config{})
	for _, c := range []struct{ name, program, file, want string }{
		{"cut", program, short, "cannot open " + short + ": not a core dump"},
		{"missing", program, short + "er", "No such file"},
		{"no program", "core_test.go", files[0], "cannot open core_test.go: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := r.answers(r.open(c.program, c.file), 1)[0]
			if text := g.String(); g.Kind != protocol.KindFault || !strings.Contains(text, c.want) {
				t.Errorf("%v, want %q", g, c.want)
			}
			r.await(0, protocol.KindDetached)
		})
	}
	r.answers(r.open(program, files[0]), 1) // the rank number is free again
	r.await(0, protocol.KindStopped)
}

func TestCoreOfAnotherProgram(t *testing.T) {
	_, files := cores(t, 3)
	r := newRig(t, gdb.Config{})
	r.answers(r.open(build(t, "threads.c"), files...), 1)
	if n := r.await(0, protocol.KindNote); !strings.Contains(string(n.Body), "core file may not match specified executable file") {
		t.Errorf("note: %v", n)
	}
	r.await(0, protocol.KindStopped)
}

// TestCoreOfADeadGDB checks that a gdb that dies is replaced and the file opened again.
func TestCoreOfADeadGDB(t *testing.T) {
	program, files := cores(t, 3)
	r := newRig(t, gdb.Config{})
	r.answers(r.open(program, files...), 1)
	r.await(0, protocol.KindStopped)
	for _, pid := range gdbs(t) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	note := r.await(0, protocol.KindNote)
	// the gdb does not know its size on this processor
	for strings.Contains(string(note.Body), "ection `.reg-xstate/") {
		note = r.await(0, protocol.KindNote)
	}
	if !strings.Contains(string(note.Body), "has opened the core file") {
		t.Errorf("note: %v", note)
	}
	if s := r.stop(); s.Reason != "core" || s.Signal != "SIGSEGV" {
		t.Errorf("stop: %+v", s)
	}
	r.ok("up", protocol.Args{})
	if got := r.value("n"); got != "3" {
		t.Errorf("n is %s", got)
	}
}
