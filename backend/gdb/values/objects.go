// The object files of a process, and which of them belong to the user.

package values

import (
	"path"
	"regexp"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
)

// objects are the program of a rank and its shared libraries.
type objects struct {
	program   string // its path
	libraries []loadedLibrary
}

// loadedLibrary is a library and its address range.
type loadedLibrary struct {
	name string // as the rank sees it
	inferior.Span
}

// objectsOf parses the answer to -file-list-shared-libraries.
func objectsOf(program string, result mi.Tuple) objects {
	o := objects{program: program}
	for _, f := range result.Path("shared-libraries").Fields {
		l := f.Value.Fields
		for _, r := range l.Path("ranges").Fields {
			o.libraries = append(o.libraries, loadedLibrary{
				name: strings.Clone(inferior.AsSeen(l.Str("target-name"))),
				Span: inferior.Span{First: gdbtext.Address(r.Value.Fields.Str("from")), End: gdbtext.Address(r.Value.Fields.Str("to"))},
			})
		}
	}
	return o
}

// of returns the library of a frame, "" for the program and for code in no file. gdb
// names the library of a frame only if it has no lines for it.
func (o objects) of(f Frame) string {
	if f.library != "" {
		return inferior.AsSeen(f.library)
	}
	for _, l := range o.libraries {
		if l.Holds(gdbtext.Address(f.Addr)) {
			return l.name
		}
	}
	return ""
}

var (
	// systemLibrary matches where distributions install libraries.
	systemLibrary = regexp.MustCompile(`^/(usr/)?lib(32|64|x32|exec)?/`)
	// runtimeLibrary matches libraries that start threads, or that such libraries use:
	// MPI and its transports, OpenMP, thread pools of numerical libraries, and
	// accelerators.
	runtimeLibrary = regexp.MustCompile(`/lib(p?mpi\w*|open-(rte|pal)|pmix|prrte|event(_\w+)?|hwloc|uc[mpst]|fabric|psm\d?|rdmacm|ibverbs|` +
		`gomp|i?omp5?|tbb(malloc)?|openblas\w*|blis\w*|mkl_\w+|cuda|cudart|nccl|amdhip64|hsa-runtime64)[-.\w]*\.so`)
	// startLibrary matches those in which threads start.
	startLibrary = regexp.MustCompile(`/(libc|libpthread|ld-musl-\w+|libc\.musl-\w+)[-.\d]*\.so`)
)

// ofUser reports whether the code of a frame is the user's: in the program, in a
// library with debug information that does not belong to the system or MPI, or in a
// library without that is installed beside the program.
func (o objects) ofUser(f Frame) bool {
	lib := o.of(f)
	switch {
	case strings.HasPrefix(f.Func, "_PyEval_") || strings.HasPrefix(f.Func, "PyEval_"):
		return true // it executes code of the user
	case lib == "":
		return !systemCall[f.Func]
	case systemLibrary.MatchString(lib) || runtimeLibrary.MatchString(lib) || o.besideMPI(lib):
		return false
	}
	return f.File != "" || o.besideProgram(lib)
}

// systemCall are functions of the vDSO, which the kernel maps into each process and
// which is no library to gdb.
var systemCall = map[string]bool{
	"__vdso_clock_gettime": true, "clock_gettime": true, "__vdso_gettimeofday": true, "gettimeofday": true,
	"__vdso_time": true, "time": true, "__vdso_getcpu": true, "getcpu": true, "__kernel_clock_gettime": true, "__kernel_gettimeofday": true,
}

// besideMPI reports whether a library is in the directory of the MPI library, or below
// it.
func (o objects) besideMPI(lib string) bool {
	for _, l := range o.libraries {
		if MPILibrary.MatchString(l.name) && under(lib, path.Dir(l.name)) {
			return true
		}
	}
	return false
}

// besideProgram reports whether a library is in or below the program's directory, or
// below its parent if the program is in bin. An interpreter is not the user's program.
func (o objects) besideProgram(lib string) bool {
	dir := path.Dir(o.program)
	if o.program == "" || strings.HasPrefix(path.Base(o.program), "python") {
		return false
	}
	if path.Base(dir) == "bin" {
		dir = path.Dir(dir)
	}
	return under(lib, dir)
}

// under reports whether a file is in or below a directory.
func under(file, dir string) bool { return strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/") }

// MPILibrary matches libraries that may contain MPI_Abort. gdb gets the same
// expression; it does not support "?".
var MPILibrary = regexp.MustCompile(`/libp*mpi[A-Za-z0-9_]*\.so`)
