// Writing as much as a socket accepts without blocking.

package overlay

import (
	"syscall"
)

// attempt is one write to a descriptor that never blocks. The function once is made
// only once, because a closure for each write would be an allocation for each
// write.
type attempt struct {
	raw  syscall.RawConn
	call func(fd uintptr, p []byte) (int, syscall.Errno)
	once func(fd uintptr) bool
	p    []byte
	n    int
	err  error
}

// nonblocking returns a function that writes what the transport accepts now,
// possibly nothing, and never blocks. The function is for one caller at a time. It
// is nil for a transport that cannot guarantee that: one without a descriptor
// (net.Pipe), or one whose writes block in the kernel.
//
// A write deadline in the past does not help: package net then returns before it
// tries to write.
func nonblocking(dst any) func([]byte) (int, error) {
	if own, ok := dst.(interface{ tryWrite([]byte) (int, error) }); ok {
		return own.tryWrite
	}
	conn, ok := dst.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil || !isNonblocking(raw) {
		return nil
	}
	a := &attempt{raw: raw, call: write}
	if isSocket(raw) {
		a.call = send
	}
	a.once = a.writeOnce
	return a.write
}

func (a *attempt) write(p []byte) (int, error) {
	a.p, a.n, a.err = p, 0, nil
	err := a.raw.Write(a.once)
	a.p = nil
	if err != nil {
		return 0, err
	}
	return a.n, a.err
}

// writeOnce always returns true, so that RawConn.Write does not wait.
func (a *attempt) writeOnce(fd uintptr) bool {
	n, err := a.call(fd, a.p)
	if a.n = n; err != 0 && err != syscall.EAGAIN {
		a.err = err
	}
	return true
}

// write is for pipes; send is for sockets.
func write(fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, err := syscall.Write(int(fd), p)
		switch number, _ := err.(syscall.Errno); number {
		case 0:
			return n, 0
		case syscall.EINTR:
		default:
			return 0, number
		}
	}
}

func isNonblocking(raw syscall.RawConn) bool {
	var flags uintptr
	var failed syscall.Errno
	err := raw.Control(func(fd uintptr) {
		flags, _, failed = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	})
	return err == nil && failed == 0 && flags&syscall.O_NONBLOCK != 0
}
