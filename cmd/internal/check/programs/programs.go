// Package programs compiles the programs of testdata/programs, which tests debug.
//
// A source may contain its build command in a line of its first comment. The line begins with the
// kind of build: "build:" (needs a compiler only), "mpi:" (needs the compilers of an MPI, $MPICC
// and $MPICXX) or "python:" (needs Python's headers). sh executes the rest of the line in the
// directory of the source, with the output directory in $OUT. A source without such a line that
// does not include mpi.h is compiled with -g -O0.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Plain returns the commands that compile the programs without MPI into out. They name source files
// without a directory, so that debuggers show them so.
func Plain(sources, out string) ([]*exec.Cmd, error) {
	return commands(sources, out, "build", byDefault)
}

// MPI returns the commands that compile the MPI programs into out, with the compilers that end in
// suffix: "openmpi" or "mpich".
func MPI(sources, out, suffix string) ([]*exec.Cmd, error) {
	return commands(sources, out, "mpi", nil, "MPICC=mpicc."+suffix, "MPICXX=mpicxx."+suffix)
}

// Python returns the commands that compile the Python extensions into out.
func Python(sources, out string) ([]*exec.Cmd, error) {
	return commands(sources, out, "python", nil)
}

// commands returns the commands of one kind of build. otherwise, if not nil, returns the command
// for a source without a build command, or "".
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

// kinds are the words with which build commands begin.
var kinds = []string{"build", "mpi", "python"}

// linesOf returns the build commands of one kind in a source; of all kinds if kind is "".
func linesOf(text, kind string) []string {
	var all []string
	for line := range strings.Lines(text) {
		said := strings.TrimLeft(line, "/! ")
		if said == line {
			break // end of the first comment
		}
		for _, k := range kinds {
			if command, ok := strings.CutPrefix(said, k+": "); ok && (kind == "" || kind == k) {
				all = append(all, strings.TrimSpace(command))
			}
		}
	}
	return all
}

// byDefault returns the command for a source without a build command.
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
	case "f90": // -J: directory of modules
		return "gfortran -g -O0 -J $OUT -o $OUT/" + name + " " + file
	}
	return ""
}

// Run runs commands concurrently and returns the error of the first one that failed.
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
