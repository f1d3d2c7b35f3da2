// System calls in which threads wait.

package hold

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/kernelcall"
)

// parseCall returns the system call of a text of /proc/PID/syscall (proc(5)). Numbers are known for x86-64 only.
func parseCall(text string) (c kernelcall.Call) {
	c.Number = kernelcall.None
	f := strings.Fields(text)
	if !knowsCalls || len(f) < 3 {
		return c
	}
	n, err := strconv.Atoi(f[0])
	switch {
	case err == nil && n == -1:
		c.Number = kernelcall.Fault
	case err == nil && n >= 0 && len(f) == 1+len(c.Args)+2:
		c.Number = n
		for i := range c.Args {
			c.Args[i], _ = strconv.ParseUint(f[1+i], 0, 64)
		}
	}
	return c
}

// stopSignal returns the signal that has stopped the process of a thread, by the stop that is reported after
// PTRACE_INTERRUPT; 0: none has (ptrace(2), Group-stop).
func stopSignal(status unix.WaitStatus) syscall.Signal {
	if uint32(status)>>16 != unix.PTRACE_EVENT_STOP {
		return 0
	}
	switch s := status.StopSignal(); s {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return s
	}
	return 0
}
