// Processes that may not be read.

package sampler

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"sdm/backend/probe/internal/snapshot"
)

// refused reports whether no thread of a process may be traced.
func refused(s *snapshot.Process) bool {
	may := func(t snapshot.Thread) bool { return t.Why != syscall.EPERM.Error() }
	return len(s.Threads) > 0 && !slices.ContainsFunc(s.Threads, may)
}

// Forbidden returns the message that a process may not be read, and a hint why and what to do.
func Forbidden(pid int) (message, hint string) {
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope") // not there without Yama
	owner := -1
	if info, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		owner = int(info.Sys().(*syscall.Stat_t).Uid)
	}
	hint = whyForbidden(owner, os.Geteuid(), strings.TrimSpace(string(scope)))
	return fmt.Sprintf("process %d may not be read", pid), hint
}

// whyForbidden tells why a process of owner may not be traced by user (ptrace(2), Ptrace access mode
// checking). Both are user IDs. scope is the content of ptrace_scope; "": the kernel has no Yama.
func whyForbidden(owner, user int, scope string) string {
	switch {
	case user != 0 && owner != user:
		return "it is another user's, or changes its user: that needs root"
	case scope == "3":
		return "/proc/sys/kernel/yama/ptrace_scope is 3: tracing is disabled until this machine is started again without"
	case scope == "2" || scope == "1" && user != 0:
		return "/proc/sys/kernel/yama/ptrace_scope is " + scope + ": ask the administrator to set it to 0"
	}
	return "it protects itself, or this container lacks CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)"
}
