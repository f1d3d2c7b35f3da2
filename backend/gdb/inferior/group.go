// What a process that has ended has left of its group.

package inferior

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// EndGroup kills what is left of the group that a process has led which has ended: those of its number that are not
// older than it was.
func (p *Process) EndGroup() {
	if !p.Gone() {
		return
	}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if pid == p.pid || groupOf(pid) != p.pid {
			continue
		}
		member := Open(pid)
		if groupOf(pid) == p.pid && Born(pid) >= p.born {
			member.Signal(syscall.SIGKILL)
		}
		member.Close()
	}
}

// groupOf reads the group of a process off its stat file (proc(5)); 0: there is none.
func groupOf(pid int) int {
	group, _ := strconv.Atoi(statField(pid, 5)) // "" is 0
	return group
}

// statField is a field of /proc/PID/stat by its number in proc(5), from 3 on; "" where there is
// no such process. The name before these fields may hold anything.
func statField(pid, number int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) <= number-3 {
		return ""
	}
	return fields[number-3]
}
