// The object files of a process, and which of them are the user's own.

package gdb

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
)

// objects are the program of a rank and its shared libraries.
type objects struct {
	program   string // its path
	libraries []loadedLibrary
}

// loadedLibrary is a library and where it lies in memory.
type loadedLibrary struct {
	name string // as the rank sees it
	inferior.Span
}

// objectsOf reads what -file-list-shared-libraries answers.
func objectsOf(program string, result mi.Tuple) objects {
	o := objects{program: program}
	for _, f := range result.Path("shared-libraries").Fields {
		l := f.Value.Fields
		for _, r := range l.Path("ranges").Fields {
			o.libraries = append(o.libraries, loadedLibrary{
				name: strings.Clone(inferior.AsSeen(l.Str("target-name"))),
				Span: inferior.Span{First: address(r.Value.Fields.Str("from")), End: address(r.Value.Fields.Str("to"))},
			})
		}
	}
	return o
}

// address reads what gdb prints for one; 0 for what is none.
func address(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n
}

// of names the library in which a frame lies, "" for the program and for code that is in no file. gdb names the library of a frame
// only where it has no lines for it.
func (o objects) of(f frame) string {
	if f.library != "" {
		return inferior.AsSeen(f.library)
	}
	for _, l := range o.libraries {
		if l.Holds(address(f.addr)) {
			return l.name
		}
	}
	return ""
}

var (
	// systemLibrary is where distributions put libraries.
	systemLibrary = regexp.MustCompile(`^/(usr/)?lib(32|64|x32|exec)?/`)
	// runtimeLibrary are libraries that have threads of their own, or are used by those: of MPI and what is below it, OpenMP, pools of numerical
	// libraries, and accelerators.
	runtimeLibrary = regexp.MustCompile(`/lib(p?mpi\w*|open-(rte|pal)|pmix|prrte|event(_\w+)?|hwloc|uc[mpst]|fabric|psm\d?|rdmacm|ibverbs|` +
		`gomp|i?omp5?|tbb(malloc)?|openblas\w*|blis\w*|mkl_\w+|cuda|cudart|nccl|amdhip64|hsa-runtime64)[-.\w]*\.so`)
	// startLibrary are those in which threads begin.
	startLibrary = regexp.MustCompile(`/(libc|libpthread|ld-musl-\w+|libc\.musl-\w+)[-.\d]*\.so`)
)

// ofUser tells whether the code of a frame is the user's: that of the program, of a library with debug information which neither the
// system nor MPI has brought, and of one without that lies beside the program.
func (o objects) ofUser(f frame) bool {
	lib := o.of(f)
	switch {
	case strings.HasPrefix(f.Func, "_PyEval_") || strings.HasPrefix(f.Func, "PyEval_"):
		return true // what is evaluated is the user's
	case lib == "":
		return !systemCall[f.Func]
	case systemLibrary.MatchString(lib) || runtimeLibrary.MatchString(lib) || o.besideMPI(lib):
		return false
	}
	return f.File != "" || o.besideProgram(lib)
}

// systemCall are the functions of the page that the kernel puts into each process, which is no library for gdb.
var systemCall = map[string]bool{
	"__vdso_clock_gettime": true, "clock_gettime": true, "__vdso_gettimeofday": true, "gettimeofday": true,
	"__vdso_time": true, "time": true, "__vdso_getcpu": true, "getcpu": true, "__kernel_clock_gettime": true, "__kernel_gettimeofday": true,
}

// besideMPI tells whether a library lies in the directory of MPI's, or in one below that.
func (o objects) besideMPI(lib string) bool {
	for _, l := range o.libraries {
		if mpiLibrary.MatchString(l.name) && under(lib, path.Dir(l.name)) {
			return true
		}
	}
	return false
}

// besideProgram tells whether a library lies in the program's directory, or in lib where the program is in bin. An interpreter is not the user's.
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

// under tells whether a file is in a directory or in one below it.
func under(file, dir string) bool { return strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/") }
