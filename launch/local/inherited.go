package local

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxInherited bounds the descriptor numbers that are passed on: the table that
// a child is given has one entry for each number up to the highest.
const maxInherited = 4096

// Inherited gives the descriptors beyond the standard streams that our starter
// meant for the program (PMI_FD in a slot of MPICH), ours left out. It marks all of them,
// ours too, close-on-exec, so that from then on only ranks get them, through a
// Forker, and gdbs do not. To be called once, before anything else opens files.
func Inherited(ours ...int) ([]int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 || fd > maxInherited {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // the directory itself, or Go's own
		}
		unix.CloseOnExec(fd)
		if !slices.Contains(ours, fd) {
			found = append(found, fd)
		}
	}
	return found, nil
}
