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
	// Program is a path, or a name that is looked for in the PATH of Env as a
	// shell would. A relative path is relative to Cwd. It is also argv[0].
	Program string
	Args    []string // argv[1:], byte for byte
	Cwd     string   // "" is our own
	Env     []string // the whole environment, NAME=VALUE, byte for byte
	// Stdin gives the rank a pipe as standard input; otherwise it finds end of
	// file at once.
	Stdin bool
	// Through lets the rank have our own standard streams instead of pipes: in
	// a slot whose output belongs to the starter. Stdin then means ours.
	Through bool
	// TTY gives the rank a pseudo terminal instead of pipes: then Process.Stdout
	// is what it writes to either output, and there is no Stderr.
	TTY bool
}

// ErrClosed tells that the Forker has been closed.
var ErrClosed = errors.New("the forker is closed")

// Forker starts ranks and holds them before their first instruction.
//
// It owns two goroutines, both ended by Close. The first is locked to one OS
// thread for the life of the Forker: ptrace knows only the thread that forked,
// and the parent-death signal of the ranks fires when that thread ends
// (prctl(2), PR_SET_PDEATHSIG), so that even kill -9 leaves no rank behind. The
// second reaps. A Forker may be used by several goroutines; holds are done one
// after the other.
type Forker struct {
	work    chan func()
	gate    sync.RWMutex // held for reading by every Hold
	closed  bool
	threads sync.WaitGroup
	reaper  *reaper
	inherit []int
	viaShim bool
}

// NewForker starts the Forker. The ranks get the descriptors inherit under the
// same numbers (see Inherited), and no other beyond the standard streams.
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

// thread never unlocks: the thread ends with the goroutine, and the kernel then
// kills what Close could not.
func (f *Forker) thread() {
	runtime.LockOSThread()
	sameAddresses()
	for job := range f.work {
		job()
	}
}

// sameAddresses has what this thread starts find its code, stack and heap at the
// same addresses each time, as under gdb (GDB manual, set disable-randomization):
// pointers that mean the same are then equal on all ranks, and fold. Where the
// kernel does not permit it (seccomp in containers), they differ and all works.
func sameAddresses() {
	const ask, addrNoRandomize = 0xffffffff, 0x0040000 // personality(2)
	now, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, ask, 0, 0)
	if errno == 0 {
		unix.RawSyscall(unix.SYS_PERSONALITY, now|addrNoRandomize, 0, 0)
	}
}

// Hold starts a rank and returns when it stands before its first instruction:
// state T, no tracer, leader of a process group of its own. The error is a
// *protocol.Fault of kind launch with a hint, or ErrClosed.
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

// Close kills every rank that still lives, with its process group, and returns
// when all are reaped. A rank that is being traced is reaped only when its
// tracer lets go of it: end the debuggers first. Close may be called more than
// once.
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

// yamaWantsConsent tells whether a process must name its tracer beforehand,
// because the Yama security module lets only ancestors attach (Linux
// Documentation/admin-guide/LSM/Yama.rst, ptrace_scope 1). With 2 and 3 consent
// would not help; without the module nobody asks.
func yamaWantsConsent() bool {
	b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err == nil && strings.TrimSpace(string(b)) == "1"
}
