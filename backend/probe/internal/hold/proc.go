// The threads of a process.

package hold

import (
	"fmt"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/proc"
)

// Threads returns the IDs of the threads of a process; none if it has ended. Those of a process with one thread are not
// listed: its directory of threads has three links.
func Threads(pid int) []int {
	task := fmt.Sprintf("/proc/%d/task", pid)
	var st unix.Stat_t
	if unix.Stat(task, &st) == nil && st.Nlink == 3 {
		return []int{pid}
	}
	tids, _ := proc.Numbers(task)
	return tids
}

// LivingThread returns the ID of a thread, other than the first, that has not ended; 0: there is none.
func LivingThread(pid int) int {
	for _, tid := range Threads(pid) {
		if tid != pid && !proc.StatusOf(pid, tid).HasEnded() {
			return tid
		}
	}
	return 0
}
