// Recognition of programs that start another one, which is what is to be debugged.

package protocol

import (
	"path/filepath"
	"slices"
)

// Wrapping is how a program starts the one that it was given.
type Wrapping int

// How a wrapper starts its program. A shell does either.
const (
	WrapsNothing Wrapping = iota // it is no known wrapper
	WrapsInPlace                 // by exec, in its own process
	WrapsBeside                  // as a child, the first that it starts
	WrapsTraced                  // as a child, which it traces: no debugger can
	WrapsSomehow                 // below it, among helpers of its own
	WrapsInside                  // in its own process, without exec: valgrind
)

var (
	shells  = []string{"sh", "dash", "bash", "ash", "busybox", "ksh", "ksh93", "mksh", "zsh", "zsh5", "csh", "tcsh", "fish"}
	inPlace = []string{
		"env", "nice", "ionice", "chrt", "nohup", "setsid", "setarch", "stdbuf", "taskset", "numactl", "hwloc-bind", "prlimit",
		"valgrind", "valgrind.bin",
	}
	beside  = []string{"timeout", "time", "perf", "bwrap", "unshare", "flock", "script"}
	tracers = []string{"strace", "ltrace", "rr", "proot"}
	// starter and starter-suid are of apptainer and singularity; nsys-launcher is what nsys becomes.
	somehow = []string{"nsys", "nsys-launcher", "ncu", "vtune", "apptainer", "singularity", "starter", "starter-suid", "sudo"}
)

// WrappingOf returns how a program, given by its name or path, starts another one. It knows
// nothing of shells.
func WrappingOf(program string) Wrapping {
	switch name := filepath.Base(program); {
	case filepath.Base(filepath.Dir(program)) == "valgrind": // /usr/libexec/valgrind/memcheck-amd64-linux
		return WrapsInside
	case slices.Contains(inPlace, name):
		return WrapsInPlace
	case slices.Contains(beside, name):
		return WrapsBeside
	case slices.Contains(tracers, name):
		return WrapsTraced
	case slices.Contains(somehow, name):
		return WrapsSomehow
	}
	return WrapsNothing
}

// IsShell reports whether a program is a shell. If a rank is a shell, the program
// to be debugged is the one that it starts.
func IsShell(program string) bool { return slices.Contains(shells, filepath.Base(program)) }

// IsWrapper reports whether a program is a shell or another known wrapper.
func IsWrapper(program string) bool { return IsShell(program) || WrappingOf(program) != WrapsNothing }
