// Whether a program is linked with MPI.

package launch

import (
	"debug/elf"
	"path/filepath"
	"strings"
)

// LinksMPI reports whether a program is linked with an MPI library. Such a program, started
// several times without a starter, runs as several jobs of one rank each, which is rarely wanted.
// The result is a hint: it is false for a file that is not an ELF program, or that uses MPI by
// another library.
func LinksMPI(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return false
	}
	for _, lib := range needed {
		name, _, _ := strings.Cut(filepath.Base(lib), ".")
		if isMPI(name) {
			return true
		}
	}
	return false
}

// isMPI reports whether a library is one of Open MPI, MPICH or its derivatives (Intel, MVAPICH,
// Cray), the Fortran and C++ bindings included: libmpi_usempif08 and libmpicxx have the same
// prefix.
func isMPI(name string) bool {
	return strings.HasPrefix(name, "libmpi")
}
