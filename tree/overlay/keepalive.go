// Hosts that go away without a word.

package overlay

import (
	"net"
	"syscall"
	"time"
	"unsafe"
)

// A child asks no sign of life of its parent, because a parent that merely stands
// still is not lost (a master whose person has pressed Ctrl-Z). But when its host
// is gone, or the cable to it, the child must notice: then not even the kernel at
// the other end answers. Two things are looked at, as keepalive probes are not
// sent while something else waits for its acknowledgement. TCP_USER_TIMEOUT would
// do for both, but it also ends a link whose other side does not read for a while.
const (
	hostSilence = 15 * time.Second
	// hostProbes is how many probes are lost before an idle link is given up.
	hostProbes = 3
	// hostRetries is how often in a row something was sent and not acknowledged:
	// with pauses of 0.2 s, doubled each time, that takes 13 s or longer.
	hostRetries = 6
)

// watchHost ends a TCP connection whose other host is silent. stop ends the
// watching; it is not waited for, and does nothing after the connection's end.
func watchHost(conn net.Conn, silent func()) (stop func()) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return func() {}
	}
	const pause = hostSilence / hostProbes
	tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: pause, Interval: pause, Count: hostProbes - 1})
	raw, err := tcp.SyscallConn()
	if err != nil {
		return func() {}
	}
	var look *time.Timer
	armed := make(chan struct{})
	look = time.AfterFunc(hostSilence, func() {
		<-armed // look is set
		n, err := retries(raw)
		switch {
		case err != nil:
		case n >= hostRetries:
			silent()
		case n > 0:
			look.Reset(pause)
		default: // it is silent for hostSilence at least when that matters, so an idle process sleeps on
			look.Reset(hostSilence)
		}
	})
	close(armed)
	return func() { look.Stop() }
}

// retries tells how often in a row the kernel has sent in vain.
func retries(raw syscall.RawConn) (int, error) {
	var info [8]byte // the beginning of struct tcp_info; its third byte is tcpi_retransmits
	size := uint32(len(info))
	var failed syscall.Errno
	err := raw.Control(func(fd uintptr) {
		_, _, failed = syscall.RawSyscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err == nil && failed != 0 {
		err = failed
	}
	return int(info[2]), err
}
