// The process that is debugged, as the kernel shows it.

package gdb

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// target is a process that is not ours to wait for. A pidfd makes sure that no
// signal reaches a stranger who has got its number, and tells of its end even
// where gdb does not.
type target struct {
	pid    int
	fd     int // -1: it is gone, or the kernel has no pidfds
	reaped bool
}

func openTarget(pid int) *target {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	return &target{pid: pid, fd: fd}
}

// gone tells whether it has ended.
func (t *target) gone() bool {
	fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return t.fd < 0 || err == nil && n > 0
}

func (t *target) signal(sig syscall.Signal) {
	if t.fd >= 0 {
		unix.PidfdSendSignal(t.fd, sig, nil, 0)
	}
}

// signalGroup reaches the group that a held target leads. It is there at least
// as long as the target has not been reaped.
func (t *target) signalGroup(sig syscall.Signal) {
	if t.reaped || t.fd < 0 || unix.PidfdSendSignal(t.fd, 0, nil, 0) != nil {
		return
	}
	if group, err := unix.Getpgid(t.pid); err == nil && group == t.pid {
		unix.Kill(-t.pid, sig)
	}
	t.signal(sig)
}

// frozen tells whether it is stopped by a signal such as SIGSTOP (proc(5),
// /proc/PID/stat: state T).
func (t *target) frozen() bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(b, ')') // the name before it may hold anything
	return i >= 0 && bytes.HasPrefix(b[i:], []byte(") T"))
}

// wraps tells whether a process runs a program of those that start another in their
// place.
func wraps(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && isWrapper(exe)
}

// rootOf is the root directory of a process whose file systems are not ours: it is
// in another mount namespace (a container), or was given another root. "" is ours,
// and what we may not look at: attaching will tell why.
func rootOf(pid int) string {
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

// asSeen is the name of a file as the rank itself sees it: gdb puts rootOf in front,
// which differs between ranks whose files are the same.
func asSeen(path string) string {
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

func (t *target) close() {
	if t.fd >= 0 {
		unix.Close(t.fd)
		t.fd = -1
	}
}
