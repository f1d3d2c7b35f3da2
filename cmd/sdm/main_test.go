package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary play sdm, and builds once what scripts find in
// their environment.
func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"sdm": main})
}

// built runs tests with sdm-server and sdm-master in PATH. PROGRAMS is a
// directory with those of testdata/programs that need no MPI, compiled, and SDM
// the command as people get it: this test binary, which plays it otherwise, may
// carry the race detector.
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
	jobs = append(jobs, compilers(dir)...)
	if err := inParallel(jobs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("PATH", dir+"/bin"+string(filepath.ListSeparator)+os.Getenv("PATH"))
	os.Setenv("PROGRAMS", dir+"/programs")
	os.Setenv("SDM", dir+"/plain/sdm")
	return b.m.Run()
}

// sources are the programs to debug.
const sources = "../../testdata/programs"

// compilers are the commands that compile them. A file is named without its
// directory, so that debuggers show it like this.
func compilers(dir string) []*exec.Cmd {
	files, err := filepath.Glob(sources + "/*.c")
	if err != nil || os.Mkdir(dir+"/programs", 0o700) != nil {
		return nil // the scripts will say so
	}
	var all []*exec.Cmd
	for _, path := range files {
		file := filepath.Base(path)
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "<mpi.h>") {
			continue
		}
		cmd := exec.Command("gcc", "-g", "-O0", "-pthread", "-o", dir+"/programs/"+strings.TrimSuffix(file, ".c"), file)
		cmd.Dir = sources
		all = append(all, cmd)
	}
	for file, compiler := range map[string]string{"containers.cc": "g++", "twice.cc": "g++", "parts.cc": "g++", "objects.cc": "g++", "grid.f90": "gfortran", "names.f90": "gfortran", "kinds.f90": "gfortran", "bounds.f90": "gfortran"} {
		name, _, _ := strings.Cut(file, ".")
		cmd := exec.Command(compiler, "-g", "-O0", "-o", dir+"/programs/"+name, file)
		if compiler == "gfortran" {
			cmd.Args = append(cmd.Args, "-J", dir) // where modules are written
		}
		cmd.Dir = sources
		all = append(all, cmd)
	}
	return all
}

// inParallel runs commands and tells of the first one that failed.
func inParallel(jobs []*exec.Cmd) error {
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() {
			if out, err := job.CombinedOutput(); err != nil {
				errs[i] = fmt.Errorf("%v: %w\n%s", job, err, out)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestScripts runs the scripts that need neither gdb nor a compiler.
func TestScripts(t *testing.T) { runScripts(t, "testdata/script") }

// TestSessions runs the scripts that debug real programs. It is the end to end
// test, which -short leaves out.
func TestSessions(t *testing.T) {
	if !testing.Short() {
		runScripts(t, "testdata/script/gdb")
	}
}

func runScripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"plain":   plain,
			"written": written,
		},
	})
}

// setUp puts the programs into the script's directory and looks, when the script
// has ended, whether anything is left behind.
func setUp(e *testscript.Env) error {
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("SDM_NO_RC", "true")
	e.Setenv("SDM", os.Getenv("SDM"))
	e.Setenv("SDM_TIMEOUT", "1m") // a wait in vain is one line, not a hung test
	e.Setenv("SDM_FOLD", "20s")   // what happens on several ranks is one line, however slow the machine
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
