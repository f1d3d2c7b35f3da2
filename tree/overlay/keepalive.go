// Detection of hosts that are gone without closing their connections.

package overlay

import (
	"net"
	"syscall"
	"time"
	"unsafe"
)

// A child sends no heartbeats to its parent, because a parent that merely does not
// run is not lost (a master that the user has suspended with Ctrl-Z). But if the
// parent's host or the network is gone, the child must notice: then not even the
// kernel at the other end answers. Both keep-alive and retransmissions are checked,
// because keep-alive probes are not sent while data waits for its acknowledgement.
// TCP_USER_TIMEOUT would cover both, but it also ends a link whose other side does
// not read for a while.
const (
	hostSilence = 15 * time.Second
	// hostProbes is the number of lost probes after which an idle link is given up.
	hostProbes = 3
	// hostRetries is the number of consecutive retransmissions without an
	// acknowledgement after which a link is given up: with pauses from 0.2 s,
	// doubled each time, this takes 13 s or longer.
	hostRetries = 6
)

// watchHost monitors a TCP connection and calls silent when the other host does not
// answer. stop ends the monitoring; it does not wait, and does nothing after the
// end of the connection.
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
		default: // checking every hostSilence is enough, and rarely wakes an idle process
			look.Reset(hostSilence)
		}
	})
	close(armed)
	return func() { look.Stop() }
}

// retries returns the number of consecutive retransmissions without
// acknowledgement.
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
