// Tests with real PRRTE servers in roots of other releases of Debian. Each test runs a second time
// in the root, where it finds a server.

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sdm/cmd/internal/programs"
	"sdm/launch/launchtest"
	"sdm/launch/pmix"
	"sdm/protocol"
)

// insideVar holds the directory of the programs for a test that runs in a root.
const insideVar = "SDM_PMIX_INSIDE"

// roots are the systems with PRRTE 3.0.8 and 5.0.0rc1.
var roots = []string{"trixie", "forky"}

// limit bounds what a test waits for. On an idle machine each takes about a second.
const limit = 60 * time.Second

// script starts a server with eight slots and then a command.
const script = `prte --daemonize --host "$(hostname):8" && exec "$@"`

// inRoots runs body in each root beside a server.
func inRoots(t *testing.T, body func(t *testing.T, dir string)) {
	if dir := os.Getenv(insideVar); dir != "" {
		body(t, dir)
		return
	}
	dir := built(t)
	for _, name := range roots {
		t.Run(name, func(t *testing.T) {
			root := launchtest.FindRoot(t, name)
			argv := root.Argv(t, []string{dir, filepath.Dir(os.Args[0])}, "sh", "-c", script, "sh", os.Args[0], "-test.v", "-test.run", "^"+strings.Split(t.Name(), "/")[0]+"$")
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env = append(os.Environ(), insideVar+"="+dir, "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			text, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if !bytes.Contains(text, []byte("--- PASS: "+strings.Split(t.Name(), "/")[0])) {
				t.Fatalf("the test did not run in the root:\n%s", text)
			}
		})
	}
}

// built returns a directory with sdm-pmix and programs, which all tests share.
func built(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("pkg-config", "--modversion", "pmix").CombinedOutput(); err != nil {
		t.Skipf("pkg-config finds no pmix: %v: %s", err, bytes.TrimSpace(out))
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return bench
}

// bench is the directory of built.
var bench string

func TestMain(m *testing.M) {
	var err error
	if bench, err = os.MkdirTemp("", "sdm-pmix-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(bench)
	os.Exit(status)
}

var build = sync.OnceValue(func() error {
	sources := "../../testdata/programs/"
	jobs := []*exec.Cmd{
		exec.Command("go", "build", "-tags", "pmix", "-o", bench, "."),
		exec.Command("gcc", "-g", "-o", filepath.Join(bench, "exitcode"), sources+"exitcode.c"),
		exec.Command("mpicc.openmpi", "-g", "-o", filepath.Join(bench, "mpihello"), sources+"mpihello.c"),
	}
	return programs.Run(jobs)
})

// spread are the directives with which more ranks than slots start.
var spread = pmix.Directives{MapBy: "slot:oversubscribe", BindTo: "none"}

// direct returns a job that is not started, and a function that returns its output.
func direct(t *testing.T, dir string, spec pmix.DirectSpec) (*pmix.Direct, func() string) {
	t.Helper()
	out, err := os.CreateTemp("", "out")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	spec.Program, spec.Env, spec.Stdout, spec.Stderr = filepath.Join(dir, "sdm-pmix"), os.Environ(), out, out
	if spec.Stop == "" {
		spec.Stop = pmix.InInit
	}
	return pmix.NewDirect(spec), func() string {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
}

func ranks(n int, argv ...string) []pmix.App {
	return []pmix.App{{Argv: argv, Procs: n, Dir: "/tmp"}}
}

func inTime(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// isWaiting reports whether a process sleeps and no signal has stopped it.
func isWaiting(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(stat, []byte(") S ")) || bytes.Contains(stat, []byte(") R "))
}

// TestDirect starts an MPI job whose ranks wait in MPI_Init, a daemon with input on its node,
// releases the ranks, and observes the ends of both jobs.
func TestDirect(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		ctx := inTime(t)
		d, output := direct(t, dir, pmix.DirectSpec{Apps: ranks(3, filepath.Join(dir, "mpihello")), Directives: spread})
		table, err := d.Acquire(ctx, func(text string) { t.Log(text) })
		if err != nil {
			t.Fatal(err)
		}
		wantRanks(t, table, 3)
		if strings.Contains(output(), "rank") {
			t.Errorf("the ranks have passed MPI_Init: %q", output())
		}
		for _, key := range []pmix.Key{pmix.QuerySpawnSupport, pmix.QueryDebugSupport} {
			if d.Claims()[key] == "" {
				t.Errorf("no answer to %s", key)
			}
		}
		file := filepath.Join(dir, "input"+filepath.Base(t.Name())+fmt.Sprint(time.Now().UnixNano()))
		input := bytes.Repeat([]byte("0123456789abcde\n"), 600) // more than one push
		if err := d.StartDaemons(ctx, []string{"/bin/sh", "-c", "cat >" + file + ".part && mv " + file + ".part " + file}, input, 1); err != nil {
			t.Fatal(err)
		}
		if err := d.Release(); err != nil {
			t.Fatal(err)
		}
		endings, err := d.Ended(ctx)
		if err != nil || len(endings) != 2 || endings[0].Code != 0 || endings[1].Code != 0 || !endings[1].Daemons {
			t.Errorf("endings %+v, %v", endings, err)
		}
		if err := d.End(ctx); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, input) {
			t.Errorf("the daemon has read %d of %d bytes, %v", len(got), len(input), err)
		}
		if n := strings.Count(output(), "of 3"); n != 3 {
			t.Errorf("%d ranks have written: %q", n, output())
		}
	})
}

func wantRanks(t *testing.T, table protocol.Proctable, n int) {
	t.Helper()
	if len(table) != n {
		t.Fatalf("%d ranks: %+v", len(table), table)
	}
	for i, p := range table {
		if int(p.Rank) != i || !isWaiting(t, p.PID) || p.Program == "" {
			t.Errorf("rank %d: %+v", i, p)
		}
	}
}

// acquired starts an MPI job and returns it when its ranks are held.
func acquired(t *testing.T, dir string, n int) (*pmix.Direct, protocol.Proctable, func() string) {
	t.Helper()
	d, output := direct(t, dir, pmix.DirectSpec{Apps: ranks(n, filepath.Join(dir, "mpihello")), Directives: spread})
	table, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	wantRanks(t, table, n)
	return d, table, output
}

// ended waits for the end of the only job and returns its exit code.
func ended(t *testing.T, d *pmix.Direct) int {
	t.Helper()
	endings, err := d.Ended(inTime(t))
	if err != nil || len(endings) != 1 {
		t.Fatalf("endings %+v, %v", endings, err)
	}
	if err := d.End(inTime(t)); err != nil {
		t.Error(err)
	}
	return endings[0].Code
}

// TestReleaseOfSingleRanks releases one rank after the other; one of them twice.
func TestReleaseOfSingleRanks(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _, output := acquired(t, dir, 2)
		for _, r := range []uint32{1, 1, 0} {
			if err := d.ReleaseRank(r); err != nil {
				t.Fatal(err)
			}
			if r == 1 && strings.Contains(output(), "hello") {
				t.Error("rank 0 has passed MPI_Init")
			}
		}
		if code := ended(t, d); code != 0 || strings.Count(output(), "of 2") != 2 {
			t.Errorf("exit code %d: %q", code, output())
		}
	})
}

// TestSignal ends a held rank by a signal. The two servers tell the exit code in different ways.
func TestSignal(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, table, _ := acquired(t, dir, 2)
		if err := syscall.Kill(table[0].PID, syscall.SIGSEGV); err != nil {
			t.Fatal(err)
		}
		if code := ended(t, d); code != 128+int(syscall.SIGSEGV) {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestEndKills ends a job whose ranks are held. Another tool finds the server as before.
func TestEndKills(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, table, _ := acquired(t, dir, 2)
		if err := d.End(inTime(t)); err != nil {
			t.Error(err)
		}
		for _, p := range table {
			if err := syscall.Kill(p.PID, 0); err == nil && !isZombie(p.PID) {
				t.Errorf("rank %d is left", p.Rank)
			}
		}
		d, _, _ = acquired(t, dir, 2)
		if err := d.Release(); err != nil {
			t.Error(err)
		}
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z ")) || bytes.Contains(stat, []byte(") X "))
}

// TestRefusals checks what is refused before or by a spawn, and that the server lives on.
func TestRefusals(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		hello := filepath.Join(dir, "mpihello")
		crowded := pmix.Directives{MapBy: "slot:oversubscribe"} // a refused spawn may hold slots for a moment
		for name, c := range map[string]struct {
			spec pmix.DirectSpec
			want string
		}{
			"plain program": {pmix.DirectSpec{Apps: ranks(2, filepath.Join(dir, "exitcode"), "3"), Directives: crowded}, "has ended with status 3 before all its ranks came to MPI_Init"},
			"no program":    {pmix.DirectSpec{Apps: ranks(1, "/nowhere/app")}, "is /nowhere/app there"},
			"no slots":      {pmix.DirectSpec{Apps: ranks(100, hello)}, "too few slots"},
			"no host":       {pmix.DirectSpec{Apps: ranks(1, hello), Directives: pmix.Directives{Hosts: "nowhere"}}, "host nowhere: the server does not have it; it has "},
			"wrong word":    {pmix.DirectSpec{Apps: ranks(1, hello), Directives: pmix.Directives{MapBy: "moon"}}, `map by "moon"`},
			"allocation":    {pmix.DirectSpec{Apps: ranks(1, hello), Directives: pmix.Directives{AllocNodes: 2}}, "--alloc-nodes"},
			"no server":     {pmix.DirectSpec{Apps: ranks(1, hello), ServerSpec: pmix.ServerSpec{Target: pmix.Target{PID: 1}}}, "with process id 1"},
		} {
			d, _ := direct(t, dir, c.spec)
			_, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			if err := d.End(inTime(t)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: ranks(2, hello), Directives: crowded})
		if _, err := d.Acquire(inTime(t), func(text string) { t.Log(text) }); err != nil {
			t.Fatal(err)
		}
		d.Release()
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestStopOnExec holds a plain program before its first instruction where the server can, and is
// refused where it cannot.
func TestStopOnExec(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: ranks(3, filepath.Join(dir, "exitcode"), "3"), Stop: pmix.OnExec, Directives: spread})
		table, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
		var refusal *pmix.Refusal
		if errors.As(err, &refusal) && d.Server().Version.Major == 5 {
			d.End(inTime(t))
			return
		}
		if err != nil || len(table) != 3 {
			t.Fatal(table, err)
		}
		for _, p := range table {
			if isWaiting(t, p.PID) {
				t.Errorf("rank %d is not stopped", p.Rank)
			}
		}
		if err := d.Release(); err != nil {
			t.Error(err)
		}
		if code := ended(t, d); code != 3 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestUnset removes a variable where the server can, and is refused where it cannot.
func TestUnset(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		apps := ranks(1, filepath.Join(dir, "mpihello"))
		apps[0].Info = []pmix.Info{pmix.String(pmix.UnsetEnvar, "PRTE_ALLOW_RUN_AS_ROOT")}
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: apps})
		table, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
		var refusal *pmix.Refusal
		if errors.As(err, &refusal) && d.Server().Version.Major == 5 {
			d.End(inTime(t))
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", table[0].PID))
		if err != nil || bytes.Contains(env, []byte("\x00PRTE_ALLOW_RUN_AS_ROOT=")) || len(env) == 0 {
			t.Errorf("%q, %v", env, err)
		}
		if err := d.End(inTime(t)); err != nil {
			t.Error(err)
		}
	})
}

// TestServerKilled kills the server while ranks are held.
func TestServerKilled(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _, _ := acquired(t, dir, 2)
		if err := syscall.Kill(d.Server().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Ended(inTime(t)); err == nil || !strings.Contains(err.Error(), "connection to the PMIx server is lost") {
			t.Error(err)
		}
		if err := d.Release(); err == nil {
			t.Error("a release without a server has no error")
		}
		d.End(inTime(t))
		d, _ = direct(t, dir, pmix.DirectSpec{Apps: ranks(1, "true")})
		var none *pmix.NoServer
		if _, err := d.Acquire(inTime(t), func(string) {}); !errors.As(err, &none) || len(none.Passed) == 0 {
			t.Errorf("the files of a killed server: %v", err)
		}
	})
}

// TestProgramKilled kills sdm-pmix while ranks are held. A second tool finds the server alive.
func TestProgramKilled(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _, _ := acquired(t, dir, 2)
		if out, err := exec.Command("sh", "-c", `for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != sdm-pmix ] || kill -9 ${p#/proc/}; done`).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, err := range []error{second(d.Ended(inTime(t))), d.Release()} {
			if err == nil || !strings.Contains(err.Error(), "signal 9 (killed)") {
				t.Error(err)
			}
		}
		d.End(inTime(t))
		d, _, _ = acquired(t, dir, 2)
		d.Release()
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func second(_ []pmix.Ending, err error) error { return err }

// toolVar makes TestTool a tool that is to be killed; its value is "alone" or "daemons".
const toolVar = "SDM_PMIX_TOOL"

// TestTool is the tool of TestToolKilled. It prints "held" when it holds its ranks.
func TestTool(t *testing.T) {
	mode, dir := os.Getenv(toolVar), os.Getenv(insideVar)
	if mode == "" {
		t.Skip("TestToolKilled runs it")
	}
	d, output := direct(t, dir, pmix.DirectSpec{Apps: ranks(2, filepath.Join(dir, "mpihello")), Directives: spread})
	if _, err := d.Acquire(inTime(t), func(string) {}); err != nil {
		t.Fatal(err)
	}
	if mode == "daemons" {
		if err := d.StartDaemons(inTime(t), []string{"/bin/sleep", "2"}, nil, 1); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(output(), "hello") {
		t.Error("the ranks have passed MPI_Init")
	}
	fmt.Println("held")
	d.Ended(context.Background())
}

// TestToolKilled kills a tool that holds ranks. Without daemons the ranks end; with daemons, which
// decide about them, they are released.
func TestToolKilled(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		for _, mode := range []string{"alone", "daemons"} {
			tool := exec.Command(os.Args[0], "-test.run", "^TestTool$")
			tool.Env = append(os.Environ(), toolVar+"="+mode)
			out, err := tool.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := tool.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || line != "held\n" {
				t.Fatalf("%q, %v", line, err)
			}
			if n := len(running(t, "mpihello")); n != 2 {
				t.Errorf("%s: %d ranks run", mode, n)
			}
			tool.Process.Kill()
			tool.Wait() // its error is the signal
			awaitNone(t, "mpihello", "sdm-pmix")
		}
	})
}

// running returns the processes with a name, without zombies.
func running(t *testing.T, name string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err == nil && bytes.Contains(stat, []byte("("+name+")")) && !bytes.Contains(stat, []byte(") Z ")) {
			pids = append(pids, path)
		}
	}
	return pids
}

// awaitNone waits until no process has one of the names.
func awaitNone(t *testing.T, names ...string) {
	t.Helper()
	ctx := inTime(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, name := range names {
		for len(running(t, name)) > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%s is left: %v", name, running(t, name))
			}
		}
	}
}
