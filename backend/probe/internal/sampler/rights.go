// Processes that may not be read.

package sampler

import (
	"fmt"
	"slices"
	"syscall"

	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/tracing"
)

// refused reports whether no thread of a process may be traced.
func refused(s *snapshot.Process) bool {
	may := func(t snapshot.Thread) bool { return t.Why != syscall.EPERM.Error() }
	return len(s.Threads) > 0 && !slices.ContainsFunc(s.Threads, may)
}

// Forbidden returns the message that a process may not be read, and a hint why and what to do.
func Forbidden(pid int) (message, hint string) {
	return fmt.Sprintf("process %d may not be read", pid), tracing.WhyNot(pid)
}
