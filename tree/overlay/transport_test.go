// The transports that the conformance suite runs over.

package overlay

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// transport opens both ends of a link: one as a byte stream, to send what no link
// would send, and the other as the link under test.
type transport struct {
	name string
	open func(t testing.TB) (raw io.ReadWriteCloser, link Link)
}

var transports = []transport{
	{"memory", openMemory},
	{"socket pair", openSocketPair},
	{"one socket", openSocket},
	{"unix socket", openUnix},
	{"two pipes", openPipes},
	{"no descriptor", openNetPipe},
	{"TCP with TLS", openTLS},
}

// pair returns the two ends as links.
func (tr transport) pair(t testing.TB) (a, b Link) {
	t.Helper()
	raw, b := tr.open(t)
	a, ok := raw.(Link)
	if !ok {
		a = NewStream(raw, tr.name)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// bytes returns one end as a byte stream.
func (tr transport) bytes(t testing.TB) (io.ReadWriteCloser, Link) {
	t.Helper()
	raw, link := tr.open(t)
	if s, ok := raw.(tlsEnd); ok {
		raw = tlsBytes{s}
	}
	t.Cleanup(func() { raw.Close(); link.Close() })
	return raw, link
}

// tlsEnd is an end that is a link and can be used as a byte stream.
type tlsEnd struct{ *stream }

func (tlsEnd) Read([]byte) (int, error)  { panic("not used") }
func (tlsEnd) Write([]byte) (int, error) { panic("not used") }

type tlsBytes struct{ s tlsEnd }

func (b tlsBytes) Read(p []byte) (int, error)  { return b.s.tls.Read(p) }
func (b tlsBytes) Write(p []byte) (int, error) { return b.s.tls.Write(p) }
func (b tlsBytes) Close() error                { return b.s.Close() }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openMemory(testing.TB) (io.ReadWriteCloser, Link) {
	there, back := newFlow(), newFlow()
	return &duplex{in: back, out: there}, NewStream(&duplex{in: there, out: back}, "memory")
}

// socketPair returns the end that is read from and the one that is written to.
func socketPair(t testing.TB) (in, out *os.File) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	check(t, err)
	return os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "out")
}

func openSocketPair(t testing.TB) (io.ReadWriteCloser, Link) {
	in, theirOut := socketPair(t)
	theirIn, out := socketPair(t)
	link, err := FromFiles(in, out, "fd 3")
	check(t, err)
	raw, err := newFilePair(theirIn, theirOut)
	check(t, err)
	return raw, link
}

// openSocket uses one socket for both directions, as some remote shells use for
// standard input and output.
func openSocket(t testing.TB) (io.ReadWriteCloser, Link) {
	ours, theirs := socketPair(t)
	defer theirs.Close()
	again, err := duplicate(ours)
	check(t, err)
	link, err := FromFiles(ours, os.NewFile(uintptr(again), "out"), "standard input")
	check(t, err)
	conn, err := net.FileConn(theirs)
	check(t, err)
	return conn, link
}

func openUnix(t testing.TB) (io.ReadWriteCloser, Link) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	check(t, err)
	defer l.Close()
	a, err := net.Dial("unix", path)
	check(t, err)
	b, err := l.Accept()
	check(t, err)
	return a, NewStream(b, path)
}

func openPipes(t testing.TB) (io.ReadWriteCloser, Link) {
	in, theirOut, err := os.Pipe()
	check(t, err)
	theirIn, out, err := os.Pipe()
	check(t, err)
	link, err := FromFiles(in, out, "standard input")
	check(t, err)
	raw, err := newFilePair(theirIn, theirOut)
	check(t, err)
	return raw, link
}

func openNetPipe(testing.TB) (io.ReadWriteCloser, Link) {
	a, b := net.Pipe()
	return a, NewStream(b, "pipe")
}

func openTLS(t testing.TB) (io.ReadWriteCloser, Link) {
	secret := NewSecret()
	l := listenAs(t, secret, Identity{Node: 5, Session: "s"})
	type result struct {
		link Link
		err  error
	}
	accepted := async(func() result {
		link, _, err := l.Accept(testContext(t))
		return result{link, err}
	})
	a, _, err := Dial(testContext(t), []string{l.Addr()}, 1, secret, Identity{Session: "s"}, 5)
	check(t, err)
	b := await(t, "Accept", accepted)
	check(t, b.err)
	return tlsEnd{a.(*stream)}, b.link
}

// listenAs listens on a free port of the loopback interface.
func listenAs(t testing.TB, secret Secret, self Identity) *Listener {
	t.Helper()
	l, err := NewListener(listen(t, "127.0.0.1:0"), secret, func() Identity { return self })
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// listen opens a port.
func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	check(t, err)
	return l
}

// pipe returns the two ends of an in-memory link.
func pipe() (a, b Link) {
	there, back := newFlow(), newFlow()
	return pipeEnd(back, there), pipeEnd(there, back)
}
