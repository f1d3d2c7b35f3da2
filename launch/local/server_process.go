// One sdm-server that was started here.

package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// LetGo is what a server writes to stderr before it closes it, when the session is over but
// detached ranks run on. The server stays their parent until they end, and does not need to be
// waited for.
const LetGo = "ranks that were let go run on\n"

// errorTail is how long to wait for the end of stderr after the end of a server: a descendant may
// have the descriptor too.
const errorTail = 100 * time.Millisecond

// serverProcess is one server. It has two goroutines: one reads its stderr, one waits for it. Both
// end with the process.
type serverProcess struct {
	cmd       *exec.Cmd
	keyPipe   *os.File // write end of the pipe that the server has as descriptor 4; nil with socket pairs
	stderr    *tail
	woken     bool          // it was stopped, and has been continued
	stderrEnd chan struct{} // closed at the end of stderr
	done      chan struct{} // closed when the process has been waited for
	err       error         // set before done is closed; nil: exit status 0
}

// startServer starts cmd. It takes ownership of keyPipe, also when it fails.
func startServer(cmd *exec.Cmd, keyPipe *os.File) (*serverProcess, error) {
	p := &serverProcess{
		cmd: cmd, keyPipe: keyPipe, stderr: &tail{},
		stderrEnd: make(chan struct{}), done: make(chan struct{}),
	}
	r, w, err := os.Pipe()
	if err == nil {
		cmd.Stderr = w
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = cmd.Start()
		w.Close()
		if err != nil {
			r.Close()
		}
	}
	if err != nil {
		p.closeKeyPipe()
		return nil, err
	}
	go func() {
		defer close(p.stderrEnd)
		io.Copy(p.stderr, r)
	}()
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
		select {
		case <-p.stderrEnd:
		case <-time.After(errorTail):
		}
		r.Close()
		<-p.stderrEnd
	}()
	return p, nil
}

// wait returns when the process has ended or may be left running (LetGo). It kills the process if
// ctx ends first.
func (p *serverProcess) wait(ctx context.Context) error {
	select {
	case <-p.stderrEnd:
		if p.stderr.endsWith(LetGo) {
			return nil
		}
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
	}
	select {
	case <-p.done: // it ended at the same time as ctx
		return p.err
	default:
	}
	p.cmd.Process.Kill()
	<-p.done
	return fmt.Errorf("%w in time, and was killed with its gdbs and the ranks that it had started", ErrHung)
}

// wake continues a server that has been stopped by a signal.
func (p *serverProcess) wake() {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if _, state, ok := bytes.Cut(stat, []byte(") ")); err == nil && ok && bytes.HasPrefix(state, []byte("T")) {
		p.woken = p.cmd.Process.Signal(syscall.SIGCONT) == nil
	}
}

// closeKeyPipe closes the pipe, which tells a server without a parent that this process no longer
// needs it.
func (p *serverProcess) closeKeyPipe() {
	if p.keyPipe != nil {
		p.keyPipe.Close()
	}
}
