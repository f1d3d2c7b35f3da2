// The bare relay: a process that holds bare gdbs at the other end of a socket
// pair. It passes a request on to all of them and sends all answers back
// together, unread. sdm-server does the same and parses and merges besides.

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// relay is the near end.
type relay struct {
	cmd  *exec.Cmd
	conn net.Conn
	in   *bufio.Reader
	buf  []byte
}

// startRelay starts the far end, this program itself, and waits until all its
// ranks stand in main.
func startRelay(program string, ranks int) *relay {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		fatal("relay", err)
	}
	far := os.NewFile(uintptr(fds[1]), "relay")
	self, err := os.Executable()
	if err != nil {
		fatal("relay", err)
	}
	cmd := exec.Command(self, "relay", program, strconv.Itoa(ranks))
	cmd.ExtraFiles, cmd.Stderr = []*os.File{far}, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as servers are: Linux shares processors out by session
	if err := cmd.Start(); err != nil {
		fatal("relay", err)
	}
	far.Close()
	near := os.NewFile(uintptr(fds[0]), "relay")
	conn, err := net.FileConn(near)
	if err != nil {
		fatal("relay", err)
	}
	near.Close()
	r := &relay{cmd: cmd, conn: conn, in: bufio.NewReader(conn)}
	r.answer()
	return r
}

// ask is one round trip: an expression on the first ranks.
func (r *relay) ask(ranks int, expr string) {
	r.say("ask", ranks, 0, expr)
}

// loop has the far end do it by itself and tells its median round, which is
// what a program without any hop would take.
func (r *relay) loop(ranks, rounds int, expr string) time.Duration {
	took, err := strconv.ParseInt(string(r.say("loop", ranks, rounds, expr)), 10, 64)
	if err != nil {
		fatal("relay", err)
	}
	return time.Duration(took)
}

func (r *relay) say(what string, ranks, rounds int, expr string) []byte {
	if _, err := fmt.Fprintf(r.conn, "%s %d %d %s\n", what, ranks, rounds, expr); err != nil {
		fatal("relay", err)
	}
	return r.answer()
}

func (r *relay) answer() []byte {
	var err error
	if r.buf, err = readPacket(r.in, r.buf); err != nil {
		fatal("relay", err)
	}
	return r.buf[4:]
}

func (r *relay) close() {
	r.conn.Close()
	r.cmd.Wait()
}

// serveRelay is the far end: the whole program when started as `relay`.
func serveRelay(args []string) {
	ranks, err := strconv.Atoi(args[1])
	if err != nil {
		fatal("relay", err)
	}
	set := startBare(args[0], ranks)
	defer set.close()
	conn, err := net.FileConn(os.NewFile(3, "link"))
	if err != nil {
		fatal("relay", err)
	}
	in := bufio.NewReader(conn)
	answer := make([]byte, 4, 64<<10)
	for {
		binary.BigEndian.PutUint32(answer[:4], uint32(len(answer)-4))
		if _, err := conn.Write(answer); err != nil {
			return
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var what, expr string
		var n, rounds int
		if _, err := fmt.Sscan(line, &what, &n, &rounds, &expr); err != nil {
			fatal("relay", err)
		}
		if answer = answer[:4]; what == "loop" {
			took := timed(func() { set.evaluate(n, expr, func([]byte) {}) })(rounds)
			answer = strconv.AppendInt(answer, int64(took), 10)
			continue
		}
		set.evaluate(n, expr, func(line []byte) { answer = append(answer, line...) })
	}
}
