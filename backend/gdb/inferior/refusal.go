// Why a process cannot be attached to.

package inferior

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// LeaderEnded reports whether the first thread of a process has ended while others live (proc(5), /proc/PID/stat:
// state Z).
func LeaderEnded(pid int) bool {
	return state(fmt.Sprintf("/proc/%d/stat", pid)) == 'Z' && strings.Trim(statesOf(pid), "ZX") != ""
}

// WhyRefused returns why a process cannot be attached to, with what to do, as the kernel shows it now.
func WhyRefused(pid int) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "it has ended"
	}
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope") // not there without Yama
	return whyRefused(string(status), LeaderEnded(pid), os.Geteuid(), strings.TrimSpace(string(scope)))
}

// whyRefused decides by the status file of the process, whether only its first thread has ended, the user, and the
// content of ptrace_scope (ptrace(2), Ptrace access mode checking).
func whyRefused(status string, leaderEnded bool, user int, scope string) string {
	tracer := field(status, "TracerPid")
	owner, _, _ := strings.Cut(field(status, "Uid"), "\t")
	switch {
	case leaderEnded:
		return "its first thread has ended, and gdb cannot attach without that: sdm stacks shows the others"
	case strings.HasPrefix(field(status, "State"), "Z"):
		return "it has ended, and its parent has not waited for it"
	case tracer != "" && tracer != "0":
		return "process " + tracer + " debugs it: end that first"
	case user != 0 && owner != strconv.Itoa(user):
		return "it is another user's (" + owner + "): that needs root"
	case scope == "3":
		return "/proc/sys/kernel/yama/ptrace_scope is 3: tracing is disabled until this machine is started again without"
	case scope == "2" || scope == "1" && user != 0:
		return "/proc/sys/kernel/yama/ptrace_scope is " + scope + ": ask the administrator to set it to 0"
	}
	return "it protects itself (PR_SET_DUMPABLE, or a program that changes its user), or this container lacks CAP_SYS_PTRACE"
}
