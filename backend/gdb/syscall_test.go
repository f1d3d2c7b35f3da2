package gdb

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSystemCalls(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	in, out := fds[0], fds[1]
	defer unix.Close(in)
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(poll)
	if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, in, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: 7}); err != nil {
		t.Fatal(err)
	}
	events := make([]unix.EpollEvent, 4)
	buf := make([]byte, 8)

	if n, err := epoll(poll, events); n != 0 || err != nil {
		t.Errorf("epoll of nothing: %d, %v", n, err)
	}
	if n, err := read(in, buf); n != 0 || err != unix.EAGAIN {
		t.Errorf("read of nothing: %d, %v", n, err)
	}
	if n, err := write(out, []byte("abc")); n != 3 || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
	if n, err := epoll(poll, events); n != 1 || err != nil || events[0].Fd != 7 {
		t.Errorf("epoll: %d, %v, %+v", n, err, events[0])
	}
	if n, err := read(in, buf); err != nil || !bytes.Equal(buf[:n], []byte("abc")) {
		t.Errorf("read: %q, %v", buf[:n], err)
	}
	for full := make([]byte, 1<<20); err == nil; {
		_, err = write(out, full)
	}
	if err != unix.EAGAIN {
		t.Errorf("write to a full pipe: %v", err)
	}
	unix.Close(out)
	for n := 1; n > 0; {
		if n, err = read(in, make([]byte, 1<<20)); err != nil {
			t.Fatalf("read to the end: %v", err)
		}
	}
	if _, err := epoll(-1, events); err != unix.EBADF {
		t.Errorf("epoll of no descriptor: %v", err)
	}
}
