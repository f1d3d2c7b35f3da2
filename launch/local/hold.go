// Starts ranks that are held at their first instruction.

package local

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// hole marks a descriptor number that the child does not get.
const hole = ^uintptr(0)

// hold forks the rank, lets it run up to its first instruction and leaves it there, stopped by
// SIGSTOP. It runs on the locked thread.
//
//	child: setpgid, PDEATHSIG, TRACEME, exec ── SIGTRAP ┐
//	parent:                         wait ── DETACH with SIGSTOP ── wait for T
//
// Go's ForkExec does all of this between a vfork and the exec, in 0.4 ms. It cannot set
// PR_SET_PTRACER, the consent to be traced. Where Yama asks for it, the fork goes through a shim,
// which costs the start of one more Go program.
func (f *Forker) hold(path string, spec Spec, std [3]int) (int, error) {
	files := childFiles(std, f.inherit)
	argv := append([]string{spec.Program}, spec.Args...)
	if f.viaShim {
		return holdByShim(path, argv, spec, files)
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: spec.Cwd, Env: spec.Env, Files: files,
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, err
	}
	return pid, holdOrKill(pid)
}

// holdByShim is like hold, but with this program as a shim in between. The shim gives its consent,
// asks to be traced and executes the rank's program. It reports a failed exec by a pipe.
func holdByShim(path string, argv []string, spec Spec, files []uintptr) (int, error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	report := os.NewFile(uintptr(pipe[0]), "report of the shim")
	defer report.Close()
	files = append(files, uintptr(pipe[1]))
	args := append([]string{argv[0], shimFlag, strconv.Itoa(len(files) - 1), strconv.Itoa(os.Getpid()), ignoredNow(),
		path}, argv...)
	pid, err := syscall.ForkExec("/proc/self/exe", args, &syscall.ProcAttr{
		Dir: spec.Cwd, Env: spec.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	unix.Close(pipe[1])
	if err != nil {
		return 0, fmt.Errorf("start the holding shim: %w", err)
	}
	if err := holdOrKill(pid); err != nil {
		if n := readReport(report); n != 0 {
			return 0, n
		}
		return 0, err
	}
	return pid, nil
}

// holdOrKill is holdTraced; if it fails, the process is killed.
func holdOrKill(pid int) error {
	err := holdTraced(pid)
	if err != nil && !errors.Is(err, errEndedEarly) {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, 0, nil)
	}
	return err
}

// holdTraced waits for the stop after the exec of a traced process (ptrace(2), PTRACE_TRACEME) and
// replaces the tracing by a SIGSTOP.
func holdTraced(pid int) error {
	for {
		status, err := waitFor(pid, 0)
		if err != nil {
			return err
		}
		sig := status.StopSignal()
		if sig == syscall.SIGTRAP {
			break
		}
		// The Go runtime of the shim sends signals to itself; deliver them.
		if err := ptrace(syscall.PTRACE_CONT, pid, sig); err != nil {
			return fmt.Errorf("ptrace: %w", err)
		}
	}
	if err := ptrace(syscall.PTRACE_DETACH, pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("ptrace: %w", err)
	}
	_, err := waitFor(pid, syscall.WUNTRACED)
	return err
}

// errEndedEarly means that a rank ended before it could be held.
var errEndedEarly = errors.New("it ended before it could be held")

// waitFor waits for the next stop of a process; the error is errEndedEarly if the process has ended.
func waitFor(pid, options int) (syscall.WaitStatus, error) {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, options, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait: %w", err)
		case !status.Stopped():
			return 0, errEndedEarly
		default:
			return status, nil
		}
	}
}

func ptrace(request, pid int, sig syscall.Signal) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(pid), 0, uintptr(sig), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// childFiles returns the child's table of descriptors: the standard streams, then the inherited
// descriptors under their own numbers.
func childFiles(std [3]int, inherit []int) []uintptr {
	files := []uintptr{uintptr(std[0]), uintptr(std[1]), uintptr(std[2])}
	if len(inherit) == 0 {
		return files
	}
	last := slices.Max(inherit)
	for n := 3; n <= last; n++ {
		if slices.Contains(inherit, n) {
			files = append(files, uintptr(n))
		} else {
			files = append(files, hole)
		}
	}
	return files
}
