// Jobs whose starter runs under control, with ranks that are held.

package mpir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/protocol"
)

// Spec says how to start a starter.
type Spec struct {
	// Argv is the command: the starter, or a script that calls it.
	Argv []string
	// Front says that the command runs the starter, and ends with it: timeout 100 mpirun.
	Front bool
	Env   []string // nil: this process's
	// Stdin, Stdout and Stderr are its standard streams; nil is /dev/null.
	Stdin, Stdout, Stderr *os.File
	// Names are programs known as starters (mpirun; suffixes after a dot are ignored). If one of
	// them has no MPIR, Acquire gives up at once with a *NoMPIR. Other programs may still call a
	// starter.
	Names []string
	// Prepare may write into the starter's memory before its first instruction; see CoLaunch.
	// Another goroutine calls it before Acquire returns.
	Prepare func(Memory)
}

// NoMPIR is the error that a known starter has no MPIR. Nothing of its job was started.
type NoMPIR struct {
	Starter string
	Called  bool // the command calls it; false: it is the command
}

func (m *NoMPIR) Error() string {
	return fmt.Sprintf("%s offers debuggers no MPIR interface (Open MPI's mpirun does up to release 4, if it was not stripped of its symbols)", m.Starter)
}

// Launch is a job whose starter this process starts. It is a launch.Launcher.
//
// Its goroutine starts and traces the starter, which is a child of its locked thread, and waits for
// it; the goroutine ends when the starter has ended. A keeper ends the starter if this process is
// killed.
type Launch struct {
	spec     Spec
	arrived  chan arrival  // one value, from the goroutine
	released chan struct{} // closed by Release or End: the starter may continue, now or when it stops
	letGo    sync.Once     // closes released
	done     chan struct{} // closed when the starter has been waited for
	root     chan int      // one value: the process id of the command
	pid      int
	held     bool // the starter is stopped at MPIR_Breakpoint, or was
	starter  *process
	stopOnce sync.Once // sends the SIGTERM of Stop
	status   syscall.WaitStatus
}

// arrival reports that the starter has stopped at MPIR_Breakpoint, or the error if it will not.
type arrival struct {
	starter *process
	err     error
}

// New makes a Launch; Acquire starts it.
func New(spec Spec) *Launch {
	return &Launch{
		spec: spec, arrived: make(chan arrival, 1), released: make(chan struct{}),
		done: make(chan struct{}), root: make(chan int, 1),
	}
}

// patience is how long a launch may take before say is called.
const patience = 3 * time.Second

// Acquire implements launch.Launcher. The error is a *NoMPIR if the starter has no MPIR, and an
// *Ended if it has ended before there was a job.
func (l *Launch) Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error) {
	keeper, err := startKeeper()
	if err != nil {
		return nil, err
	}
	go onOwnThread(func() {
		defer close(l.done)
		defer keeper.dismiss()
		l.trace(keeper)
	}, nil)
	l.pid = <-l.root
	name := filepath.Base(l.spec.Argv[0])
	quiet := time.NewTimer(patience)
	defer quiet.Stop()
	for {
		select {
		case a := <-l.arrived:
			return l.take(a)
		case <-quiet.C:
			say(fmt.Sprintf("waiting for %s to start its job (it may be queued; Ctrl-C gives up)", name))
		case <-ctx.Done():
			return nil, fmt.Errorf("%s has not started its job: %w", name, context.Cause(ctx))
		}
	}
}

func (l *Launch) take(a arrival) (protocol.Proctable, error) {
	if a.err != nil {
		return nil, a.err
	}
	l.starter, l.held = a.starter, true
	if err := aborted(a.starter); err != nil {
		return nil, err
	}
	table, err := ReadTable(a.starter)
	if err == nil && len(table) == 0 {
		err = errors.New("the starter stands where its ranks should be, but knows of none")
	}
	return table, err
}

// onOwnThread runs f locked to a thread that has no children. f calls wait4(2) for all children of
// its thread; on a thread that has started a server it would take the end of the server from the
// code that waits for it. The thread is never unlocked: ptrace and parent-death signals are bound
// to it. locked, unless nil, is closed when the goroutine is locked to a thread.
func onOwnThread(f func(), locked chan<- struct{}) {
	runtime.LockOSThread()
	if locked != nil {
		close(locked)
	}
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|waitMine, nil); err == unix.ECHILD {
		f()
		return
	}
	next := make(chan struct{})
	go onOwnThread(f, next)
	<-next // the new goroutine runs on another thread, because this one is locked
	runtime.UnlockOSThread()
}

// trace is the goroutine of the Launch. It calls all functions of the tracer.
func (l *Launch) trace(k *keeper) {
	t := &tracer{spec: l.spec, keeper: k}
	err := t.start()
	if t.root != 0 {
		k.setStarter(t.root)
	}
	l.root <- t.root
	held := 0
	if err == nil {
		held, err = t.run()
	}
	if errors.Is(err, errEnded) {
		err = &Ended{Starter: filepath.Base(l.spec.Argv[0]), Status: t.status}
		l.status = t.status
		l.arrived <- arrival{err: err}
		return
	}
	if err != nil {
		if t.root != 0 {
			t.abandon()
			t.reap()
		}
		l.status = t.status
		l.arrived <- arrival{err: err}
		return
	}
	t.halt()
	t.removeBreakpoints(held)
	l.arrived <- arrival{starter: t.starter}
	<-l.released
	t.release()
	t.reap()
	t.starter.close()
	l.status = t.status
}

// JobID returns the job's name for tools: MPIR_job_id, srun's totalview_jobid, or the starter's
// process id.
func (l *Launch) JobID() string { return identify(l.starter) }

// StarterPID returns the process id of the starter itself, which may be a descendant of the
// command.
func (l *Launch) StarterPID() int { return l.starter.pid }

// Release implements launch.Launcher.
func (l *Launch) Release() error {
	if l.held {
		l.letGo.Do(func() { close(l.released) })
	}
	return nil
}

// Done returns a channel that is closed when the starter has ended.
func (l *Launch) Done() <-chan struct{} { return l.done }

// Status waits for the end of the starter and returns its exit status as a shell gives it: 128
// plus the signal number if a signal has ended it.
func (l *Launch) Status() int {
	<-l.done
	if l.status.Signaled() {
		return 128 + int(l.status.Signal())
	}
	return l.status.ExitStatus()
}

// Stop tells the starter to end its job (SIGTERM); it does not wait. A second call does nothing:
// on a second SIGTERM Open MPI's starter exits without cleaning up. So with Spec.Front only the starter gets
// the signal, once it is known: timeout would pass it on.
func (l *Launch) Stop() {
	to := -l.pid
	if l.spec.Front && l.starter != nil {
		to = l.starter.pid
	}
	if l.pid != 0 {
		l.stopOnce.Do(func() { syscall.Kill(to, syscall.SIGTERM) })
	}
}

// End implements launch.Launcher: the starter gets SIGTERM, and SIGKILL when ctx ends.
func (l *Launch) End(ctx context.Context) error {
	if l.pid == 0 {
		return nil
	}
	select {
	case <-l.done:
		return nil
	default:
	}
	l.Stop()
	l.letGo.Do(func() { close(l.released) }) // it may stop at MPIR_Breakpoint after Acquire has given up
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
	}
	syscall.Kill(-l.pid, syscall.SIGKILL)
	syscall.Kill(l.pid, syscall.SIGKILL)
	<-l.done
	return fmt.Errorf("%s did not end in time, and was killed", filepath.Base(l.spec.Argv[0]))
}

// Ended is the error that a starter has ended before it had a job.
type Ended struct {
	Starter string
	Status  syscall.WaitStatus
}

func (e *Ended) Error() string {
	switch {
	case e.Status.Signaled():
		return fmt.Sprintf("%s was ended by a signal (%s) before its job was there", e.Starter, e.Status.Signal())
	case e.Status.ExitStatus() != 0:
		return fmt.Sprintf("%s has ended with status %d before its job was there", e.Starter, e.Status.ExitStatus())
	}
	return e.Starter + " has ended, and has started no job that offers MPIR"
}
