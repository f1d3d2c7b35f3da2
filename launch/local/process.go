package local

import (
	"io"
	"os"
	"syscall"

	"sdm/protocol"
)

// Process is one rank that a Forker started. Its streams belong to the caller,
// who closes them; they are nil where the Spec asked for none. They do not
// block in the kernel: deadlines and SyscallConn work.
type Process struct {
	PID     int
	Program string // the file that was executed
	Stdin   io.WriteCloser
	Stdout  *os.File
	Stderr  *os.File

	done chan struct{} // closed by the reaper
	exit protocol.Exit // set before
	code int           // as exit, as a shell gives it
}

// Wait returns when the process has ended and is reaped. Any number of callers
// may wait.
func (p *Process) Wait() protocol.Exit {
	<-p.done
	return p.exit
}

// Status is Wait in the form that a shell gives: the exit code, or 128 and the
// number of the signal.
func (p *Process) Status() int {
	<-p.done
	return p.code
}

// Done is closed when the process has ended and is reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the process alone, as a starter would.
func (p *Process) Signal(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		syscall.Kill(p.PID, sig)
	}
}

// Kill ends the process and its group, in whatever state they are; a stopped
// or traced one too. Once the process is reaped it does nothing: the number may
// belong to somebody else by then.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		syscall.Kill(-p.PID, syscall.SIGKILL)
	}
}
