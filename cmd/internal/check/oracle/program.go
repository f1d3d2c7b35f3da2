// The programs that sessions debug, and how they are compiled.

package oracle

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Program is one of the programs that sessions debug.
type Program struct {
	Name     string
	Language string   // "c", "c++" or "fortran"
	Line     []string // the compiler with its arguments
	Never    []string // functions that sessions do not call
	Path     string   // of the executable; set by Build
	Symbols  *Symbols // set by Build
}

// uncalled reports whether sessions do not call a function.
func (p *Program) uncalled(name string) bool { return slices.Contains(p.Never, name) }

// programs are what sessions debug.
var programs = []Program{
	{Name: "work", Language: "c", Line: []string{"gcc", "-g", "-O0", "work.c"}},
	{Name: "shapes", Language: "c", Line: []string{"gcc", "-g", "-O0", "shapes.c"}},
	{Name: "work-O2", Language: "c", Line: []string{"gcc", "-g", "-O2", "work.c"}},
	{Name: "containers", Language: "c++", Line: []string{"g++", "-g", "-O0", "containers.cc"}},
	{Name: "kinds", Language: "fortran", Line: []string{"gfortran", "-g", "-O0", "kinds.f90"}},
	{Name: "objects", Language: "c++", Line: []string{"g++", "-g", "-O0", "objects.cc"}},
	{Name: "grid", Language: "fortran", Line: []string{"gfortran", "-g", "-O0", "grid.f90"}},
	{Name: "shapes-O2", Language: "c", Line: []string{"gcc", "-g", "-O2", "shapes.c"}},
	{Name: "layouts", Language: "c", Line: []string{"gcc", "-g", "-O0", "layouts.c"}},
	{Name: "domain", Language: "c++", Line: []string{"g++", "-g", "-O0", "domain.cc"}},
	{Name: "sweep", Language: "fortran", Line: []string{"gfortran", "-g", "-O0", "sweep.f90"}},
	{Name: "solver", Language: "c++", Line: []string{"g++", "-g", "-O0", "solver.cc"}},
	{Name: "lattice-O2", Language: "c++", Line: []string{"g++", "-g", "-O2", "lattice.cc"}},
	{Name: "twice", Language: "c++", Line: []string{"g++", "-g", "-O0", "twice.cc"}},
	{Name: "field", Language: "c", Line: []string{"gcc", "-g", "-O0", "field.c"}},
}

// Build compiles a program of the directory sources into dir.
func (p *Program) Build(sources, dir string) error {
	p.Path = filepath.Join(dir, p.Name)
	cmd := exec.Command(p.Line[0], append(slices.Clone(p.Line[1:]), "-o", p.Path)...)
	cmd.Dir = sources
	if p.Language == "fortran" {
		cmd.Args = append(cmd.Args, "-J", dir)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	var err error
	p.Symbols, err = ReadSymbols(p.Path, sources)
	return err
}
