// Pending signals of a thread.

package inferior

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Pending reports whether a signal is pending for one thread of a process: one that was sent to
// that thread, not to the process (proc(5), /proc/PID/task/TID/status: SigPnd).
func Pending(pid int, thread string, sig syscall.Signal) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, thread))
	return err == nil && pendingIn(string(b), sig)
}

func pendingIn(status string, sig syscall.Signal) bool {
	for line := range strings.Lines(status) {
		if mask, ok := strings.CutPrefix(line, "SigPnd:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && bits>>(sig-1)&1 == 1
		}
	}
	return false
}
