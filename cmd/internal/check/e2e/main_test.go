// Package e2e tests the three programs as real processes, with real gdbs, real MPI starters and
// real faults.
package e2e

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sdm/protocol"
)

// patience limits every wait of these tests that has no limit of its own. It is long enough for
// busy machines.
const patience = 90 * time.Second

// later needs another sdm-server, which is compiled for half a minute. Such refusals are tested by tree/overlay, too.
var later = flag.Bool("later", false, "a server of a later version is refused")

// allWays is about tests that go the same way with several MPIs, systems or starters, for half a minute each, and about
// rare ways that take as long.
var allWays = flag.Bool("all-ways", false, "each long way with each MPI and system, and rare ways; else each with one of them")

// inTurn reports whether way number i is tried in case number k of two.
func inTurn(i, k int) bool { return *allWays || i%2 == k%2 }

// raced tells whether the programs of sdm are built with the race detector. They take two or three times as long then.
var raced = flag.Bool("raced", false, "build the programs of sdm with the race detector")

// raceStatus is the exit status of a program in which a race was detected.
const raceStatus = "66"

// bench is the directory where the programs are built, once for all tests. It is set before the
// tests run.
var bench string

// TestMain builds the programs of sdm and those to debug. A race in any process fails the run, also
// in processes that no test waits for.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		fmt.Println("no end-to-end tests with -short")
		return 0
	}
	var err error
	if bench, err = os.MkdirTemp("", "sdm-e2e-"); err == nil {
		defer os.RemoveAll(bench)
		err = buildAll()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := m.Run()
	for _, path := range races() {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(os.Stderr, "a race in one of the programs:\n%s\n", text)
		status = 1
	}
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	return status
}

// raceLogs returns the prefix of the files that programs with races write.
func raceLogs() string { return filepath.Join(bench, "race") }

func races() []string {
	found, _ := filepath.Glob(raceLogs() + ".*") // the pattern is valid
	return found
}

// buildAll builds everything concurrently.
func buildAll() error {
	work := [][]string{{"go", "build", "-race=" + strconv.FormatBool(*raced), "-o", bench, "sdm/cmd/sdm", "sdm/cmd/sdm-server", "sdm/cmd/sdm-master"}}
	for _, name := range []string{"work", "spin", "flood", "exitcode", "beforemain", "hello", "lateabort", "children", "aif", "crash"} {
		work = append(work, []string{"gcc", "-g", "-O0", "-pthread", "-o", program(name), name + ".c"})
	}
	work = append(work, []string{"gcc", "-g", "-O1", "-pthread", "-o", program("waits"), "waits.c"})
	work = append(work, []string{"g++", "-g", "-O0", "-o", program("containers"), "containers.cc"})
	work = append(work, []string{"gfortran", "-g", "-O0", "-J", bench, "-o", program("aif90"), "aif.f90"})
	for _, s := range starters {
		for _, name := range []string{"ring", "mpiwait", "mpiecho", "abort", "spinners", "marks", "naps"} {
			work = append(work, []string{s.compiler, "-g", "-O0", "-o", s.program(name), name + ".c"})
		}
	}
	for _, s := range starters {
		work = append(work, []string{s.compiler, "-g", "-O1", "-w", "-pthread", "-o", s.program("hang"), "hang.c"})
	}
	for _, name := range []string{"children", "plugins"} {
		work = append(work, []string{openMPI.compiler, "-g", "-O0", "-pthread", "-DWITH_MPI", "-o", openMPI.program("mpi" + name), name + ".c", "-ldl"})
	}
	work = append(work, []string{openMPI.compiler, "-o", openMPI.program("mpiexit"), "mpiexit.c"})
	work = append(work, []string{openMPI.compiler, "-g", "-O0", "-o", openMPI.program("faulty"), "faulty.c", "-lm"})
	work = append(work, []string{"gcc", "-g", "-O0", "-shared", "-fPIC", "-o", program("libexplicit.so"), "plugin.c"})
	work = append(work, []string{"gcc", "-g", "-O0", "-shared", "-fPIC", "-DIMPLICIT", "-o", program("libimplicit.so"), "plugin.c"})
	if *raced {
		work = append(work, []string{"go", "build", "-o", filepath.Dir(unraced("sdm")) + "/", "sdm/cmd/sdm", "sdm/cmd/sdm-server"})
	}
	if *later {
		work = append(work, []string{"go", "build", "-overlay", laterVersion(), "-o", laterServer(), "sdm/cmd/sdm-server"})
	}
	work = append(work, []string{"go", "build", "-o", filepath.Dir(fluxProgram()) + "/", "sdm/testdata/flux"})
	if err := os.Mkdir(palsPrograms(), 0o700); err != nil {
		return err
	}
	work = append(work, []string{"gcc", "-O1", "-g", "-o", filepath.Join(palsPrograms(), "mpiexec"), "../pals/mpiexec.c"})
	if pmixMissing() == "" {
		work = append(work, []string{"go", "build", "-tags", "pmix", "-o", bench, "sdm/cmd/sdm-pmix"})
	}
	errs := make([]error, len(work))
	var group sync.WaitGroup
	for i, line := range work {
		group.Go(func() { errs[i] = build(line) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// unraced returns the path of a program without the race detector, with which packing a gdb takes a
// minute and a half.
func unraced(name string) string {
	if *raced {
		return program("unraced/" + name)
	}
	return program(name)
}

// laterServer returns the path of a server with the next version of the protocol.
func laterServer() string { return program("sdm-server-later") }

// laterVersion makes the overlay file by which go build reads a source with the next version in
// place of ours, and returns its path.
func laterVersion() string {
	source := "../../../../protocol/doc.go"
	text, err := os.ReadFile(source)
	now := fmt.Sprintf("const PacketVersion = %d", protocol.PacketVersion)
	if err != nil || !strings.Contains(string(text), now) {
		return "no " + now // go build will report it
	}
	later := strings.Replace(string(text), now, fmt.Sprintf("const PacketVersion = %d", protocol.PacketVersion+1), 1)
	os.WriteFile(program("later.go"), []byte(later), 0o600)
	path, _ := filepath.Abs(source)
	table, _ := json.Marshal(map[string]map[string]string{"Replace": {path: program("later.go")}})
	os.WriteFile(program("overlay.json"), table, 0o600)
	return program("overlay.json")
}

// build runs a compiler in the directory of the programs to debug.
func build(line []string) error {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = sources
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, text)
	}
	return nil
}

// sources is the directory of the programs to debug, relative to this package.
const sources = "../../../../testdata/programs"

// program returns the path of a program that was built.
func program(name string) string { return filepath.Join(bench, name) }

// starter is the starter of an implementation of MPI.
type starter struct {
	name     string
	command  string
	compiler string
}

var starters = []starter{
	{"Open MPI", "mpirun.openmpi", "mpicc.openmpi"},
	{"MPICH", "mpiexec.mpich", "mpicc.mpich"},
}

// program returns the path of a program that was built with the starter's compiler.
func (s starter) program(name string) string { return program(name + "." + s.compiler) }

// lineOf returns the number of the first line of a source that contains a text.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sources, file))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if strings.Contains(line, text) {
			return i + 1
		}
	}
	t.Fatalf("%s has no %q", file, text)
	return 0
}

// absolute returns the absolute path, for processes with another working directory.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
