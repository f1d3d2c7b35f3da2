// Socket pairs without needless wake-ups.

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

// openSocketOut returns a socketOut and the end that reads.
func openSocketOut(t *testing.T) (*socketOut, *os.File) {
	t.Helper()
	in, out := socketPair(t)
	defer out.Close()
	fd, err := duplicate(out)
	check(t, err)
	o, err := newSocketOut(fd)
	check(t, err)
	t.Cleanup(func() { o.Close(); in.Close() })
	return o, in
}

// watching returns a function that counts the descriptors that have become ready
// since the last call, for a poller that watches all events, as Go's does.
func watching(t *testing.T, fds ...int) func() int {
	t.Helper()
	over, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	check(t, err)
	t.Cleanup(func() { syscall.Close(over) })
	for _, fd := range fds {
		check(t, syscall.EpollCtl(over, syscall.EPOLL_CTL_ADD, fd,
			&syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLOUT | syscall.EPOLLRDHUP | -syscall.EPOLLET, Fd: int32(fd)}))
	}
	woken := func() int {
		n, err := syscall.EpollWait(over, make([]syscall.EpollEvent, len(fds)), 0)
		check(t, err)
		return n
	}
	woken() // for the initial room
	return woken
}

func TestFilePairOfSocketsIsWokenByWhatComes(t *testing.T) {
	in, theirOut := socketPair(t)
	theirIn, out := socketPair(t)
	p, err := newFilePair(in, out)
	check(t, err)
	t.Cleanup(func() { p.Close(); theirIn.Close(); theirOut.Close() })
	woken := watching(t, int(p.in.Fd()), p.out.(*socketOut).epoll)
	_, err = p.Write([]byte("down"))
	check(t, err)
	_, err = io.ReadFull(theirIn, make([]byte, 4))
	check(t, err)
	if n := woken(); n != 0 {
		t.Errorf("%d wake-ups when the other side has read", n)
	}
	for range 2 {
		_, err = theirOut.Write([]byte("up"))
		check(t, err)
		if n := woken(); n != 1 {
			t.Errorf("%d wake-ups when something has come", n)
		}
	}
	var b [8]byte
	if n, err := p.Read(b[:]); err != nil || string(b[:n]) != "upup" {
		t.Errorf("read %q, %v", b[:n], err)
	}
	theirOut.Close()
	if n := woken(); n != 1 {
		t.Errorf("%d wake-ups at the end", n)
	}
}

func TestSocketOutWaitsForRoom(t *testing.T) {
	o, in := openSocketOut(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB, much more than a socket takes
	written := make(chan error, 1)
	go func() {
		for range 2 {
			if _, err := o.Write(want); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for range 2 {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("other bytes have come, %v", err)
		}
	}
	check(t, <-written)
}

func TestSocketOutCloseEndsWriters(t *testing.T) {
	o, _ := openSocketOut(t)
	ended := make(chan error, 1)
	go func() {
		_, err := o.Write(make([]byte, 4<<20))
		ended <- err
	}()
	check(t, o.Close())
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended by %v", err)
	}
	check(t, o.Close()) // once more
}

func TestSocketOutTellsThatTheOtherHasGone(t *testing.T) {
	o, in := openSocketOut(t)
	in.Close()
	if _, err := o.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write: %v", err)
	}
}
