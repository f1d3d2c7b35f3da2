// The process of prterun or mpirun.

package pmix

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// starter is a running starter: a Starter, or one that libpmix has started.
type starter interface {
	Done() <-chan struct{}         // closed when it has ended
	Status() int                   // waits for that; as a shell gives it
	Stop()                         // tells it to end its job; only the first call does something
	isKnown() bool                 // waits for that; false: the exit status is not known, and Status returns 0
	end(ctx context.Context) error // tells it to end, and kills it when ctx ends
	process() int                  // process id; 0: it is not known
	called() string                // name for users
	early() error                  // an *Ended; it is called after Done is closed
}

// Starter is a running command: prterun, or mpirun of Open MPI from release 5 on.
//
// Goroutine: one that waits for its end.
type Starter struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	told sync.Once // for Stop
}

// StarterSpec says how to start one.
type StarterSpec struct {
	Argv []string
	Env  []string
	// Stdin, Stdout and Stderr are its standard streams; nil is /dev/null.
	Stdin, Stdout, Stderr *os.File
}

// start starts the command in a session of its own: signals of the terminal are for sdm.
func (s *StarterSpec) start() (*Starter, error) {
	r := &Starter{name: filepath.Base(s.Argv[0]), cmd: exec.Command(s.Argv[0], s.Argv[1:]...), done: make(chan struct{})}
	r.cmd.Env = s.Env
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.Stdin != nil {
		r.cmd.Stdin = s.Stdin
	}
	if s.Stdout != nil {
		r.cmd.Stdout = s.Stdout
	}
	if s.Stderr != nil {
		r.cmd.Stderr = s.Stderr
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(r.done)
		r.cmd.Wait() // the result is in ProcessState
	}()
	return r, nil
}

// Done returns a channel that is closed when the starter has ended.
func (r *Starter) Done() <-chan struct{} { return r.done }

// Status waits for the end of the starter and returns its exit status as a shell gives it: 128
// plus the signal number if a signal has ended it.
func (r *Starter) Status() int {
	<-r.done
	if w, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return r.cmd.ProcessState.ExitCode()
}

// Stop tells the starter to end its job (SIGTERM). A second call does nothing: on a second SIGTERM
// it exits without cleaning up. After its end, when its process ID may belong to another process, it does nothing.
func (r *Starter) Stop() {
	r.told.Do(func() { r.cmd.Process.Signal(syscall.SIGTERM) })
}

// end tells the starter to end, and kills it when ctx ends.
func (r *Starter) end(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	default:
	}
	r.Stop()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	}
	syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	<-r.done
	return fmt.Errorf("%s did not end in time, and was killed", r.name)
}

func (r *Starter) isKnown() bool { return true }

func (r *Starter) process() int { return r.cmd.Process.Pid }

func (r *Starter) called() string { return r.name }

func (r *Starter) early() error { return &Ended{r.name, r.cmd.ProcessState.String()} }

// Ended is the error that a starter has ended before its ranks were held. It has said why.
type Ended struct {
	Starter string
	State   string // "exit status 1"
}

func (e *Ended) Error() string {
	return fmt.Sprintf("%s has ended before its ranks were held: %s", e.Starter, e.State)
}
