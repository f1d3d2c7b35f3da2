// Socket pairs that wake nobody for nothing.

package overlay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

// openPairEnd gives a pairEnd and the other end.
func openPairEnd(t *testing.T) (*pairEnd, *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	check(t, err)
	e, err := newPairEnd(fds[0])
	check(t, err)
	other := os.NewFile(uintptr(fds[1]), "other end")
	t.Cleanup(func() { e.Close(); other.Close() })
	return e, other
}

// wakeUps tells how many of the epolls have woken those who watch them since the
// last call.
func wakeUps(t *testing.T, e *pairEnd) func() int {
	t.Helper()
	over, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	check(t, err)
	t.Cleanup(func() { syscall.Close(over) })
	for _, w := range []*watch{e.content, e.room} {
		check(t, syscall.EpollCtl(over, syscall.EPOLL_CTL_ADD, w.epoll,
			&syscall.EpollEvent{Events: syscall.EPOLLIN | -syscall.EPOLLET, Fd: int32(w.epoll)}))
	}
	return func() int {
		n, err := syscall.EpollWait(over, make([]syscall.EpollEvent, 2), 0)
		check(t, err)
		return n
	}
}

func TestPairEndIsWokenByWhatComes(t *testing.T) {
	e, other := openPairEnd(t)
	woken := wakeUps(t, e)
	_, err := e.Write([]byte("down"))
	check(t, err)
	_, err = io.ReadFull(other, make([]byte, 4))
	check(t, err)
	if n := woken(); n != 0 {
		t.Errorf("%d wake-ups when the other side has read", n)
	}
	for range 2 {
		_, err = other.Write([]byte("up"))
		check(t, err)
		if n := woken(); n != 1 {
			t.Errorf("%d wake-ups when something has come", n)
		}
	}
	var b [8]byte
	if n, err := e.Read(b[:]); err != nil || string(b[:n]) != "upup" {
		t.Errorf("read %q, %v", b[:n], err)
	}
	other.Close()
	if n := woken(); n != 1 {
		t.Errorf("%d wake-ups at the end", n)
	}
}

func TestPairEndWaitsForRoom(t *testing.T) {
	e, other := openPairEnd(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB, much more than a socket takes
	written := make(chan error, 1)
	go func() {
		for range 2 {
			if _, err := e.Write(want); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for range 2 {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(other, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("other bytes have come, %v", err)
		}
	}
	check(t, <-written)
}

func TestPairEndCloseEndsWhoWaits(t *testing.T) {
	e, _ := openPairEnd(t)
	ended := make(chan error, 2)
	go func() {
		_, err := e.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := e.Write(make([]byte, 4<<20))
		ended <- err
	}()
	check(t, e.Close())
	for range 2 {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("ended by %v", err)
		}
	}
	check(t, e.Close()) // once more
}

func TestPairEndTellsThatTheOtherHasGone(t *testing.T) {
	e, other := openPairEnd(t)
	other.Close()
	if _, err := e.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v", err)
	}
	if _, err := e.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write: %v", err)
	}
}
