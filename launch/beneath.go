// Ranks whose starter has started a shell, which runs the program as a child.

package launch

import (
	"maps"
	"os"
	"slices"
	"strings"

	"sdm/protocol"
)

// Beneath returns, for those of some processes that are ranks and shells, the process of the
// program that they run:
//
//	mpirun ─ sh -c './app; true'  rank 3 ─ app          app
//	         sh run.sh            rank 4 ─ sh ─ app     app
//	                                     └ tee log
//
// It is the only process below the shell that has the rank's number in its environment and a
// library of MPI or PMI mapped, with nothing but shells in between. Other children of a script
// (sleep, grep) may end before a gdb attaches, and so may a program without MPI. If there is no
// such process, or more than one, the shell is the rank and has no entry.
func (f RankFrom) Beneath(pids []int) map[int]int {
	below := map[int]int{}
	var ps processes
	for _, pid := range pids {
		if !protocol.IsShell(programOf(pid)) {
			continue
		}
		if ps == nil {
			ps = f.scan()
		}
		if program, found := ps.beneath(pid, fileQueries{programOf, mapsMPI}); found {
			below[pid] = program
		}
	}
	return below
}

// fileQueries are the questions about a single process that its files in /proc answer (proc(5)).
type fileQueries struct {
	program func(pid int) string // its path, "" if it cannot be read
	mpi     func(pid int) bool   // whether it has mapped a library of MPI or PMI
}

// beneath is Beneath for one shell.
func (ps processes) beneath(shell int, q fileQueries) (program int, found bool) {
	rank, known := ps[shell]
	if !known || rank.Number == Unknown {
		return 0, false
	}
	for _, pid := range slices.Sorted(maps.Keys(ps)) {
		p := ps[pid]
		if p.Number != rank.Number || !sameJob(p.Job, rank.Job) || !ps.isBelow(pid, shell) || !ps.comesFromShells(p.parent, shell, q) || !q.mpi(pid) {
			continue
		}
		if found {
			return 0, false
		}
		program, found = pid, true
	}
	return program, found
}

// comesFromShells reports whether all processes from pid up to the rank's shell are shells: a
// child of a program is not the rank's program.
func (ps processes) comesFromShells(pid, shell int, q fileQueries) bool {
	for seen := 0; pid != shell && seen <= len(ps); seen++ {
		if !protocol.IsShell(q.program(pid)) {
			return false
		}
		pid = ps[pid].parent
	}
	return true
}

// programOf returns the path of a process's program, "" if it cannot be read.
func programOf(pid int) string {
	exe, err := os.Readlink(procOf(pid, "exe"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(exe, " (deleted)")
}

// mapsMPI reports whether a process has mapped a library of MPI or PMI; false if its maps cannot
// be read.
func mapsMPI(pid int) bool {
	maps, err := os.ReadFile(procOf(pid, "maps"))
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
