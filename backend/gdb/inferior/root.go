// The file systems that a process sees.

package inferior

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Root returns the root directory of a process that sees other file systems than this one: it is
// in another mount namespace (a container), or has another root. "": it sees the same, or that
// cannot be read; then attaching reports the cause.
func Root(pid int) string {
	root := fmt.Sprintf("/proc/%d/root", pid)
	space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	ours, failed := os.Readlink("/proc/self/ns/mnt")
	if err != nil || failed != nil {
		return ""
	}
	its, err := os.Stat(root)
	own, failed := os.Stat("/")
	if err != nil || failed != nil || space == ours && os.SameFile(its, own) {
		return ""
	}
	return root
}

// AsSeen returns the name of a file as the rank itself sees it. gdb puts Root in front, which
// differs between ranks with the same files.
func AsSeen(path string) string {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return path
	}
	pid, rest, ok := strings.Cut(rest, "/root/")
	if _, err := strconv.Atoi(pid); !ok || err != nil {
		return path
	}
	return "/" + rest
}
