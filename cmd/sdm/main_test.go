package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sdm/backend/backendtest"
	"sdm/cmd/internal/check/programs"
)

// TestMain lets this test binary act as sdm, and builds what the scripts need.
func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"sdm": main})
}

// built runs tests with sdm-server and sdm-master in PATH. PROGRAMS is a directory with the
// compiled programs of testdata/programs that need no MPI. SDM is an ordinary build of the command,
// since this test binary, which otherwise acts as sdm, may contain the race detector.
type built struct{ m *testing.M }

func (b built) Run() int {
	dir, err := os.MkdirTemp("", "sdm-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	jobs := []*exec.Cmd{exec.Command("go", "build", "-o", dir+"/bin/", "sdm/cmd/sdm-server", "sdm/cmd/sdm-master")}
	jobs = append(jobs, exec.Command("go", "build", "-o", dir+"/plain/", "sdm/cmd/sdm"))
	compilers, err := compilers(dir + "/programs")
	if err == nil {
		err = programs.Run(append(jobs, compilers...))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("PATH", dir+"/bin"+string(filepath.ListSeparator)+os.Getenv("PATH"))
	os.Setenv("PROGRAMS", dir+"/programs")
	os.Setenv("SDM", dir+"/plain/sdm")
	return b.m.Run()
}

// sources is the directory of the programs to debug.
const sources = "../../testdata/programs"

// compilers makes a directory and returns the commands that compile the programs into it.
func compilers(dir string) ([]*exec.Cmd, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return programs.Plain(sources, dir)
}

// TestScripts runs the scripts that need neither gdb nor a compiler.
func TestScripts(t *testing.T) { runScripts(t, "", scriptsIn(t, "testdata/script")) }

// registers returns why gdb cannot write all registers here; "": it can.
var registers = sync.OnceValue(func() string { return backendtest.CannotWriteRegisters(filepath.Dir(os.Getenv("PROGRAMS"))) })

// debugRegisters returns why hardware breakpoints and watchpoints do not stop programs here; "": they do.
var debugRegisters = sync.OnceValue(func() string { return backendtest.NoDebugRegisters(filepath.Dir(os.Getenv("PROGRAMS"))) })

// condition implements [registers]: gdb can call functions of programs and run them backwards; and [debugregisters]:
// programs stop at hardware breakpoints and watchpoints.
func condition(name string) (bool, error) {
	switch name {
	case "registers":
		return registers() == "", nil
	case "debugregisters":
		return debugRegisters() == "", nil
	}
	return false, fmt.Errorf("condition %q is not known", name)
}

// scriptsIn returns the script files in a directory.
func scriptsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	return files
}

// runScripts runs scripts. ranksPerGDB is the default number of ranks of a gdb ("": sdm's own).
func runScripts(t *testing.T, ranksPerGDB string, files []string) {
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			if ranksPerGDB != "" {
				e.Setenv("SDM_RANKS_PER_GDB", ranksPerGDB)
			}
			return setUp(e)
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"plain":   plain,
			"written": written,
		},
	})
}

// setUp puts the programs into the script's directory, and checks after the script that no process
// is left behind.
func setUp(e *testscript.Env) error {
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("SDM_NO_RC", "true")
	e.Setenv("SDM", os.Getenv("SDM"))
	e.Setenv("GORACE", "atexit_sleep_ms=20") // otherwise each sdm sleeps for a second before it ends
	e.Setenv("SDM_TIMEOUT", "1m")            // a wait without end is one line, not a hung test
	e.Setenv("SDM_FOLD", "20s")              // events of several ranks are one line, however slow the machine
	programs, err := os.ReadDir(os.Getenv("PROGRAMS"))
	if err != nil {
		return err
	}
	for _, p := range programs {
		if err := os.Symlink(filepath.Join(os.Getenv("PROGRAMS"), p.Name()), filepath.Join(e.WorkDir, p.Name())); err != nil {
			return err
		}
	}
	e.Defer(func() {
		if left := leftBehind(e.WorkDir); left != "" {
			e.T().Fatal("left behind:\n" + left)
		}
	})
	return nil
}
