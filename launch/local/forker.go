// Package local starts ranks and servers on this machine.
package local

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"sdm/protocol/rank"
)

// Spec says how one rank is started.
type Spec struct {
	Rank rank.ID // for error texts only
	// Program is a path, or a name that is looked up in the PATH of Env as a shell does. A
	// relative path is relative to Cwd. It is also argv[0].
	Program string
	Args    []string // argv[1:], byte for byte
	Cwd     string   // "" is this process's
	Env     []string // the whole environment, NAME=VALUE, byte for byte
	// Stdin gives the rank a pipe as standard input; otherwise its standard input is /dev/null.
	Stdin bool
	// Through gives the rank the standard streams of this process instead of pipes, for a slot
	// whose output belongs to the starter. Stdin then means the input of this process.
	Through bool
	// TTY gives the rank a pseudo terminal instead of pipes. Process.Stdout is then both of its
	// outputs, and Process.Stderr is nil.
	TTY bool
}

// ErrClosed means that the Forker has been closed.
var ErrClosed = errors.New("the forker is closed")

// Forker starts ranks and holds them before their first instruction.
//
// It owns two goroutines; Close ends both. The first is locked to one OS thread for the life of
// the Forker: ptrace works only from the thread that forked, and the parent-death signal of the
// ranks is sent when that thread ends (prctl(2), PR_SET_PDEATHSIG), so that even kill -9 leaves no
// rank running. The second waits for the ranks. Several goroutines may use a Forker; ranks are
// held one after the other.
type Forker struct {
	work    chan func()
	gate    sync.RWMutex // held for reading by every Hold
	closed  bool
	threads sync.WaitGroup
	reaper  *reaper
	inherit []int
	viaShim bool
}

// NewForker starts a Forker. The ranks get the descriptors inherit under the same numbers (see
// Inherited), and no others except the standard streams.
func NewForker(inherit ...int) *Forker {
	f := &Forker{
		work:    make(chan func()),
		reaper:  newReaper(),
		inherit: inherit,
		viaShim: yamaWantsConsent(),
	}
	f.threads.Go(f.thread)
	f.threads.Go(f.reaper.loop)
	return f
}

// thread never unlocks: the OS thread ends with the goroutine, and the kernel then kills the ranks
// that Close could not kill.
func (f *Forker) thread() {
	runtime.LockOSThread()
	sameAddresses()
	for job := range f.work {
		job()
	}
}

// sameAddresses disables address space randomization for the children of this thread, as gdb does
// (GDB manual, set disable-randomization): code, stack and heap have the same addresses on all
// ranks, equal pointers print equally, and their groups merge. If the kernel does not permit it
// (seccomp in containers), addresses differ and all else works.
func sameAddresses() {
	const ask, addrNoRandomize = 0xffffffff, 0x0040000 // personality(2)
	now, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, ask, 0, 0)
	if errno == 0 {
		unix.RawSyscall(unix.SYS_PERSONALITY, now|addrNoRandomize, 0, 0)
	}
}

// Hold starts a rank and returns when it is stopped before its first instruction: state T, no
// tracer, leader of a process group of its own. The error is a *protocol.Fault of kind launch with
// a hint, or ErrClosed.
func (f *Forker) Hold(spec Spec) (*Process, error) {
	f.gate.RLock()
	defer f.gate.RUnlock()
	if f.closed {
		return nil, ErrClosed
	}
	path, err := resolve(spec)
	if err != nil {
		return nil, err
	}
	streams, err := openStreams(spec)
	if err != nil {
		return nil, launchFault(spec.Program, err, "")
	}
	pid, err := f.holdOnThread(path, spec, streams.child)
	streams.closeChild()
	if err != nil {
		streams.closeParent()
		return nil, explain(err, path, spec)
	}
	p := &Process{
		PID: pid, Program: path,
		Stdin: streams.stdin, Stdout: streams.stdout, Stderr: streams.stderr,
		done: make(chan struct{}),
	}
	f.reaper.add(p)
	return p, nil
}

func (f *Forker) holdOnThread(path string, spec Spec, std [3]int) (pid int, err error) {
	done := make(chan struct{})
	f.work <- func() {
		defer close(done)
		pid, err = f.hold(path, spec, std)
	}
	<-done
	return pid, err
}

// Close kills every live rank with its process group, and returns when all have been waited for. A
// traced rank can be waited for only when its tracer has detached or ended, so end the debuggers
// first. Close may be called more than once.
func (f *Forker) Close() {
	f.gate.Lock()
	defer f.gate.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	f.reaper.killAll()
	close(f.work)
	f.threads.Wait()
}

// yamaWantsConsent reports whether a process must name its tracer beforehand, because the Yama
// security module lets only ancestors attach (Linux Documentation/admin-guide/LSM/Yama.rst,
// ptrace_scope 1). With 2 and 3 consent does not help; without the module it is not needed.
func yamaWantsConsent() bool {
	b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err == nil && strings.TrimSpace(string(b)) == "1"
}
