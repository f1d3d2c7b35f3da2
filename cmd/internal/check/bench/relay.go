// The bare relay: a process with bare gdbs at the other end of a socket pair. It passes a request
// on to all of them and returns all answers together, unread. sdm-server does the same, and also
// parses and merges.
//
// A request is a line: the name of a round, the number of ranks, the number of repetitions (0:
// once, and the answers are returned; otherwise the median time), and an argument.

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// relay is the near end: the process that makes requests.
type relay struct {
	cmd  *exec.Cmd
	conn net.Conn
	in   *bufio.Reader
	buf  []byte
}

// startRelay starts the far end, which is this program, and waits until its ranks have stopped in
// main. Each gdb has at most per ranks.
func startRelay(ranks, per int, line ...string) *relay {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		fatal("relay", err)
	}
	far := os.NewFile(uintptr(fds[1]), "relay")
	self, err := os.Executable()
	if err != nil {
		fatal("relay", err)
	}
	cmd := exec.Command(self, append([]string{"relay", strconv.Itoa(ranks), strconv.Itoa(per)}, line...)...)
	cmd.ExtraFiles, cmd.Stderr = []*os.File{far}, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as servers: scheduled by session
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

// ask makes one round trip: a round on the first ranks.
func (r *relay) ask(round string, ranks int, argument string) []byte {
	return r.say(round, ranks, 0, argument)
}

// loop lets the far end repeat the round by itself and returns its median time: what a program
// without any hop would take.
func (r *relay) loop(round string, ranks, times int, argument string) time.Duration {
	took, err := strconv.ParseInt(string(r.say(round, ranks, times, argument)), 10, 64)
	if err != nil {
		fatal("relay", err)
	}
	return time.Duration(took)
}

// say sends a request and returns the answer.
func (r *relay) say(round string, ranks, times int, argument string) []byte {
	if _, err := fmt.Fprintf(r.conn, "%s %d %d %s\n", round, ranks, times, argument); err != nil {
		fatal("relay", err)
	}
	return r.answer()
}

// answer waits for an answer, which is valid until the next one.
func (r *relay) answer() []byte {
	var err error
	if r.buf, err = readPacket(r.in, r.buf); err != nil {
		fatal("relay", err)
	}
	return r.buf[4:]
}

// close ends the far end.
func (r *relay) close() {
	r.conn.Close()
	r.cmd.Wait()
}

// serveRelay is the far end, in a process that was started as `relay`.
func serveRelay(args []string) {
	set := startBare(args[2:], atoi(args[0]), atoi(args[1]))
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
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		n, times := atoi(words[1]), atoi(words[2])
		do := rounds[words[0]]
		if answer = answer[:4]; times > 0 {
			took := timed(func() { do(set, n, words[3], nil) })(times)
			answer = strconv.AppendInt(answer, int64(took), 10)
			continue
		}
		do(set, n, words[3], func(line []byte) { answer = append(answer, line...) })
	}
}

// atoi reads a number that the near end has written.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		fatal("relay", err)
	}
	return n
}
