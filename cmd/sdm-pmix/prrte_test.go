// Tests with real PRRTE servers in roots of other releases of Debian. Each test runs a second time
// in the root, where it finds a server.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// built returns a directory with sdm-pmix and MPI programs.
func built(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("pkg-config", "--modversion", "pmix").CombinedOutput(); err != nil {
		t.Skipf("pkg-config finds no pmix: %v: %s", err, bytes.TrimSpace(out))
	}
	dir := t.TempDir()
	jobs := []*exec.Cmd{exec.Command("go", "build", "-tags", "pmix", "-o", dir, ".")}
	plain := exec.Command("gcc", "-g", "-o", filepath.Join(dir, "exitcode"), "../../testdata/programs/exitcode.c")
	for _, name := range []string{"mpihello", "mpiwait"} {
		jobs = append(jobs, exec.Command("mpicc.openmpi", "-g", "-o", filepath.Join(dir, name), "../../testdata/programs/"+name+".c"))
	}
	if err := programs.Run(append(jobs, plain)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// direct returns a job of two or more ranks and a file with their output.
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
		d, output := direct(t, dir, pmix.DirectSpec{Apps: ranks(3, filepath.Join(dir, "mpihello")), Directives: pmix.Directives{MapBy: "slot:oversubscribe", BindTo: "none"}})
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
