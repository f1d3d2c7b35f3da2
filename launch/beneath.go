// Ranks whose starter has started a wrapper, which runs the program as a child.

package launch

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// Beneath returns, for each process that is a wrapper, the process of the program that it runs:
//
//	mpirun ─ sh -c './app; true'  rank 3 ─ app               app
//	         timeout 300 ./app    rank 4 ─ app               app
//	         sh run.sh            rank 5 ─ bwrap ─ app       app
//	                                     └ tee log
//
// A process that has mapped a library of MPI or PMI itself is no wrapper. The program is the only
// process below it that has its rank's number in the environment and such a library mapped; what
// the program has started does not count. If there are several, the wrapper is the rank and has no
// entry. If there is none, the program is what is at the end of a chain of single children of known
// wrappers. That does not hold for a shell: its children (sleep, grep) may end before a debugger
// attaches.
func (f RankFrom) Beneath(pids []int) map[int]int {
	below := map[int]int{}
	var ps processes
	q := fileQueries{programOf, mapsMPI}
	for _, pid := range pids {
		if !hasChildren(pid) || mapsMPI(pid) {
			continue
		}
		if ps == nil {
			ps = f.scan()
		}
		if program, found := ps.beneath(pid, q); found {
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

// beneath is Beneath for one process that has not mapped MPI itself.
func (ps processes) beneath(wrapper int, q fileQueries) (program int, found bool) {
	rank, known := ps[wrapper]
	if !known {
		return 0, false
	}
	var users []int // of MPI, without what these have started
	for _, pid := range ps.below(wrapper) {
		p := ps[pid]
		if rank.Number == Unknown || p.Number != rank.Number || !sameJob(p.Job, rank.Job) || !q.mpi(pid) {
			continue
		}
		if !slices.ContainsFunc(users, func(user int) bool { return ps.isBelow(pid, user) }) {
			users = append(users, pid)
		}
	}
	switch len(users) {
	case 0:
		return ps.endOfChain(wrapper, q)
	case 1:
		return users[0], true
	}
	return 0, false
}

// below returns the descendants of a process, those near to it first.
func (ps processes) below(top int) (all []int) {
	children := ps.children()
	for queue := []int{top}; len(queue) > 0 && len(all) <= len(ps); queue = queue[1:] {
		all = append(all, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// children returns the children of each process, in order.
func (ps processes) children() map[int][]int {
	children := map[int][]int{}
	for _, pid := range ps.ids() {
		children[ps[pid].parent] = append(children[ps[pid].parent], pid)
	}
	return children
}

// endOfChain goes down from a wrapper that is no shell while there is a single child.
func (ps processes) endOfChain(wrapper int, q fileQueries) (end int, found bool) {
	if protocol.IsShell(q.program(wrapper)) {
		return 0, false
	}
	children := ps.children()
	end = wrapper
	for seen := 0; protocol.IsWrapper(q.program(end)); seen++ {
		next := slices.DeleteFunc(slices.Clone(children[end]),
			func(pid int) bool { return ps[pid].Number != ps[wrapper].Number })
		if len(next) == 0 {
			break
		}
		if len(next) > 1 || seen > len(ps) {
			return 0, false
		}
		end = next[0]
	}
	if end == wrapper {
		return 0, false
	}
	return end, true
}

// maxWrapperThreads bounds the threads of a process that is looked at as a wrapper. Those in Go have a dozen.
const maxWrapperThreads = 64

// hasChildren reports whether a process may have children. It reads a file for each thread (proc(5),
// /proc/PID/task/TID/children), which costs less than a scan of all processes; a kernel without these files gives true.
func hasChildren(pid int) bool {
	threads, err := os.ReadDir(procOf(pid, "task"))
	if err != nil || len(threads) > maxWrapperThreads {
		return false
	}
	for _, t := range threads {
		children, err := os.ReadFile(procOf(pid, "task/"+t.Name()+"/children"))
		if err != nil && t.Name() == strconv.Itoa(pid) || len(bytes.TrimSpace(children)) > 0 {
			return true
		}
	}
	return false
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
