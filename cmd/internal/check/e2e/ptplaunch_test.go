package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/cmd/internal/check/eclipse"
	"sdm/cmd/internal/check/programs"
)

// ptpJob starts a job of Open MPI as Eclipse PTP's script does, and its program.
func ptpJob(t *testing.T, ranks int, path string) *eclipse.Job {
	t.Helper()
	mpi, err := programs.Environment()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	j, err := eclipse.Launch(eclipse.Spec{
		Ranks: ranks, SDM: program("sdm"), Dir: dir, Port: 20000 + rand.IntN(10000),
		Env: append(append(os.Environ(), mpi...), "HOME="+dir, "XDG_CONFIG_HOME="+dir),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(path); err != nil {
		t.Fatal(err)
	}
	return j
}

// asker returns a function that asks all ranks of a job. Any event but the answers ends the test.
func asker(t *testing.T, j *eclipse.Job) func(answer, code int, args ...string) []eclipse.Packet {
	return func(answer, code int, args ...string) []eclipse.Packet {
		t.Helper()
		found, err := j.Ask(answer, code, j.All(), args...)
		if err != nil {
			t.Fatalf("command %d %q: %v", code, args, err)
		}
		return found
	}
}

// A whole session over PTP's own command lines: one program in both roles, the routing file written
// afterwards, and one server for the ranks of the node.
func TestEclipseLaunch(t *testing.T) {
	t.Parallel()
	for _, ranks := range []int{1, 4} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), fmt.Sprint("ring", ranks)) // to find its processes
			if err := os.Link(openMPI.program("ring"), path); err != nil {
				t.Fatal(err)
			}
			j := ptpJob(t, ranks, path)
			ask := asker(t, j)
			ask(eclipse.BreakSet, eclipse.FuncBreak, "0", "0", "0", "", "sum", "", "0", "0")
			if _, err := j.Resume(eclipse.Go); err != nil {
				t.Fatal(err)
			}
			ask(eclipse.Type, eclipse.GetType, "rank")
			values := ask(eclipse.Data, eclipse.Evaluate, "rank")
			if len(values) != ranks {
				t.Errorf("%d values of rank: %v", len(values), values)
			}
			for _, p := range ask(eclipse.Data, eclipse.Evaluate, "size") {
				if want := fmt.Sprintf("%08X", ranks); p.Args[2] != want {
					t.Errorf("size: %v, want %s", p, want)
				}
			}
			if failed := ask(eclipse.Data, eclipse.Evaluate, "nosuch"); len(failed) != 1 || failed[0].Args[1] != "s" {
				t.Errorf("a failed evaluation: %v", failed)
			}
			for range 3 {
				if _, err := j.Resume(eclipse.Step, "1", "1"); err != nil {
					t.Fatal(err)
				}
			}
			ask(eclipse.OK, eclipse.Terminate)
			if err := j.End(); err != nil {
				t.Error(err)
			}
			if err := j.Close(); err != nil || j.Errors.Len() > 0 {
				t.Errorf("the master: %v, and said %q", err, j.Errors.String())
			}
			if left := named(filepath.Base(path)); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// named returns the processes whose name begins so.
func named(name string) []string {
	var found []string
	stats, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is valid
	for _, path := range stats {
		if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == name {
			found = append(found, filepath.Dir(path))
		}
	}
	return found
}

// What the program has printed when it stops is not lost at TERMINATE: ranks have terminals, and so
// write each line at once.
func TestEclipseOutput(t *testing.T) {
	t.Parallel()
	j := ptpJob(t, 2, program("hello"))
	ask := asker(t, j)
	ask(eclipse.BreakSet, eclipse.FuncBreak, "0", "0", "0", "", "main", "", "0", "0")
	if _, err := j.Resume(eclipse.Go); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Resume(eclipse.Step, "1", "1"); err != nil { // over printf
		t.Fatal(err)
	}
	ask(eclipse.OK, eclipse.Terminate)
	if err := j.End(); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if j.Output[0] == "" || j.Output[1] == "" {
		t.Errorf("output: %v", j.Output)
	}
}
