// Package apps tests sdm with applications that are not part of sdm: tutorials of PETSc in C, C++
// and Fortran, on 8 ranks under mpirun. `make apps` runs the tests. They take minutes and need
// packages that no other test needs. Their transcripts are kept for inspection.
package apps

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/cmd/internal/check/programs"
)

// directory is the environment variable that names the directory for the programs and transcripts.
// Without it no test runs.
const directory = "SDM_APPS"

// bench is the value of directory.
var bench string

func TestMain(m *testing.M) {
	if bench = os.Getenv(directory); bench == "" {
		fmt.Println("applications are debugged by make apps")
		return
	}
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// examples is the directory of PETSc's examples in Debian.
const examples = "/usr/share/doc/libpetsc3.18-dev-examples/examples/src"

// application is one of the examples.
type application struct {
	name     string
	source   string // path relative to examples
	compiler []string
	args     []string
}

var (
	bratu = application{"ex5", "snes/tutorials/ex5.c", []string{"mpicc.openmpi"}, []string{"-snes_monitor_short", "-da_refine", "1"}}
	ice   = application{"ex48", "snes/tutorials/ex48.c", []string{"mpicxx.openmpi", "-x", "c++"}, []string{"-M", "5", "-P", "3", "-snes_monitor_short"}}
	// The same problem as bratu, with modules and derived types.
	fortran = application{"ex5f90", "snes/tutorials/ex5f90.F90", []string{"mpif90.openmpi", "-ffree-line-length-none"}, []string{"-snes_monitor_short"}}

	applications = []application{bratu, ice, fortran}
)

// prepare builds the applications, copies their sources beside them, and sets the environment that
// mpirun needs on a small machine.
func prepare() error {
	env, err := programs.Environment()
	if err != nil {
		return err
	}
	for _, e := range append(env, "OMPI_MCA_mpi_yield_when_idle=1", "SDM_NO_RC=true") {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(bench, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, a := range applications {
		errs = append(errs, a.build())
	}
	return errors.Join(errs...)
}

func (a application) build() error {
	file := filepath.Base(a.source)
	text, err := os.ReadFile(filepath.Join(examples, a.source))
	if err != nil {
		return fmt.Errorf("%w (package libpetsc3.18-dev-examples)", err)
	}
	if err := os.WriteFile(filepath.Join(bench, file), text, 0o644); err != nil {
		return err
	}
	include, err := petsc("--cflags-only-I")
	if err != nil {
		return err
	}
	libraries, err := petsc("--libs")
	if err != nil {
		return err
	}
	line := append(a.compiler[:len(a.compiler):len(a.compiler)], "-g", "-O0")
	line = append(append(line, include...), "-o", a.name, file)
	if len(a.compiler) > 1 && a.compiler[1] == "-x" {
		line = append(line, "-x", "none") // libraries are not C++
	}
	cmd := exec.Command(line[0], append(line[1:], append(libraries, "-lm")...)...)
	cmd.Dir = bench
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// petsc returns what pkg-config knows of PETSc.
func petsc(what string) ([]string, error) {
	cmd := exec.Command("pkg-config", what, "petsc")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("pkg-config %s petsc: %w (package libpetsc-real3.18-dev)\n%s", what, err, said.Bytes())
	}
	return strings.Fields(string(out)), nil
}

// lineOf returns FILE:LINE of the first line of the source that contains text. If after is not "",
// it is the first one from the line on that contains after.
func (a application) lineOf(t *testing.T, text, after string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(examples, a.source))
	if err != nil {
		t.Fatal(err)
	}
	begun := false
	for i, line := range strings.Split(string(b), "\n") {
		begun = begun || strings.Contains(line, after)
		if begun && strings.Contains(line, text) {
			return fmt.Sprintf("%s:%d", filepath.Base(a.source), i+1)
		}
	}
	t.Fatalf("%s has no %q", a.source, text)
	return ""
}
