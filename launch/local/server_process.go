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

// LetGo is what a server writes to stderr, and then closes it, when the session
// is over but ranks that the person detached from run on: it stays their parent
// until they end, and nobody needs to wait for it.
const LetGo = "ranks that were let go run on\n"

// lastWords is how long the end of stderr may come after the end of a server:
// somebody below it may have the descriptor too.
const lastWords = 100 * time.Millisecond

// serverProcess is one server. It has two goroutines, one that reads its stderr
// and one that waits for it; both end with the process.
type serverProcess struct {
	cmd      *exec.Cmd
	lifeline *os.File // write end of descriptor 4, nil with a socket pair
	stderr   *tail
	woken    bool          // it had been stopped
	silent   chan struct{} // closed when stderr is
	done     chan struct{} // closed when the process is reaped
	err      error         // set before; nil is a good end
}

// startServer starts it; it takes the lifeline over, also when it fails.
func startServer(cmd *exec.Cmd, lifeline *os.File) (*serverProcess, error) {
	p := &serverProcess{
		cmd: cmd, lifeline: lifeline, stderr: &tail{},
		silent: make(chan struct{}), done: make(chan struct{}),
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
		p.cut()
		return nil, err
	}
	go func() {
		defer close(p.silent)
		io.Copy(p.stderr, r)
	}()
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
		select {
		case <-p.silent:
		case <-time.After(lastWords):
		}
		r.Close()
		<-p.silent
	}()
	return p, nil
}

// wait returns when the process has ended or may be left alone; it kills it when
// ctx ends first.
func (p *serverProcess) wait(ctx context.Context) error {
	select {
	case <-p.silent:
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
	case <-p.done: // at the same time
		return p.err
	default:
	}
	p.cmd.Process.Kill()
	<-p.done
	return fmt.Errorf("%w in time, and was killed with its ranks and gdbs", ErrHung)
}

// wake lets a server run on that somebody has stopped.
func (p *serverProcess) wake() {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if _, state, ok := bytes.Cut(stat, []byte(") ")); err == nil && ok && bytes.HasPrefix(state, []byte("T")) {
		p.woken = p.cmd.Process.Signal(syscall.SIGCONT) == nil
	}
}

// cut lets the server see that we are gone.
func (p *serverProcess) cut() {
	if p.lifeline != nil {
		p.lifeline.Close()
	}
}
