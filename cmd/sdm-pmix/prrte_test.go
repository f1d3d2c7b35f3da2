// Real PRRTE servers in roots of other releases of Debian. Each test with one runs a second time in
// the root, where it finds a server.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/cmd/internal/check/programs"
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
			cmd.Env = append(append(os.Environ(), insideVar+"="+dir), launchtest.ForPRRTE()...)
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
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "pmix").Output()
	if err != nil {
		return err
	}
	library := strings.Fields(string(flags))
	jobs := []*exec.Cmd{
		exec.Command("gcc", append([]string{"-o", filepath.Join(bench, "odd-server"), "testdata/server.c"}, library...)...),
		exec.Command("gcc", append([]string{"-o", filepath.Join(bench, "listener"), "testdata/listener.c"}, library...)...),
		exec.Command("go", "build", "-tags", "pmix", "-o", bench, "."),
		exec.Command("gcc", "-g", "-o", filepath.Join(bench, "exitcode"), sources+"exitcode.c"),
		exec.Command("mpicc.openmpi", "-g", "-o", filepath.Join(bench, "mpihello"), sources+"mpihello.c"),
		exec.Command("mpicc.openmpi", "-g", "-o", filepath.Join(bench, "mpiwait"), sources+"mpiwait.c"),
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
		t.Fatalf("endings %+v, %v; ranks that run: %v", endings, err, running(t, "mpihello"))
	}
	if err := d.End(inTime(t)); err != nil {
		t.Error(err)
	}
	return endings[0].Code
}
