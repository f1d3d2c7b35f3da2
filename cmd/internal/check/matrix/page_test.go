package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is the output of a run of go test -json that was cut off.
const said = `{"Action":"pause","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI"}
{"Action":"pause","Package":"sdm/cmd/internal/check/e2e","Test":"TestAbortOfAnother"}
{"Action":"run","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI"}
{"Action":"run","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI/MPICH_rendezvous"}
{"Action":"pass","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI/MPICH_rendezvous","Elapsed":1}
{"Action":"run","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI/Open_MPI_rendezvous"}
{"Action":"output","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI/Open_MPI_rendezvous","Output":"    mpi_test.go:7: want <4>\n"}
{"Action":"fail","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI/Open_MPI_rendezvous","Elapsed":1}
{"Action":"fail","Package":"sdm/cmd/internal/check/e2e","Test":"TestMPI"}
{"Action":"run","Package":"sdm/cmd/internal/check/e2e","Test":"TestRunHoldsAndReleases"}
{"Action":"output","Package":"sdm/cmd/internal/check/e2e","Test":"TestRunHoldsAndReleases","Output":"    needs_test.go:32: no MPIR here\n"}
{"Action":"output","Package":"sdm/cmd/internal/check/e2e","Test":"TestRunHoldsAndReleases","Output":"--- SKIP: TestRunHoldsAndReleases (0.00s)\n"}
{"Action":"skip","Package":"sdm/cmd/internal/check/e2e","Test":"TestRunHoldsAndReleases"}
not of go test
{"Action":"run","Package":"sdm/cmd/internal/check/e2e","Test":"TestAbortIsIgnored"}
{"Action":"run","Package":"sdm/cmd/internal/check/e2e","Test":"TestAbortOfLateMPI"}
{"Action":"pause","Package":"sdm/cmd/internal/check/e2e","Test":"TestAbortOfLateMPI"}
{"Action":"run","Package":"sdm/launch/ssh","Test":"TestAsk"}
{"Action":"fail","Package":"sdm/launch/ssh","Test":"TestAsk"}
{"Action":"run","Package":"sdm/launch/ssh","Test":"TestTell"}
{"Action":"output","Package":"sdm/launch/ssh","Test":"TestTell","Output":"    ssh_test.go:9: not told\n"}
{"Action":"pass","Package":"sdm/launch/ssh","Test":"TestTell/quickly"}
{"Action":"fail","Package":"sdm/launch/ssh","Test":"TestTell"}
{"Action":"out`

func TestTestsOfARunThatWasCutOff(t *testing.T) {
	want := []test{
		{"cmd/internal/check/e2e TestAbortIsIgnored", unfinished, "", false},
		{"cmd/internal/check/e2e TestAbortOfAnother", waiting, "", false},
		{"cmd/internal/check/e2e TestAbortOfLateMPI", waiting, "", false},
		{"cmd/internal/check/e2e TestMPI/MPICH_rendezvous", passed, "", false},
		{"cmd/internal/check/e2e TestMPI/Open_MPI_rendezvous", failed, "want <4>", false},
		{"cmd/internal/check/e2e TestRunHoldsAndReleases", skipped, "no MPIR here", false},
		{"launch/ssh TestAsk", failed, "", false},
		{"launch/ssh TestTell", failed, "not told", false},
		{"launch/ssh TestTell/quickly", passed, "", false},
	}
	if d := cmp.Diff(want, readTests(strings.NewReader(said)).leaves(), cmp.AllowUnexported(test{})); d != "" {
		t.Error(d)
	}
}

func TestPage(t *testing.T) {
	name, versions := readVersions("system\tSome 1\ngdb\t99.1\nPython\t3.0, mpi4py 4\n")
	got := page([]system{{name: name, versions: versions, tests: readTests(strings.NewReader(said))}, {name: "other", why: "no mirror"}})
	for _, want := range []string{
		"|  | Some 1 | other |\n|---|---|---|\n| gdb | 99.1 |  |\n",
		"| Python | 3.0, mpi4py 4 |  |\n",
		"| `run -- mpirun`: Open MPI | 0 of 2 (1) (2) | not tried |\n",
		"| `run -- mpiexec`: MPICH | yes | not tried |\n",
		"| MPI_Abort | 0 of 3 (3) (4) | not tried |\n",
		"| `core` | not reached | not tried |\n",
		"| all tests | 2 passed, 1 skipped, 3 failed, 1 not ended, 2 not reached | not tried |\n",
		"other was not tried: no mirror\n",
		"1. fails: cmd/internal/check/e2e TestMPI/Open\\_MPI\\_rendezvous: want &lt;4>\n2. no MPIR here\n3. had not ended when the time was over: cmd/internal/check/e2e TestAbortIsIgnored\n4. not all of them were reached\n",
		"Not reached when the time was over:\n\n* Some 1: cmd/internal/check/e2e TestAbortOfAnother, cmd/internal/check/e2e TestAbortOfLateMPI\n",
		"Beyond the table:\n\n* Some 1 fails: launch/ssh TestAsk\n* Some 1 fails: launch/ssh TestTell: not told\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestRowsAreTold(t *testing.T) {
	for count, want := range map[[failed + 1]int]string{{}: "not reached", {waiting: 2}: "not reached", {passed: 2, waiting: 1}: "2 of 3", {passed: 2}: "yes", {skipped: 1}: "no", {passed: 2, skipped: 1}: "2 of 3", {failed: 1}: "0 of 1"} {
		if got := summary(count); got != want {
			t.Errorf("%v: %q, want %q", count, got, want)
		}
	}
}

func TestTestsReachedElsewhereAreMissing(t *testing.T) {
	event := func(action, test string) string {
		return `{"Action":"` + action + `","Package":"sdm/p","Test":"` + test + `"}` + "\n"
	}
	here := readTests(strings.NewReader(event("pass", "TestOver/a") + event("pass", "TestOver") + event("run", "TestLast") + event("pass", "TestLast/a") + event("pause", "TestLate")))
	here.miss(readTests(strings.NewReader(event("pass", "TestOver/b") + event("pass", "TestLast/a") + event("pass", "TestLast/b") + event("pass", "TestLate/a") + event("pass", "TestLate/b") + event("pass", "TestAbsent/a") + event("pass", "TestAbsent"))))
	if d := cmp.Diff([]string{"p TestAbsent", "p TestLast/b", "p TestLate"}, here.unreached()); d != "" {
		t.Error(d)
	}
	want := []test{{"p TestAbsent/a", waiting, "", false}, {"p TestLast/a", passed, "", false}, {"p TestLast/b", waiting, "", false}, {"p TestLate/a", waiting, "", false}, {"p TestLate/b", waiting, "", false}, {"p TestOver/a", passed, "", false}}
	if d := cmp.Diff(want, here.leaves(), cmp.AllowUnexported(test{})); d != "" {
		t.Error(d)
	}
}

// What fails, and passes when it is run once more, counts as passed and is named.
func TestSecondRun(t *testing.T) {
	event := func(action, test string) string {
		return `{"Action":"` + action + `","Package":"sdm/p","Test":"` + test + `"}` + "\n"
	}
	tests := readTests(strings.NewReader(event("run", "Test/a") + event("fail", "Test/a") + event("run", "Test/b") + event("pass", "Test/b") + event("fail", "Test") +
		event("run", "Test/a") + event("pass", "Test/a") + event("pass", "Test")))
	got := page([]system{{name: "Some 1", tests: tests}})
	for _, want := range []string{"| all tests | 2 passed, 0 skipped, 0 failed, 0 not ended |\n", "\nFailed, and passed when they were run once more, alone:\n\n* Some 1: p Test/a\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// These areas have rows of their own, with tests that exist.
func TestRowsOfAreas(t *testing.T) {
	files, err := filepath.Glob("../e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "func Test"); ok {
				name, _, _ := strings.Cut(rest, "(")
				names = append(names, "cmd/internal/check/e2e Test"+name)
			}
		}
	}
	for _, area := range []string{"`waits`", "`watch`", "all tests of PMIx", "Eclipse PTP"} {
		i := slices.IndexFunc(rows, func(r row) bool { return strings.HasPrefix(r.what, area) })
		if i < 0 || !slices.ContainsFunc(names, rows[i].tests.MatchString) {
			t.Errorf("%s: no row, or no test of it", area)
		}
	}
}
