// Processes that are never debugged: they would stop who debugs them.

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RefuseOurselves is the error that a process is init, or one of ours: this one, one of our programs or gdbs that it has
// started, or that have started it. A job or a list that names one is wrong. nil: it is none of them.
func RefuseOurselves(pid int) error {
	switch {
	case pid == 1:
		return fmt.Errorf("process 1 is the init of this machine or container, which cannot be stopped (docker run --init gives a container one of its own)")
	case isOurs(pid, os.Getpid(), parentsOf(), programOf):
		return fmt.Errorf("process %d is sdm itself, or one of its servers or gdbs", pid)
	}
	return nil
}

// isOurs tells it for a process, seen from another.
func isOurs(pid, self int, parents map[int]int, program func(int) string) bool {
	if pid == self {
		return true
	}
	name := filepath.Base(program(pid))
	name, _, _ = strings.Cut(name, " ") // " (deleted)"
	if !slices.Contains([]string{"sdm", "sdm-server", "sdm-master", "gdb"}, name) {
		return false
	}
	return isAbove(pid, self, parents) || isAbove(self, pid, parents)
}

// isAbove tells whether a process is an ancestor of another.
func isAbove(top, pid int, parents map[int]int) bool {
	for range len(parents) { // numbers that are used again could make a circle
		parent, known := parents[pid]
		if !known || parent == pid {
			return false
		}
		if parent == top {
			return true
		}
		pid = parent
	}
	return false
}
