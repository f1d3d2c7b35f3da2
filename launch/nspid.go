// Process ids of another pid namespace: a resource manager may give a job a namespace of its own,
// and then the ids that its starter shows are not those that a server beside the job sees.

package launch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// TaskOf returns the process of this host that Slurm has shown as a task: number is its rank in the
// step, program the name of its executable. As a rule it is pid. If the process with that id is
// another one, TaskOf looks for the task: by its ids in inner namespaces (proc(5), NSpid), or else
// by rank and executable alone. The error says that there is no such process, or more than one.
func TaskOf(pid, number int, program string) (int, error) {
	return taskOf(pid, number, program, taskQueries{procID, programOf, namespacePids, Parents})
}

// taskQueries are the questions about processes that taskOf asks.
type taskQueries struct {
	number  func(pid int) int    // SLURM_PROCID, Unknown if it is not set or cannot be read
	program func(pid int) string // path of the executable, "" if it cannot be read
	ids     func(pid int) []int  // in all namespaces, from ours inwards; nil: there is no such process
	parents func() map[int]int
}

func taskOf(pid, number int, program string, q taskQueries) (int, error) {
	is, known := q.isTask(pid, number, program)
	if is {
		return pid, nil
	}
	var inside, alike []int
	parents := q.parents()
	for other, parent := range parents {
		if q.number(other) != number || filepath.Base(q.program(other)) != filepath.Base(program) {
			continue
		}
		if q.number(parent) == number && filepath.Base(q.program(parent)) == filepath.Base(program) {
			continue // a child of the task
		}
		alike = append(alike, other)
		if slices.Contains(q.ids(other), pid) {
			inside = append(inside, other)
		}
	}
	switch {
	case len(inside) == 1:
		return inside[0], nil
	case len(inside) == 0 && len(alike) == 1:
		return alike[0], nil
	case !known && q.ids(pid) != nil:
		return pid, nil // it belongs to another user: the attempt to attach reports that
	case len(alike) > 1:
		return 0, fmt.Errorf("process %d is not rank %d of the step, and several others may be it (do jobs have a pid namespace of their own here?)", pid, number)
	case q.ids(pid) == nil:
		return 0, fmt.Errorf("there is no process %d", pid)
	}
	return 0, fmt.Errorf("process %d is not rank %d of the step: it runs %s, not %s (do jobs have a pid namespace of their own here?)", pid, number, filepath.Base(q.program(pid)), filepath.Base(program))
}

// isTask compares rank and executable. A task may have executed another program since, and may have
// changed its environment, but hardly both. known is false if neither can be read.
func (q taskQueries) isTask(pid, number int, program string) (is, known bool) {
	if own := q.number(pid); own != Unknown {
		return own == number, true
	}
	exe := q.program(pid)
	return exe != "" && filepath.Base(exe) == filepath.Base(program), exe != ""
}

func procID(pid int) int {
	number, err := strconv.Atoi(lookup(EnvironOf(pid))[slurm.rank])
	if err != nil {
		return Unknown
	}
	return number
}

// namespacePids reads NSpid of a process.
func namespacePids(pid int) []int {
	status, err := os.ReadFile(procOf(pid, "status"))
	if err != nil {
		return nil
	}
	return readNSpid(status, pid)
}

// InsideAs returns the process of this host that has a number in a pid namespace of its own; 0: there is none, or
// several.
func InsideAs(number int) (pid int) {
	for other := range Parents() {
		if ids := namespacePids(other); len(ids) > 1 && ids[len(ids)-1] == number {
			if pid != 0 {
				return 0
			}
			pid = other
		}
	}
	return pid
}

// readNSpid reads the line of /proc/PID/status that has the ids of a process in all namespaces.
// Kernels without namespaces have none: the result is then pid.
func readNSpid(status []byte, pid int) []int {
	for line := range bytes.Lines(status) {
		rest, is := strings.CutPrefix(string(line), "NSpid:")
		if !is {
			continue
		}
		var ids []int
		for _, word := range strings.Fields(rest) {
			if id, err := strconv.Atoi(word); err == nil {
				ids = append(ids, id)
			}
		}
		if len(ids) > 0 {
			return ids
		}
	}
	return []int{pid}
}
