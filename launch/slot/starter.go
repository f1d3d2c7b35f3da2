// The process of a starter.

package slot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Starter is a running starter: mpirun, srun and the like.
//
// Goroutine: one that waits for the process and ends with it.
type Starter struct {
	name  string
	cmd   *exec.Cmd
	group bool
	done  chan struct{}
}

// Spec says how to start a starter.
type Spec struct {
	Argv []string
	Env  []string // nil: this process's
	// Stdin, Stdout and Stderr are its standard streams; nil is /dev/null.
	Stdin, Stdout, Stderr *os.File
	// Group says that Argv begins with another program (a shell, time) that runs the starter, which a signal to
	// that program would not reach.
	Group bool
}

// Start starts a starter in a session of its own, so that Ctrl-C reaches only this process.
func Start(spec Spec) (*Starter, error) {
	s := &Starter{name: filepath.Base(spec.Argv[0]), cmd: exec.Command(spec.Argv[0], spec.Argv[1:]...), group: spec.Group,
		done: make(chan struct{})}
	s.cmd.Env = spec.Env
	for _, f := range []struct {
		file *os.File
		set  func(*os.File)
	}{
		{spec.Stdin, func(f *os.File) { s.cmd.Stdin = f }},
		{spec.Stdout, func(f *os.File) { s.cmd.Stdout = f }},
		{spec.Stderr, func(f *os.File) { s.cmd.Stderr = f }},
	} {
		if f.file != nil {
			f.set(f.file)
		}
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.name, err)
	}
	go func() {
		defer close(s.done)
		s.cmd.Wait() // the result is in ProcessState
	}()
	return s, nil
}

// Done returns a channel that is closed when the starter has ended.
func (s *Starter) Done() <-chan struct{} { return s.done }

// PID returns the process id of the starter.
func (s *Starter) PID() int { return s.cmd.Process.Pid }

// Status waits for the end of the starter and returns its exit status as a shell gives it: 128
// plus the signal number if a signal has ended it.
func (s *Starter) Status() int {
	<-s.done
	w, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.cmd.ProcessState.ExitCode()
}

// Ended is the error that a starter has ended unexpectedly.
type Ended struct {
	Starter string
	State   *os.ProcessState
}

func (e *Ended) Error() string {
	w, ok := e.State.Sys().(syscall.WaitStatus)
	switch {
	case ok && w.Signaled():
		return fmt.Sprintf("%s was ended by a signal (%s)", e.Starter, w.Signal())
	case e.State.ExitCode() != 0:
		return fmt.Sprintf("%s has ended with status %d", e.Starter, e.State.ExitCode())
	}
	return e.Starter + " has ended"
}

// Ended waits for the end of the starter and returns an *Ended.
func (s *Starter) Ended() error {
	<-s.done
	return &Ended{s.name, s.cmd.ProcessState}
}

// termTime is how long a starter may take to end its job after SIGTERM.
const termTime = 10 * time.Second

// End waits for the end of the starter, which ends when all slots have. When ctx ends the starter
// gets SIGTERM (with Spec.Group its process group), and after termTime its process group is killed.
func (s *Starter) End(ctx context.Context) {
	select {
	case <-s.done:
		return
	case <-ctx.Done():
	}
	if s.group {
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) // it leads a group, and has not been waited for
	} else {
		s.cmd.Process.Signal(syscall.SIGTERM)
	}
	alarm := time.NewTimer(termTime)
	defer alarm.Stop()
	select {
	case <-s.done:
	case <-alarm.C:
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
	}
}
