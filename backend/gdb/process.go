// One gdb process and its streams.

package gdb

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/backend/gdb/debugger"
)

// process is a running gdb. Only the loop uses it. Nothing in it blocks.
type process struct {
	pid    int
	pidfd  int // readable after the process has ended
	stdin  int
	stdout int
	stderr int

	unsent []byte // what the pipe has not accepted yet
	errors debugger.ErrorTail
}

const (
	// maxUnsent bounds the bytes that wait for a gdb that does not read. Commands for a gdb
	// that hangs are refused long before; see busy in package debugger.
	maxUnsent = 4 << 20
)

var errDoesNotRead = errors.New("gdb does not read its commands")

// write sends b now or, if the pipe is full, when poll reports room (flush). left
// reports whether bytes wait.
func (p *process) write(b []byte) (left bool, err error) {
	if len(p.unsent)+len(b) > maxUnsent {
		return true, errDoesNotRead
	}
	if len(p.unsent) > 0 {
		p.unsent = append(p.unsent, b...)
		return true, nil
	}
	n := p.send(b)
	if n < len(b) {
		p.unsent = append(p.unsent, b[n:]...)
	}
	return n < len(b), nil
}

func (p *process) flush() (left bool) {
	n := p.send(p.unsent)
	p.unsent = p.unsent[n:]
	if len(p.unsent) == 0 {
		p.unsent = nil
	}
	return p.unsent != nil
}

// send writes bytes to the pipe and returns how many it has accepted. Bytes for a gdb that
// has ended count as accepted: its pidfd reports the end.
func (p *process) send(b []byte) int {
	sent := 0
	for sent < len(b) {
		n, err := write(p.stdin, b[sent:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return sent
		case err != nil:
			return len(b)
		default:
			sent += n
		}
	}
	return sent
}

// read returns up to len(buf) bytes, or none if there are none now; over reports the
// end of the stream.
func (p *process) read(fd int, buf []byte) (b []byte, over bool) {
	for {
		n, err := read(fd, buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return nil, false
		case err != nil || n == 0:
			return nil, true
		default:
			return buf[:n], false
		}
	}
}

// reap waits for the ended process and returns how it ended.
func (p *process) reap() debugger.End {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(p.pid, &status, 0, nil)
		if err != unix.EINTR {
			break
		}
	}
	text := fmt.Sprintf("exit status %d", status.ExitStatus())
	if status.Signaled() {
		text = "killed by " + unix.SignalName(status.Signal())
	}
	if lines := p.errors.Text(); lines != "" {
		text += ": " + lines
	}
	return debugger.End{Cause: text, Crashed: status.Signaled() || status.ExitStatus() > 128,
		Killed: status.Signal() == unix.SIGKILL || status.ExitStatus() == 128+int(unix.SIGKILL)}
}

// signal reaches gdb and the processes that it started, like a terminal: SIGINT must
// reach a shell command that does not end. It never reaches another process: the
// process is not reaped before its pidfd is closed.
func (p *process) signal(sig syscall.Signal) { unix.Kill(-p.pid, sig) }

// kill kills gdb and the processes that it started.
func (p *process) kill() { unix.Kill(-p.pid, unix.SIGKILL) }

// close closes the descriptors.
func (p *process) close() {
	for _, fd := range []*int{&p.stdin, &p.stdout, &p.stderr, &p.pidfd} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}
