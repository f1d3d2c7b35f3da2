// One rank that was started here.

package local

import (
	"io"
	"os"
	"syscall"

	"sdm/protocol"
)

// Process is one rank that a Forker started. The caller owns and closes its streams; they are nil
// if the Spec asked for none. They are non-blocking: deadlines and SyscallConn work.
type Process struct {
	PID     int
	Program string // the file that was executed
	Stdin   io.WriteCloser
	Stdout  *os.File
	Stderr  *os.File

	done chan struct{} // closed by the reaper
	exit protocol.Exit // set before done is closed
	code int           // exit status as a shell gives it; set before done is closed
}

// Wait returns when the process has ended and has been waited for. Several goroutines may call it.
func (p *Process) Wait() protocol.Exit {
	<-p.done
	return p.exit
}

// Status is like Wait, but returns the exit status as a shell gives it: the exit code, or 128 plus
// the signal number.
func (p *Process) Status() int {
	<-p.done
	return p.code
}

// Done returns a channel that is closed when the process has ended and has been waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the process only, not to its group, as a starter does.
func (p *Process) Signal(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		syscall.Kill(p.PID, sig)
	}
}

// Kill kills the process and its group in any state, also stopped or traced. It does nothing once
// the process has been waited for: another process may then have the number.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		syscall.Kill(-p.PID, syscall.SIGKILL)
	}
}
