// Package overlaytest provides listeners and links for tests of programs that
// connect over an overlay.
package overlaytest

import (
	"net"
	"os"
	"syscall"

	"sdm/tree/overlay"
)

// Listen listens for parents on a free port of the loopback interface.
func Listen(key overlay.Secret, self func() overlay.Identity) (*overlay.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return overlay.NewListener(l, key, self)
}

// Rendezvous listens for registrations on a free port of the loopback interface.
func Rendezvous(key overlay.Secret) (*overlay.RendezvousListener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return overlay.NewRendezvous(l, key, overlay.Identity{})
}

// Pipe returns the two ends of a link over a socket pair. It panics if there is no
// descriptor left. Any goroutine may call it.
func Pipe() (a, b overlay.Link) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		panic(err)
	}
	return end(fds[0]), end(fds[1])
}

func end(fd int) overlay.Link {
	file := os.NewFile(uintptr(fd), "socket pair")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		panic(err)
	}
	return overlay.NewStream(conn, "socket pair")
}
