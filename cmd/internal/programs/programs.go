// Package programs compiles the programs of testdata/programs, for the tests that
// debug them.
//
// A source says how it is compiled in a line of its first comment that begins
// with the kind of build: "build:" (nothing but a compiler), "mpi:" (an MPI's
// compilers, $MPICC and $MPICXX) or "python:" (Python's headers). The rest of
// the line is for sh, which runs it beside the source with $OUT in its
// environment. A source without such a line, and without mpi.h, is compiled
// with -g -O0.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Plain lists the commands that compile into out what needs no MPI. A file is
// named without its directory, so that debuggers show it like this.
func Plain(sources, out string) ([]*exec.Cmd, error) {
	return commands(sources, out, "build", byDefault)
}

// MPI lists the commands that compile into out what needs the MPI whose
// compilers end in suffix: "openmpi" or "mpich".
func MPI(sources, out, suffix string) ([]*exec.Cmd, error) {
	return commands(sources, out, "mpi", nil, "MPICC=mpicc."+suffix, "MPICXX=mpicxx."+suffix)
}

// Python lists the commands that compile into out the extensions of Python.
func Python(sources, out string) ([]*exec.Cmd, error) {
	return commands(sources, out, "python", nil)
}

// commands are those of one kind of build. otherwise, if not nil, gives the one
// for a source that says of no kind how it is built, or "".
func commands(sources, out, kind string, otherwise func(file, text string) string, env ...string) ([]*exec.Cmd, error) {
	files, err := os.ReadDir(sources)
	if err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(sources, file.Name()))
		if err != nil {
			return nil, err
		}
		lines := linesOf(string(text), kind)
		if otherwise != nil && len(linesOf(string(text), "")) == 0 {
			lines = append(lines, otherwise(file.Name(), string(text)))
		}
		for _, line := range lines {
			if line == "" {
				continue
			}
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir, cmd.Env = sources, append(append(os.Environ(), "OUT="+out), env...)
			all = append(all, cmd)
		}
	}
	return all, nil
}

// kinds are the words that a line of instructions begins with.
var kinds = []string{"build", "mpi", "python"}

// linesOf are the instructions of one kind in a source, or of all, if kind is "".
func linesOf(text, kind string) []string {
	var all []string
	for line := range strings.Lines(text) {
		said := strings.TrimLeft(line, "/! ")
		if said == line {
			break // the end of the first comment
		}
		for _, k := range kinds {
			if command, ok := strings.CutPrefix(said, k+": "); ok && (kind == "" || kind == k) {
				all = append(all, strings.TrimSpace(command))
			}
		}
	}
	return all
}

// byDefault is the command for a source that says nothing, by its name.
func byDefault(file, text string) string {
	if strings.Contains(text, "<mpi.h>") {
		return ""
	}
	name, extension, _ := strings.Cut(file, ".")
	switch extension {
	case "c":
		return "gcc -g -O0 -pthread -o $OUT/" + name + " " + file
	case "cc":
		return "g++ -g -O0 -o $OUT/" + name + " " + file
	case "f90": // -J: where modules are written
		return "gfortran -g -O0 -J $OUT -o $OUT/" + name + " " + file
	}
	return ""
}

// Run runs commands at the same time and tells of the first one that failed.
func Run(jobs []*exec.Cmd) error {
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
