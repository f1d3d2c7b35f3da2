package doctor

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// names are the starters that are looked for.
var names = []string{"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra", "prterun", "srun"}

// starters says which there are, and how sdm takes their jobs.
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

// starter looks for MPIR in one.
func (m Machine) starter(name, path, real string) Finding {
	f := Finding{Check: name, Grade: Good, Found: path}
	if real != path {
		f.Found += " → " + real
	}
	symbols := MPIR(real)
	switch {
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

// MPIR gives the names that a program and the libraries that it links offer
// debuggers, sorted; nil for what is no ELF program.
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

// maxDepth bounds the way through libraries: those of real starters have MPIR in
// the first or second.
const maxDepth = 2

func symbolsOf(path string, found map[string]bool, depth int) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, list := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, _ := list() // none is no error to us
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
		// Only what may hold it: MPI implementations name their libraries so.
		if strings.Contains(lib, "rte") || strings.Contains(lib, "mpi") || strings.Contains(lib, "slurm") || strings.Contains(lib, "mpl") {
			if file := library(f, path, lib); file != "" {
				symbolsOf(file, found, depth+1)
			}
		}
	}
	return true
}

// library finds a file as the loader would, roughly (ld.so(8)).
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
