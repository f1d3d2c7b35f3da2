// Runs a starter under ptrace up to its MPIR_Breakpoint.

package mpir

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// Options of ptrace(2). Before the starter is found all descendants of the command are traced: it
// may be a script that calls the starter. From then on only the threads of the starter are. All
// traced processes are killed if this process ends, except a starter that is the command itself:
// its keeper removes the breakpoint and sends it SIGTERM then, and it ends its job and cleans up,
// unless it hits the breakpoint before the keeper has woken up.
const (
	exitKill  = 0x100000
	followAll = syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK |
		syscall.PTRACE_O_TRACEEXEC | exitKill
	followThreads = syscall.PTRACE_O_TRACECLONE
)

// waitMine are flags of wait4(2): all kinds of children (__WALL), but only of this thread
// (__WNOTHREAD).
const waitMine = 0x40000000 | 0x20000000

// tracer runs a command up to the MPIR_Breakpoint of the starter, which is the command or a
// descendant. One locked thread uses it, as ptrace(2) requires.
//
//	exec ─→ first instruction: libraries are mapped ─┬─ MPIR: being_debugged = 1, breakpoint
//	  ↑                                              └─ none: goes on, is followed
//	  └── fork, exec of what it calls
//
// It uses ptrace and not a gdb: not all symbols of the starter need to be read, several processes
// are followed, and the starter runs on without changes afterwards.
type tracer struct {
	spec    Spec
	keeper  *keeper
	path    string // file of the command
	root    int    // process id of the command
	known   map[int]*tracee
	starter *process   // nil: not found yet
	at      breakpoint // the starter's MPIR_Breakpoint
	status  syscall.WaitStatus
	giveUp  error // why there will be no starter; nil: it may still come
}

// tracee is a thread that is traced.
type tracee struct {
	stopped bool       // it is stopped, and has not been resumed
	entry   breakpoint // the entry point of its program, while a breakpoint is there
	fresh   bool       // its first stop has not been reported
}

// breakpoint is a breakpoint of the tracer; addr 0: there is none. old has the bytes that it has
// replaced.
type breakpoint struct {
	addr uint64
	old  []byte
}

// errEnded means that the command has ended.
var errEnded = errors.New("ended")

// start starts the command, stopped before its first instruction.
func (t *tracer) start() error {
	path, err := exec.LookPath(t.spec.Argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return err
	}
	t.path = path
	env := t.spec.Env
	if env == nil {
		env = os.Environ()
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	var files [3]uintptr
	for i, f := range []*os.File{t.spec.Stdin, t.spec.Stdout, t.spec.Stderr} {
		if f == nil {
			f = null
		}
		files[i] = f.Fd()
	}
	t.root, err = syscall.ForkExec(path, t.spec.Argv, &syscall.ProcAttr{
		Env: env, Files: files[:],
		Sys: &syscall.SysProcAttr{Ptrace: true, Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	t.known = map[int]*tracee{t.root: {}}
	if _, err := t.wait(t.root); err != nil {
		return err
	}
	if err := syscall.PtraceSetOptions(t.root, followAll); err != nil {
		return fmt.Errorf("trace %s: %w", path, err)
	}
	t.executed(t.root)
	return t.resume(t.root, 0)
}

// wait waits until a thread, or any for -1, stops or ends; the error is errEnded if the command
// has ended.
func (t *tracer) wait(tid int) (int, error) {
	for {
		got, err := syscall.Wait4(tid, &t.status, waitMine, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case t.status.Exited() || t.status.Signaled():
			delete(t.known, got)
			if got == t.root {
				return got, errEnded
			}
			return got, nil
		default:
			return got, nil
		}
	}
}

// run continues until the starter stops at its MPIR_Breakpoint. It returns the thread that is
// stopped there.
func (t *tracer) run() (held int, err error) {
	for {
		tid, err := t.wait(-1)
		if err != nil {
			return 0, err
		}
		if !t.status.Stopped() {
			continue
		}
		if t.stopped(tid) {
			return tid, nil
		}
		if t.giveUp != nil {
			return 0, t.giveUp
		}
	}
}

// stopped handles a stop of a thread. It resumes the thread unless it is at MPIR_Breakpoint, which
// it reports.
func (t *tracer) stopped(tid int) (arrived bool) {
	e, known := t.known[tid]
	if !known {
		e = &tracee{fresh: true}
		t.known[tid] = e
	}
	sig := t.status.StopSignal()
	switch {
	case e.fresh && sig == syscall.SIGSTOP: // the first stop of a new thread or child
		e.fresh, sig = false, 0
	case sig == syscall.SIGTRAP && t.status.TrapCause() == syscall.PTRACE_EVENT_EXEC:
		e.fresh, sig = false, 0
		if t.starter == nil {
			t.executed(tid)
		}
	case sig == syscall.SIGTRAP && t.status.TrapCause() > 0:
		sig = 0
		t.born(tid)
	case sig == syscall.SIGTRAP && t.hit(tid, e.entry.addr):
		sig = 0
		t.begins(tid, e)
		if t.giveUp != nil {
			return false // it stays at its first instruction
		}
	case sig == syscall.SIGTRAP && t.starter != nil && t.hit(tid, t.at.addr):
		e.stopped = true
		return true
	case isStop(sig) && t.groupStop(tid):
		sig = 0
	}
	t.resume(tid, sig)
	return false
}

// born records the new thread or process that a ptrace event is about, unless its first stop has
// been reported already.
func (t *tracer) born(tid int) (child int, isNew bool) {
	n, err := syscall.PtraceGetEventMsg(tid)
	if child = int(n); err != nil || t.known[child] != nil {
		return child, false
	}
	t.known[child] = &tracee{fresh: true}
	return child, true
}

func isStop(s syscall.Signal) bool {
	return s == syscall.SIGSTOP || s == syscall.SIGTSTP || s == syscall.SIGTTIN || s == syscall.SIGTTOU
}

// groupStop reports whether a stop is a group-stop of the process, and not a signal that is still
// to be delivered: a group-stop has no siginfo (ptrace(2), group-stop).
func (t *tracer) groupStop(tid int) bool {
	var info [128]byte
	_, _, err := syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_GETSIGINFO, uintptr(tid), 0,
		uintptr(unsafe.Pointer(&info)), 0, 0)
	return err != 0
}

func (t *tracer) resume(tid int, sig syscall.Signal) error {
	return syscall.PtraceCont(tid, int(sig))
}

// executed sets a breakpoint at the entry point of a program that has just been executed; when it
// is hit the libraries are mapped. A program that cannot be a starter here (32 bits) runs on
// without one.
func (t *tracer) executed(tid int) {
	e := t.known[tid]
	e.entry = breakpoint{}
	addr, err := entryOf(tid)
	if err != nil {
		return
	}
	e.entry, _ = insert(tid, addr)
}

// begins handles a program that is stopped at its entry point: if it has MPIR, it is the starter.
func (t *tracer) begins(tid int, e *tracee) {
	e.entry.remove(tid)
	setCounter(tid, e.entry.addr)
	e.entry = breakpoint{}
	if t.starter != nil {
		return
	}
	p, err := openProcess(tid, files{})
	addr, _, found := uint64(0), uint64(0), false
	if err == nil {
		addr, _, found = p.Symbol(symBreakpoint)
	}
	if !found {
		if err == nil {
			p.close()
		}
		t.noMPIR(tid)
		return
	}
	if t.at, err = insert(tid, addr); err != nil {
		p.close()
		return
	}
	t.starter = p
	if p.pid == t.root {
		t.keeper.setBreakpoint(t.root, t.at)
	}
	writeInt(p, symBeingDebugged, 1)
	if t.spec.Prepare != nil {
		t.spec.Prepare(p)
	}
	syscall.PtraceSetOptions(tid, t.options())
}

// options returns the ptrace options for the starter.
func (t *tracer) options() int {
	if t.starter.pid != t.root {
		return followThreads | exitKill
	}
	return followThreads
}

// noMPIR gives up if a known starter has no MPIR, before it has done anything. Other programs may
// still call a starter.
func (t *tracer) noMPIR(tid int) {
	exe, _ := os.Readlink(procFile(tid, "exe"))
	if slices.Contains(t.spec.Names, baseName(exe)) {
		t.giveUp = &NoMPIR{Starter: filepath.Base(exe), Called: tid != t.root || !t.isCommand(tid, exe)}
	}
}

// isCommand reports whether the program of the command's process is the one that was named: by its
// name, or by a link to it (MPICH's mpirun is a link to mpiexec.hydra).
func (t *tracer) isCommand(tid int, exe string) bool {
	if baseName(exe) == baseName(t.path) {
		return true
	}
	named, errNamed := os.Stat(t.path)
	runs, errRuns := os.Stat(procFile(tid, "exe"))
	return errNamed == nil && errRuns == nil && os.SameFile(named, runs)
}

// baseName returns the name of a program without the suffix of a distribution (mpirun.openmpi).
func baseName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// hit reports whether a thread has stopped at a breakpoint.
func (t *tracer) hit(tid int, addr uint64) bool {
	pc, err := counter(tid)
	return addr != 0 && err == nil && pc-trapAdvance == addr
}

// insert sets a breakpoint in a process that is stopped.
func insert(tid int, addr uint64) (breakpoint, error) {
	mem, err := os.OpenFile(procFile(tid, "mem"), os.O_RDWR, 0)
	if err != nil {
		return breakpoint{}, err
	}
	defer mem.Close()
	s := breakpoint{addr: addr, old: make([]byte, len(trap))}
	if _, err = mem.ReadAt(s.old, int64(addr)); err == nil {
		_, err = mem.WriteAt(trap, int64(addr))
	}
	if err != nil {
		return breakpoint{}, err
	}
	return s, nil
}

// remove removes the breakpoint from a process that is stopped.
func (s breakpoint) remove(tid int) error {
	mem, err := os.OpenFile(procFile(tid, "mem"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	_, err = mem.WriteAt(s.old, int64(s.addr))
	return err
}

// auxEntry is AT_ENTRY of getauxval(3): the entry point of the program, not of its loader.
const auxEntry = 9

func entryOf(pid int) (uint64, error) {
	if !isBinary(pid) {
		return 0, errNoMPIR
	}
	b, err := os.ReadFile(procFile(pid, "auxv"))
	if err != nil {
		return 0, err
	}
	for ; len(b) >= 2*pointerSize; b = b[2*pointerSize:] {
		if binary.LittleEndian.Uint64(b) == auxEntry {
			return binary.LittleEndian.Uint64(b[pointerSize:]), nil
		}
	}
	return 0, errNoMPIR
}

// isBinary reports whether a process runs a 64-bit program.
func isBinary(pid int) bool {
	f, err := os.Open(procFile(pid, "exe"))
	if err != nil {
		return false
	}
	defer f.Close()
	var head [elf.EI_NIDENT]byte
	_, err = f.ReadAt(head[:], 0)
	return err == nil && elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64
}
