// Descriptors that this process has inherited and ranks get.

package local

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxInherited bounds the descriptor numbers that are passed on: the table of a child has one
// entry for each number up to the highest.
const maxInherited = 4096

// spareNumbers is how many descriptor numbers the fork needs for a moment, above the numbers in a child's
// table.
const spareNumbers = 8

// highest returns the highest number of a descriptor that can be passed on. A descriptor may have been opened before
// the limit (RLIMIT_NOFILE) was lowered below its number; then no child can be given that number, and none is started
// with such a number in its table (EBADF).
func highest() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > maxInherited {
		return maxInherited
	}
	return int(limit.Cur) - spareNumbers
}

// Inherited returns the descriptors up to maxInherited and within the limit, without the standard streams, that the
// starter meant for the program (PMI_FD in a slot of MPICH), except those in ours. It marks all
// descriptors close-on-exec, also those in ours and those above maxInherited. From then on only ranks
// get them, from a Forker, and gdbs do not. It must be called once, before other code opens files.
func Inherited(ours ...int) ([]int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	var found []int
	last := highest()
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // the directory itself, or a file of the Go runtime
		}
		unix.CloseOnExec(fd)
		if fd <= last && !slices.Contains(ours, fd) {
			found = append(found, fd)
		}
	}
	return found, nil
}
