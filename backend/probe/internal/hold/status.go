// How processes have ended that are not our children.

package hold

import (
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/proc"
)

// pidfdInfo is struct pidfd_info of the kernel (include/uapi/linux/pidfd.h), in its first version.
type pidfdInfo struct {
	mask, cgroup                                     uint64
	pid, tgid, ppid                                  uint32
	ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid uint32
	status                                           int32
}

// Of the same file: the request PIDFD_GET_INFO and the bit PIDFD_INFO_EXIT of its mask.
const (
	getInfo  = 0xc040ff0b // _IOWR(0xFF, 11, struct pidfd_info), 64 bytes
	infoExit = 1 << 3
)

// Status is how a process has ended: by a signal, or else with an exit code.
type Status struct {
	Code    int
	Signal  string // "SIGSEGV"; "": none
	Meaning string // of the signal
}

// Status returns how the process has ended. Until its parent has waited for it, its status is in /proc; afterwards
// the kernel tells it from Linux 6.15 on. ok is false if it is not known, or if the process runs. Where /proc does
// not tell it, the parent may take a time to wait.
func (h *Handle) Status(within time.Duration) (status Status, ok bool) {
	if h.file == nil {
		return Status{}, false
	}
	c, err := h.file.SyscallConn()
	if err != nil {
		return Status{}, false
	}
	var info pidfdInfo
	ask := func(fd uintptr) {
		if info.status, ok = h.unreaped(int32(fd)); ok {
			return
		}
		awaitParent(int32(fd), within)
		info = pidfdInfo{mask: infoExit}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, getInfo, uintptr(unsafe.Pointer(&info)))
		ok = errno == 0 && info.mask&infoExit != 0
	}
	if c.Control(ask) != nil || !ok {
		return Status{}, false
	}
	w := unix.WaitStatus(info.status)
	if w.Signaled() {
		return Status{Signal: proc.SignalName(w.Signal()), Meaning: w.Signal().String()}, true
	}
	return Status{Code: w.ExitStatus()}, true
}

// unreaped returns the status of a process that has ended and for which its parent has not waited. Some starters
// never do: then init does so after their end.
func (h *Handle) unreaped(fd int32) (status int32, ok bool) {
	fields := statOf(h.pid)
	if len(fields) <= exitCode || fields[0] != "Z" {
		return 0, false
	}
	code, err := strconv.ParseUint(fields[exitCode], 10, 16)
	awaited := []unix.PollFd{{Fd: fd}}
	if n, e := unix.Poll(awaited, 0); e != nil || n > 0 { // it may have been another process with this ID
		return 0, false
	}
	return int32(code), err == nil
}

// awaitParent waits until the parent of a process has waited for it, when its pidfd is hung up, or until a
// time has passed.
func awaitParent(fd int32, within time.Duration) {
	for until := time.Now().Add(within); ; {
		left := max(time.Until(until), 0)
		_, err := unix.Poll([]unix.PollFd{{Fd: fd}}, int(left.Milliseconds())) // POLLHUP is always reported
		if err != unix.EINTR || left == 0 {
			return
		}
	}
}
