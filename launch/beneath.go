// Ranks whose starter has started a shell, which runs the program beside itself.

package launch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// Beneath says for those of some processes that are ranks and shells which process is
// the program that they run:
//
//	mpirun ─ sh -c './app; true'  rank 3 ─ app          app
//	         sh run.sh            rank 4 ─ sh ─ app     app
//	                                     └ tee log
//
// It is the only process below that has the rank's number in its environment and a library
// of MPI or PMI, with nothing but shells between. Whatever else a script runs (sleep, grep)
// may have ended before a gdb is there, and so may a program be without MPI, for all that we
// know: then, and where there are several, the shell is the rank.
func Beneath(pids []int) map[int]int {
	below := map[int]int{}
	var ps processes
	for _, pid := range pids {
		if !protocol.IsShell(programOf(pid)) {
			continue
		}
		if ps == nil {
			ps = scan()
		}
		if program, found := ps.beneath(pid, look{programOf, mapsMPI}); found {
			below[pid] = program
		}
	}
	return below
}

// look is what is asked about single processes.
type look struct {
	program func(pid int) string // its path, "" if we may not know
	mpi     func(pid int) bool   // has it a library of MPI or PMI?
}

func (ps processes) beneath(shell int, l look) (program int, found bool) {
	rank, known := ps[shell]
	if !known || rank.Number == Unknown {
		return 0, false
	}
	for _, pid := range slices.Sorted(maps.Keys(ps)) {
		p := ps[pid]
		if p.Number != rank.Number || !isJob(p.Job, rank.Job) || !ps.isBelow(pid, shell) || !ps.comesFromShells(p.parent, shell, l) || !l.mpi(pid) {
			continue
		}
		if found {
			return 0, false
		}
		program, found = pid, true
	}
	return program, found
}

// comesFromShells tells whether there are nothing but shells from a process up to the
// rank's own: what a program has started is none of the rank's programs.
func (ps processes) comesFromShells(pid, shell int, l look) bool {
	for seen := 0; pid != shell && seen <= len(ps); seen++ {
		if !protocol.IsShell(l.program(pid)) {
			return false
		}
		pid = ps[pid].parent
	}
	return true
}

// programOf is the path of what a process runs, "" if we may not know.
func programOf(pid int) string {
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(exe, " (deleted)")
}

// mapsMPI tells whether a process has a library of MPI or PMI, as far as we may know.
func mapsMPI(pid int) bool {
	maps, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(maps)) {
		if i := strings.LastIndexByte(line, '/'); i >= 0 {
			if name, _, _ := strings.Cut(line[i+1:], "."); isMPI(name) || strings.HasPrefix(name, "libpmi") {
				return true
			}
		}
	}
	return false
}
