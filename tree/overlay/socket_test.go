// Reading and writing sockets directly.

package overlay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// sockets opens both ends of a connection, for each kind that links use.
var sockets = map[string]func(t *testing.T) (a, b net.Conn){
	"tcp": func(t *testing.T) (a, b net.Conn) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if b, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return a, b
	},
	"socket pair": func(t *testing.T) (a, b net.Conn) {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ends [2]net.Conn
		for i, fd := range fds {
			f := os.NewFile(uintptr(fd), "end")
			if ends[i], err = net.FileConn(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		return ends[0], ends[1]
	},
}

// TestSocketReaderIsARead verifies that a socketReader behaves as Read of package
// net.
func TestSocketReaderIsARead(t *testing.T) {
	cases := []struct {
		name string
		do   func(a, b net.Conn)
		data string
		want error
	}{
		{"there already, then the end", func(a, b net.Conn) { b.Write([]byte("abc")); b.Close() }, "abc", io.EOF},
		{"comes later", func(a, b net.Conn) {
			time.AfterFunc(time.Millisecond, func() { b.Write([]byte("late")); b.Close() })
		}, "late", io.EOF},
		{"deadline", func(a, b net.Conn) { a.SetReadDeadline(time.Now().Add(time.Millisecond)) }, "", os.ErrDeadlineExceeded},
		{"closed by us", func(a, b net.Conn) { time.AfterFunc(time.Millisecond, func() { a.Close() }) }, "", net.ErrClosed},
		{"closed before", func(a, b net.Conn) { a.Close() }, "", net.ErrClosed},
		{"shut down by them", func(a, b net.Conn) { b.Write([]byte("x")); b.(interface{ CloseWrite() error }).CloseWrite() }, "x", io.EOF},
	}
	for kind, pair := range sockets {
		for _, c := range cases {
			t.Run(kind+"/"+c.name, func(t *testing.T) {
				a, b := pair(t)
				defer a.Close()
				defer b.Close()
				r := reading(a)
				if _, ok := r.(*socketReader); !ok {
					t.Fatalf("read by %T", r)
				}
				c.do(a, b)
				var got bytes.Buffer
				for {
					var p [2]byte // less than what comes
					n, err := r.Read(p[:])
					got.Write(p[:n])
					if err == nil {
						continue
					}
					if !errors.Is(err, c.want) {
						t.Errorf("error %v, want %v", err, c.want)
					}
					break
				}
				if got.String() != c.data {
					t.Errorf("read %q, want %q", &got, c.data)
				}
			})
		}
	}
}

func TestSocketReaderReportsAReset(t *testing.T) {
	a, b := sockets["tcp"](t)
	defer a.Close()
	b.(*net.TCPConn).SetLinger(0)
	b.Close()
	if _, err := reading(a).Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v", err)
	}
}

func TestReadingLeavesOthersAlone(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, src := range []io.Reader{a, r} {
		if reading(src) != src {
			t.Errorf("%T is not read by itself", src)
		}
	}
}

// TestSocketsNeverWait verifies that a read or write does not block even if another
// process has made the shared socket blocking: the scheduler does not know about
// these system calls.
func TestSocketsNeverWait(t *testing.T) {
	for kind, pair := range sockets {
		t.Run(kind, func(t *testing.T) {
			a, b := pair(t)
			defer a.Close()
			defer b.Close()
			try := nonblocking(a)
			r := reading(a).(*socketReader)
			r.p = make([]byte, 1)
			raw, err := a.(syscall.Conn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			raw.Control(func(fd uintptr) {
				if err := syscall.SetNonblock(int(fd), false); err != nil {
					t.Fatal(err)
				}
				if r.readOnce(fd) {
					t.Errorf("a read of nothing is done, with %v", r.err)
				}
			})
			chunk := make([]byte, 1<<20)
			for full := false; !full; {
				n, err := try(chunk)
				if err != nil {
					t.Fatal(err)
				}
				full = n < len(chunk)
			}
			raw.Control(func(fd uintptr) { syscall.SetNonblock(int(fd), true) }) // as Close wants it
		})
	}
}
