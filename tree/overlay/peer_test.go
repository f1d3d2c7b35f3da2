// A peer in a process of its own, for benchmarks: two loops in one process share a
// scheduler and wake each other up at less cost than real neighbours do.

package overlay

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"sdm/protocol/wire"
)

// peerVariable is the environment variable that makes the test program a peer of
// the given kind. The link is on descriptor 3.
const peerVariable = "SDM_OVERLAY_TEST_PEER"

// peerSecret is known to both processes.
var peerSecret = Secret{1}

// runPeer is the main function of a peer.
func runPeer(kind string) {
	conn, err := net.FileConn(os.NewFile(3, "link"))
	if err != nil {
		panic(err)
	}
	link := NewStream(conn, "fd 3").(*stream)
	var raw io.ReadWriter = conn
	if conn.LocalAddr().Network() == "tcp" {
		own, err := newCredentials(peerSecret, forLinks)
		if err != nil {
			panic(err)
		}
		link = accepted(conn, own, func() {})
		raw = link.tls
	}
	switch kind {
	case "bare":
		forward(raw)
	case "loop":
		NewLoop(LoopConfig{Node: &relay{}, Parent: link}).Run(context.Background())
	}
}

// forward sends packets back unchanged.
func forward(rw io.ReadWriter) {
	in, buf := bufio.NewReader(rw), make([]byte, 4096)
	for {
		p, err := readBare(in, buf)
		if err != nil {
			return
		}
		if _, err := rw.Write(p); err != nil {
			return
		}
	}
}

// startPeer starts a peer and returns the other end of its link. stop ends it and
// returns the processor time that it has used.
func startPeer(b *testing.B, kind string, overTCP bool) (conn io.ReadWriter, stop func() time.Duration) {
	b.Helper()
	ours, theirs := socketPairConns(b)
	if overTCP {
		ours, theirs = tcpConns(b)
	}
	f, err := theirs.(interface{ File() (*os.File, error) }).File()
	check(b, err)
	theirs.Close()
	self, err := os.Executable()
	check(b, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), peerVariable+"="+kind)
	cmd.ExtraFiles = []*os.File{f}
	cmd.Stderr = os.Stderr
	check(b, cmd.Start())
	f.Close()
	conn, end := io.ReadWriter(ours), ours.Close
	if overTCP {
		own, err := newCredentials(peerSecret, forLinks)
		check(b, err)
		s := dialled(ours, own)
		check(b, s.tls.HandshakeContext(testContext(b)))
		conn, end = s.tls, s.Close
	}
	return conn, func() time.Duration {
		end()
		check(b, cmd.Wait())
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
}

func socketPairConns(b *testing.B) (x, y net.Conn) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	check(b, err)
	conns := [2]net.Conn{}
	for i, fd := range ends {
		f := os.NewFile(uintptr(fd), "link")
		conns[i], err = net.FileConn(f)
		check(b, err)
		f.Close()
	}
	return conns[0], conns[1]
}

func tcpConns(b *testing.B) (x, y net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	defer l.Close()
	x, err = net.Dial("tcp", l.Addr().String())
	check(b, err)
	y, err = l.Accept()
	check(b, err)
	return x, y
}

// BenchmarkProcess measures a request and its answer over a link to another process
// that runs a bare forwarder or a loop. cpu-ns is the other process's own time for
// one packet, its start included.
func BenchmarkProcess(b *testing.B) {
	for _, tr := range []struct {
		name string
		tcp  bool
	}{{"socket pair", false}, {"TCP with TLS", true}} {
		for _, kind := range []string{"bare", "loop"} {
			b.Run(tr.name+"/"+kind, func(b *testing.B) { benchProcess(b, kind, tr.tcp) })
		}
	}
}

func benchProcess(b *testing.B, kind string, overTCP bool) {
	conn, stop := startPeer(b, kind, overTCP)
	m := benchRequest(1)
	p := wire.Append(nil, &m)
	in, buf := bufio.NewReader(conn), make([]byte, 4096)
	ask := func() {
		conn.Write(p)
		if _, err := readBare(in, buf); err != nil {
			b.Fatal(err)
		}
	}
	ask() // wait for the other process
	b.ResetTimer()
	for range b.N {
		ask()
	}
	b.StopTimer()
	b.ReportMetric(float64(stop())/float64(b.N), "cpu-ns/op")
}
