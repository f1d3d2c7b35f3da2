// Processes that are never debugged: a stop would stop the debugger itself.

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RefuseOurselves returns an error if a process is init or part of sdm: this process, or an sdm
// program or gdb that is its ancestor or descendant. A job or a list that names one is wrong. nil:
// the process is none of them.
func RefuseOurselves(pid int) error {
	switch {
	case pid == 1:
		return fmt.Errorf("process 1 is the init of this machine or container, which cannot be stopped (docker run --init gives a container one of its own)")
	case isOurs(pid, os.Getpid(), parentOf, programOf):
		return fmt.Errorf("process %d is sdm itself, or one of its servers or gdbs", pid)
	}
	return nil
}

// isOurs reports whether a process is part of the sdm to which self belongs.
func isOurs(pid, self int, parent func(int) (int, bool), program func(int) string) bool {
	if pid == self {
		return true
	}
	name := filepath.Base(program(pid))
	name, _, _ = strings.Cut(name, " ") // drop " (deleted)"
	if !slices.Contains([]string{"sdm", "sdm-server", "sdm-master", "gdb"}, name) {
		return false
	}
	return isAbove(pid, self, parent) || isAbove(self, pid, parent)
}

// maxDepth bounds a chain of parents: process ids that are used again while they are read could
// form a cycle.
const maxDepth = 4096

// isAbove reports whether a process is an ancestor of another.
func isAbove(top, pid int, parent func(int) (int, bool)) bool {
	for range maxDepth {
		above, known := parent(pid)
		if !known || above == pid {
			return false
		}
		if above == top {
			return true
		}
		pid = above
	}
	return false
}
