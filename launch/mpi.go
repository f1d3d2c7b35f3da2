package launch

import (
	"debug/elf"
	"path/filepath"
	"strings"
)

// LinksMPI tells whether a program was linked with an MPI library: such a one,
// started by us several times without a starter, runs as as many jobs of one
// rank each, which is rarely what is wanted. False for what is no ELF program,
// or hides its MPI behind another library: it is a hint, not a proof.
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

// isMPI knows the libraries of Open MPI, MPICH and its relatives (Intel,
// MVAPICH, Cray), their Fortran and C++ halves included; libmpi_usempif08 and
// libmpicxx begin the same way.
func isMPI(name string) bool {
	return strings.HasPrefix(name, "libmpi")
}
