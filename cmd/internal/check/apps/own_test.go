package apps

import (
	"os/exec"
	"path/filepath"
	"testing"

	"sdm/cmd/internal/check/programs"
)

// own is the directory of sdm's own test programs that are like applications and need MPI.
const own = "../../../../testdata/programs"

// compile builds some of them beside the applications.
func compile(t *testing.T, jobs []*exec.Cmd, err error) {
	t.Helper()
	if err == nil {
		err = programs.Run(jobs)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTeams is C++ with MPI and OpenMP: objects, vectors and threads.
func TestTeams(t *testing.T) {
	jobs, err := programs.MPI(own, bench, "openmpi")
	compile(t, jobs, err)
	text := debug(t, "hybrid", session{
		"tbreak sweep",
		"continue",
		"print grid.rows", "print rank", "sdm: print grid.cells",
		"delete",
		"tbreak Grid::at",
		"continue",
		"print this->rows", "print this->columns",
		"sdm: print *this", "sdm: stat rows", "sdm: info threads", "sdm: backtrace",
		"delete",
		"tbreak job_sum",
		"continue",
		"print mine",
		"up",
		"print (long)last", "print found", "print busy",
		"sdm: stat last", "sdm: diff found",
		"continue",
	}, "./mpihybrid")
	has(t, text, `^\[0-7\] Temporary breakpoint 1(\.\d)?, sweep \(`, `^\[0-7\] found = 32, as the majority$`)
}

// TestPython is mpi4py with an extension in C, whose breakpoints are pending at first.
func TestPython(t *testing.T) {
	jobs, err := programs.Python(own, bench)
	compile(t, jobs, err)
	waves, err := filepath.Abs(own + "/waves.py")
	if err != nil {
		t.Fatal(err)
	}
	text := debug(t, "python", session{
		"set breakpoint pending on",
		"break step",
		"continue",
		"print rank", "print c", "print w->length", "print w->now[3]",
		"sdm: backtrace 4", "sdm: stat w->now[3]",
		"next", "next",
		"up",
		"print steps", "print i",
		"delete",
		"continue",
	}, "env", "PYTHONPATH="+bench, "/usr/bin/python3", waves)
	has(t, text, `^\[0-7\] Breakpoint 1(\.\d)?, step \(w=`)
}
