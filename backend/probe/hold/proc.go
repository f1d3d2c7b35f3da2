// The threads of a process.

package hold

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/proc"
)

// Threads returns the IDs of the threads of a process; none if it has ended.
func Threads(pid int) (tids []int) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/task", pid), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	b := make([]byte, 32<<10)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(b[:n], -1, names)
	}
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
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
