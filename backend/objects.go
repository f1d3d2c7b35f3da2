// The object files of a process, and which of them belong to the user.

package backend

import (
	"path"
	"strings"

	"sdm/protocol/pattern"
)

// Objects are the program of a rank and its shared libraries, by their paths.
type Objects struct {
	Program   string
	Libraries []string
}

var (
	// systemLibrary matches where distributions install libraries.
	systemLibrary = pattern.New(`^/(usr/)?lib(32|64|x32|exec)?/`)
	// runtimeLibrary matches libraries that start threads, or that such libraries use:
	// MPI and its transports, OpenMP, thread pools of numerical libraries, and
	// accelerators.
	runtimeLibrary = pattern.New(`/lib(p?mpi\w*|open-(rte|pal)|pmix|prrte|event(_\w+)?|hwloc|uc[mpst]|fabric|psm\d?|rdmacm|ibverbs|` +
		`gomp|i?omp5?|tbb(malloc)?|openblas\w*|blis\w*|mkl_\w+|cuda|cudart|nccl|amdhip64|hsa-runtime64)[-.\w]*\.so`)
	// communicating matches libraries that carry messages between processes.
	communicating = pattern.New(`^lib(p?mpi\w*|open[-_](rte|pal|mpi)|oshmem|shmem\w*|sma|uc[cpst]|hcoll|fabric|psm\d?|rdmacm|ibverbs|nccl|rccl)[-.\w]*\.so`)
	// startLibrary matches those in which threads start.
	startLibrary = pattern.New(`/(libc|libpthread|ld-musl-\w+|libc\.musl-\w+)[-.\d]*\.so`)
)

// MPILibrary matches libraries that may contain MPI_Abort. gdb gets the same
// expression; it does not support "?".
var MPILibrary = pattern.New(`/libp*mpi[A-Za-z0-9_]*\.so`)

// startFunction are the functions in which threads start, if there are symbols for
// them.
var startFunction = map[string]bool{"clone": true, "__clone": true, "clone3": true, "__clone3": true, "start_thread": true, "thread_start": true}

// StartsThreads reports whether threads start in a function of a library.
func StartsThreads(function, library string) bool {
	return startFunction[function] || startLibrary.MatchString(library)
}

// Communicates reports whether a library, of a file without directories, carries messages between processes: MPI,
// OpenSHMEM, UCX, libfabric, NCCL and what they use.
func Communicates(file string) bool { return communicating.MatchString(file) }

// IsOfSystem reports whether a library is where distributions install them.
func IsOfSystem(library string) bool { return systemLibrary.MatchString(library) }

// OfUser reports whether the code of a function is the user's: in the program, in a
// library with debug information that does not belong to the system or MPI, or in a
// library without that is installed beside the program. library is "" for the program
// and for code in no file.
func (o Objects) OfUser(function, library string, debugged bool) bool {
	switch {
	case strings.HasPrefix(function, "_PyEval_") || strings.HasPrefix(function, "PyEval_"):
		return true // it executes code of the user
	case library == "":
		return !systemCall[function]
	case systemLibrary.MatchString(library) || runtimeLibrary.MatchString(library) || o.besideMPI(library):
		return false
	}
	return debugged || o.besideProgram(library)
}

// systemCall are functions of the vDSO, which the kernel maps into each process and
// which is no library to gdb.
var systemCall = map[string]bool{
	"__vdso_clock_gettime": true, "clock_gettime": true, "__vdso_gettimeofday": true, "gettimeofday": true,
	"__vdso_time": true, "time": true, "__vdso_getcpu": true, "getcpu": true, "__kernel_clock_gettime": true, "__kernel_gettimeofday": true,
}

// besideMPI reports whether a library is in the directory of the MPI library, or below
// it.
func (o Objects) besideMPI(library string) bool {
	for _, l := range o.Libraries {
		if MPILibrary.MatchString(l) && under(library, path.Dir(l)) {
			return true
		}
	}
	return false
}

// besideProgram reports whether a library is in or below the program's directory, or
// below its parent if the program is in bin. An interpreter is not the user's program.
func (o Objects) besideProgram(library string) bool {
	dir := path.Dir(o.Program)
	if o.Program == "" || strings.HasPrefix(path.Base(o.Program), "python") {
		return false
	}
	if path.Base(dir) == "bin" {
		dir = path.Dir(dir)
	}
	return under(library, dir)
}

// under reports whether a file is in or below a directory.
func under(file, dir string) bool { return strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/") }
