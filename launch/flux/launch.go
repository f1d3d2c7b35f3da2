// A job that flux run starts and whose ranks are held.

package flux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"sdm/launch"
	"sdm/protocol"
)

// Spec says how to start a job.
type Spec struct {
	// Argv is a line of flux run.
	Argv []string
	Env  []string // nil: this process's
	// Stdin, Stdout and Stderr are its standard streams; nil is /dev/null.
	Stdin, Stdout, Stderr *os.File
}

// Launch is a job that flux run starts and whose ranks are held at their first instruction. It is
// a launch.Launcher; its further methods may be called from Acquire on.
//
// Goroutines: one that waits for flux run and ends with it; one for the command of Stop, for which
// End waits.
type Launch struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{} // closed when flux run has ended

	id       ID
	known    bool // id is known
	keeper   *keeper
	stopOnce sync.Once // starts the command of Stop
	group    sync.WaitGroup
}

// New makes a Launch; Acquire starts it.
func New(spec Spec) *Launch { return &Launch{spec: spec, done: make(chan struct{})} }

// Time limits and intervals.
const (
	patience    = 3 * time.Second  // after which say is called
	commandTime = 10 * time.Second // of one command of Flux
	firstLook   = 5 * time.Millisecond
	lastLook    = 250 * time.Millisecond
	explainTime = time.Second // for flux run to report why its job has failed
)

// Acquire implements launch.Launcher. The error is an *Ended if flux run has ended before its ranks
// were held.
func (l *Launch) Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error) {
	argv, err := Held(l.spec.Argv)
	if err != nil {
		return nil, err
	}
	if err := l.start(argv); err != nil {
		return nil, err
	}
	// The end of flux run ends the wait, too.
	early, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(fmt.Errorf("flux run has not started its job: %w", context.Cause(ctx))) })()
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel(nil)
	group.Go(func() {
		select {
		case <-l.done:
			cancel(&Ended{l.cmd.ProcessState.Sys().(syscall.WaitStatus)})
		case <-early.Done():
		}
	})
	quiet := time.AfterFunc(patience, func() {
		say("waiting for flux run to start its job (it may be queued; Ctrl-C gives up)")
	})
	defer quiet.Stop()
	table, err := l.held(early)
	if err != nil && context.Cause(early) == nil { // the job has failed, and flux run tells why
		select {
		case <-early.Done():
		case <-time.After(explainTime):
		}
	}
	if cause := context.Cause(early); cause != nil {
		err = cause
	}
	return table, err
}

// held waits until the job has an ID and its ranks are held.
func (l *Launch) held(ctx context.Context) (protocol.Proctable, error) {
	for pause := firstLook; !l.known; pause = min(2*pause, lastLook) {
		l.id, l.known = Of(l.cmd.Process.Pid)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if _, err := launch.Ask(ctx, l.spec.Env, waitHeld(l.id)); err != nil {
		return nil, err
	}
	return Ranks(ctx, l.spec.Env, l.id)
}

// start starts flux run in a session of its own, so that Ctrl-C reaches only this process, and its
// keeper.
func (l *Launch) start(argv []string) error {
	l.cmd = exec.Command(argv[0], argv[1:]...)
	l.cmd.Env = l.spec.Env
	if l.spec.Stdin != nil {
		l.cmd.Stdin = l.spec.Stdin
	}
	if l.spec.Stdout != nil {
		l.cmd.Stdout = l.spec.Stdout
	}
	if l.spec.Stderr != nil {
		l.cmd.Stderr = l.spec.Stderr
	}
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := l.cmd.Start(); err != nil {
		l.cmd = nil
		return fmt.Errorf("start flux run: %w", err)
	}
	go func() {
		defer close(l.done)
		l.cmd.Wait() // the result is in ProcessState
	}()
	var err error
	l.keeper, err = startKeeper(l.spec.Env, l.cmd.Process.Pid)
	return err
}

// JobID returns the ID of the job.
func (l *Launch) JobID() string { return l.id.String() }

// ID returns the ID of the job.
func (l *Launch) ID() ID { return l.id }

// StarterPID returns the process id of flux run.
func (l *Launch) StarterPID() int { return l.cmd.Process.Pid }

// Release implements launch.Launcher: ranks to which no gdb is attached continue at once, those
// with one when it lets them.
func (l *Launch) Release() error { return l.command(signal(l.id, "CONT")) }

// command runs a command of Flux with a time limit.
func (l *Launch) command(line []string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), commandTime, fmt.Errorf("no answer in %v", commandTime))
	defer cancel()
	_, err := launch.Ask(ctx, l.spec.Env, line)
	return err
}

// Done returns a channel that is closed when flux run has ended.
func (l *Launch) Done() <-chan struct{} { return l.done }

// Status waits for the end of flux run and returns its exit status as a shell gives it, which is
// the job's: 128 plus the signal number if a signal has ended it.
func (l *Launch) Status() int {
	<-l.done
	if w := l.cmd.ProcessState.Sys().(syscall.WaitStatus); w.Signaled() {
		return 128 + int(w.Signal())
	}
	return l.cmd.ProcessState.ExitCode()
}

// Stop kills the ranks of the job; it does not wait. SIGTERM would wait for stopped ranks, and
// flux run would forward it to them.
func (l *Launch) Stop() {
	if !l.known {
		return
	}
	l.stopOnce.Do(func() { l.group.Go(func() { l.command(signal(l.id, "KILL")) }) })
}

// stopWait is how long a job may take to end after its ranks were killed, before it is cancelled.
const stopWait = 3 * time.Second

// End implements launch.Launcher: the ranks are killed, then the job is cancelled, and flux run is
// killed when ctx ends.
func (l *Launch) End(ctx context.Context) error {
	if l.cmd == nil {
		return nil
	}
	defer l.keeper.dismiss()
	defer l.group.Wait()
	select {
	case <-l.done:
		if l.cmd.ProcessState.Exited() {
			return nil // the job has ended, too
		}
	default:
	}
	if !l.known {
		l.id, l.known = Of(l.cmd.Process.Pid)
	}
	l.Stop()
	if !l.known {
		l.cmd.Process.Signal(syscall.SIGTERM) // it has not submitted the job, or has ended
	}
	late := time.NewTimer(stopWait)
	defer late.Stop()
	select {
	case <-l.done:
		return nil
	case <-late.C:
	case <-ctx.Done():
	}
	if l.known {
		l.command(cancel(l.id))
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
	}
	l.cmd.Process.Kill() // it would forward other signals to the job
	<-l.done
	return fmt.Errorf("job %v of Flux did not end in time (flux cancel %v)", l.id, l.id)
}

// Ended is the error that flux run has ended before the ranks of its job were held.
type Ended struct{ Status syscall.WaitStatus }

func (e *Ended) Error() string {
	if e.Status.Signaled() {
		return fmt.Sprintf("flux run was ended by a signal (%s) before its ranks were there", e.Status.Signal())
	}
	return "flux run has ended with status " + strconv.Itoa(e.Status.ExitStatus()) + " before its ranks were there"
}
