// System calls that never block, without Go's scheduler.

package gdb

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Package unix reports every call to the scheduler, because it might block. In an idle
// program that wakes the scheduler's monitor thread, which then polls every 20 µs for a
// while. The pipes to gdb are non-blocking, and epoll is called without a timeout, so
// the report is not needed (measured for a print on 64 ranks: 650 µs with it, 480 µs
// without).

// write is write(2) to a descriptor that does not block.
func write(fd int, p []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, p) }

// read is read(2) from a descriptor that does not block.
func read(fd int, p []byte) (int, error) { return transfer(unix.SYS_READ, fd, p) }

func transfer(call uintptr, fd int, p []byte) (int, error) {
	n, _, err := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

// epoll returns what is ready now; there must be room for at least one event.
func epoll(fd int, events []unix.EpollEvent) (int, error) {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(events))),
		uintptr(len(events)), 0, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
