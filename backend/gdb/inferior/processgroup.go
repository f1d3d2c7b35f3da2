// The rest of the process group of a process that has ended.

package inferior

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// EndProcessGroup kills the rest of the process group that the process led, if the process has ended: the
// members of the group with its id that are not older than the process.
func (p *Process) EndProcessGroup() {
	if !p.Gone() {
		return
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // those that were read before an error
	for _, name := range names {
		pid, _ := strconv.Atoi(name)
		if pid <= 0 || pid == p.pid || processGroupOf(pid) != p.pid {
			continue
		}
		member := Open(pid)
		if processGroupOf(pid) == p.pid && StartTime(pid) >= p.born {
			member.Signal(syscall.SIGKILL)
		}
		member.Close()
	}
}

// processGroupOf returns the process group of a process (proc(5), stat); 0 if there is no such process.
func processGroupOf(pid int) int {
	group, _ := strconv.Atoi(statField(pid, 5)) // "" is 0
	return group
}

// statField returns a field of /proc/PID/stat by its number in proc(5), from 3 on; "" if there is
// no such process. The name before these fields may contain any character.
func statField(pid, number int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) <= number-3 {
		return ""
	}
	return fields[number-3]
}
