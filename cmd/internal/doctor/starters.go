// Checks of mpirun, srun and other starters: which of them offer MPIR.

package doctor

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// names are the starters to look for.
var names = []string{"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra", "oshrun", "shmemrun", "prterun", "prun", "srun", "torchrun", "aprun", "horovodrun", "jsrun", "mpirun_rsh"}

// untried are starters with which sdm was never run. It knows the variables that they give to ranks.
var untried = []string{"horovodrun", "jsrun", "mpirun_rsh"}

// starters finds the starters and tells how sdm takes control of their jobs.
func (m Machine) starters(context.Context) []Finding {
	var all []Finding
	seen := map[string]string{} // name by file
	for _, name := range names {
		path, err := m.find(name)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = path
		}
		if other, ok := seen[real]; ok {
			all = append(all, Finding{Check: name, Grade: Good, Found: path + " (the same as " + other + ")"})
			continue
		}
		seen[real] = name
		all = append(all, m.starter(name, path, real))
	}
	all = append(all, m.modules()...)
	if len(all) == 0 {
		return []Finding{{Check: "starters", Grade: Absent, Found: "none of " + strings.Join(names, ", "), Hint: "for MPI programs load the module of your MPI"}}
	}
	return all
}

// starter checks whether a starter offers MPIR.
func (m Machine) starter(name, path, real string) Finding {
	f := Finding{Check: name, Grade: Good, Found: path}
	if real != path {
		f.Found += " → " + real
	}
	symbols := MPIR(real)
	switch {
	case name == "torchrun":
		f.Found += "; sdm starts its servers in the slots of the workers"
	case slices.Contains(untried, name):
		f.Found += "; sdm was never run with it, and knows only the variables of its ranks (sdm attach PID)"
	case symbols == nil:
		f.Found += "; a script, or unreadable: what it calls decides"
	case !slices.Contains(symbols, "MPIR_Breakpoint") || !slices.Contains(symbols, "MPIR_proctable"):
		f.Found += "; no MPIR symbols (stripped, or Open MPI from 5 on): sdm starts its servers in the slots"
	default:
		var short []string
		for _, s := range symbols {
			short = append(short, strings.TrimPrefix(s, "MPIR_"))
		}
		f.Found += "; MPIR: " + strings.Join(short, " ")
	}
	return f
}

// MPIR returns the symbols of MPIR in a program and the libraries that it links, sorted; nil if it
// is not an ELF program.
func MPIR(path string) []string {
	found := map[string]bool{}
	if !symbolsOf(path, found, 0) {
		return nil
	}
	all := []string{}
	for name := range found {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// maxDepth limits the search through libraries. Those of real starters have MPIR at depth one or
// two.
const maxDepth = 2

// symbolsOf adds the symbols of MPIR in a file and its libraries to found. It returns false if the
// file is not an ELF file.
func symbolsOf(path string, found map[string]bool, depth int) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, list := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, _ := list() // a file without symbols is no error
		for _, s := range symbols {
			if strings.HasPrefix(s.Name, "MPIR_") && s.Section != elf.SHN_UNDEF {
				found[s.Name] = true
			}
		}
	}
	libraries, err := f.ImportedLibraries()
	if err != nil || depth == maxDepth {
		return true
	}
	for _, lib := range libraries {
		// Only libraries that may contain MPIR, by the names that MPI implementations use.
		if strings.Contains(lib, "rte") || strings.Contains(lib, "mpi") || strings.Contains(lib, "slurm") || strings.Contains(lib, "mpl") {
			if file := library(f, path, lib); file != "" {
				symbolsOf(file, found, depth+1)
			}
		}
	}
	return true
}

// library finds a library approximately as the loader does (ld.so(8)).
func library(f *elf.File, path, name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, _ := f.DynString(tag)
		for _, p := range paths {
			for _, dir := range strings.Split(p, ":") {
				dirs = append(dirs, strings.ReplaceAll(dir, "$ORIGIN", filepath.Dir(path)))
			}
		}
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
	dirs = append(dirs, filepath.Join(filepath.Dir(path), "../lib"), filepath.Join(filepath.Dir(path), "../lib64"))
	for _, triple := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu", "powerpc64le-linux-gnu", "riscv64-linux-gnu"} {
		dirs = append(dirs, "/lib/"+triple, "/usr/lib/"+triple)
	}
	dirs = append(dirs, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
	for _, dir := range dirs {
		if file := filepath.Join(dir, name); dir != "" {
			if _, err := os.Stat(file); err == nil {
				return file
			}
		}
	}
	return ""
}
