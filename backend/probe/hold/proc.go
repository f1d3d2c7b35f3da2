// What /proc says of a process.

package hold

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/proc"
)

// ReadText returns the contents of a file of /proc. It makes fewer system calls than os.ReadFile. It stores the
// contents in the memory of b if that suffices; nil: in new memory.
func ReadText(path string, b []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for b = b[:0]; ; {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, 2*cap(b)+4096), b...)
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		case n <= 0:
			return b, nil
		default:
			b = b[:len(b)+n]
		}
	}
}

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
