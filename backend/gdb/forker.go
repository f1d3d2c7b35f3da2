// The thread that starts gdbs.

package gdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// forker starts gdbs one after another. A parent-death signal is sent when the forking
// *thread* ends, so one locked thread, which lives as long as the engine, forks all of
// them (prctl(2), PR_SET_PDEATHSIG).
//
// newForker starts its goroutine. It executes the orders of a channel, calls done with each
// result, and ends when close is called, which waits for it.
type forker struct {
	orders chan order
	ended  chan struct{}
}

type order struct {
	argv   []string
	env    []string              // nil: this process's
	dir    string                // working directory; set by start
	dies   bool                  // gdb is killed when this process ends
	before func() error          // must succeed first; may be nil
	done   func(*process, error) // called on the forker's thread
}

// maxOrders bounds the queue; start blocks if it is full. One machine does not start
// that many ranks.
const maxOrders = 1 << 12

func newForker() *forker {
	f := &forker{orders: make(chan order, maxOrders), ended: make(chan struct{})}
	go f.run()
	return f
}

func (f *forker) run() {
	defer close(f.ended)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	private := keepPrivate()
	for o := range f.orders {
		if o.before != nil {
			if err := o.before(); err != nil {
				o.done(nil, unready{err})
				continue
			}
		}
		env := o.env
		if env == nil {
			env = os.Environ()
		}
		o.done(startProcess(o.argv, environment(env), o.dir, o.dies, private))
	}
}

// keepPrivate makes what gdbs write, memory and core files, readable for their owner only. This thread then has a
// umask and a working directory of its own: the server starts the ranks too, whose umask must not change. It reports
// whether it has: the default profile of Docker forbids unshare.
func keepPrivate() bool {
	if unix.Unshare(unix.CLONE_FS) != nil {
		return false
	}
	unix.Umask(0o077)
	return true
}

const shell = "/bin/sh"

// start queues an order. dies must be false for a gdb that debugs a target which outlives
// this process: a gdb that is killed leaves its breakpoints in the target, which a breakpoint
// then kills, and SIGTERM makes gdb 13.1 abort in half of the cases while a breakpoint is being
// hit. Such a gdb ends at the end of its input when this process dies, and removes its
// breakpoints (in 25 of 25 cases).
func (f *forker) start(o order) {
	o.dir = directory() // of the process: the thread of the forker has a directory of its own
	f.orders <- o
}

// do queues a function, which the forker calls after the orders before it.
func (f *forker) do(function func()) {
	f.start(order{before: func() error {
		function()
		return errNoGDB
	}, done: func(*process, error) {}})
}

// errNoGDB ends an order that starts no gdb.
var errNoGDB = errors.New("no gdb is to be started")

// close must not be called while gdbs live: they would die with the thread.
func (f *forker) close() {
	close(f.orders)
	<-f.ended
}

// startProcess runs on the locked thread. Unless that is private, a shell sets the umask, if there is one.
func startProcess(argv, env []string, dir string, dies, private bool) (*process, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(shell); !private && err == nil {
		argv = append([]string{"sh", "-c", `umask 077; exec "$@"`, "sh", path}, argv[1:]...)
		path = shell
	}
	p := &process{pidfd: -1, stdin: -1, stdout: -1, stderr: -1}
	child, err := p.pipes()
	if err != nil {
		p.close()
		return nil, err
	}
	sys := &syscall.SysProcAttr{Setpgid: true, PidFD: &p.pidfd}
	if dies {
		sys.Pdeathsig = syscall.SIGKILL
	}
	p.pid, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{Dir: dir, Env: env, Files: child[:], Sys: sys})
	for _, fd := range child {
		unix.Close(int(fd))
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// directory returns the working directory for a gdb: this process's, or the root. gdb 16 aborts in a directory that
// has been removed, or that is in another mount namespace, as the directory of a rank in a container is.
func directory() string {
	path := make([]byte, unix.PathMax)
	n, err := unix.Getcwd(path)
	if err != nil || n == 0 || path[0] != '/' { // the kernel says "(unreachable)/..."
		return "/"
	}
	return string(path[:n-1]) // without the NUL
}

// pipes creates the standard streams; the ends of this process are non-blocking, the child's ends
// are blocking.
func (p *process) pipes() (child [3]uintptr, err error) {
	ours := [3]*int{&p.stdin, &p.stdout, &p.stderr}
	for i, end := range ours {
		fds, err := pipe(i > 0)
		if err != nil {
			for _, fd := range child[:i] {
				unix.Close(int(fd))
			}
			return child, fmt.Errorf("make a pipe for gdb: %w", err)
		}
		mine, its := fds[0], fds[1]
		if i == 0 {
			mine, its = fds[1], fds[0]
		}
		*end, child[i] = mine, uintptr(its)
		if err := unix.SetNonblock(mine, true); err != nil {
			for _, fd := range child[:i+1] {
				unix.Close(int(fd))
			}
			return child, fmt.Errorf("make a pipe for gdb: %w", err)
		}
	}
	return child, nil
}

// pipe creates a pipe. One for packets takes outputSlots writes, each of which is read by itself: so gdb does not
// outrun the loop by more than that, and cannot end before the loop has read that it will; see fatal in package
// debugger. A kernel without such pipes (before 3.4) gives a plain one.
func pipe(packets bool) (fds [2]int, err error) {
	if packets && unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_DIRECT) == nil {
		_, _ = unix.FcntlInt(uintptr(fds[1]), unix.F_SETPIPE_SZ, outputSlots*os.Getpagesize())
		return fds, nil
	}
	return fds, unix.Pipe2(fds[:], unix.O_CLOEXEC)
}

// outputSlots is the number of writes that wait for the loop; each takes a page (pipe(7)). After the announcement of
// its end gdb makes at least eight.
const outputSlots = 4
