// This program in the role of a shim that becomes a held rank.

package local

import (
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// shimFlag as first argument makes this program the shim that becomes a rank:
//
//	PROGRAM --sdm-hold REPORTFD PARENT IGNORED PATH ARGV...
const shimFlag = "--sdm-hold"

// shimFailed is the exit status of a shim that could not execute the rank's program; the errno is
// in the report.
const shimFailed = 127

// ShimMain turns this process into a held rank if the arguments say so; otherwise it returns at
// once. Programs that own a Forker call it first in main, tests in TestMain.
func ShimMain(args []string) {
	if len(args) < 7 || args[1] != shimFlag {
		return
	}
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		// The parent-death signal and tracing belong to a thread, and the parent waits for the
		// first one only: execute the program again, which starts on that.
		syscall.Exec("/proc/self/exe", args, os.Environ())
	}
	report, err := strconv.Atoi(args[2])
	if err != nil {
		os.Exit(shimFailed)
	}
	unix.CloseOnExec(report)
	ignoreAll(args[4])
	errno := becomeRank(args[3], args[5], args[6:])
	unix.Write(report, []byte(strconv.Itoa(int(errno))))
	os.Exit(shimFailed)
}

// becomeRank returns only if it fails.
func becomeRank(parent, path string, argv []string) syscall.Errno {
	// Without Yama this fails, which has no effect.
	unix.Prctl(unix.PR_SET_PTRACER, unix.PR_SET_PTRACER_ANY, 0, 0, 0)
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return asErrno(err)
	}
	if strconv.Itoa(os.Getppid()) != parent {
		return syscall.ESRCH // the parent ended before the signal was set
	}
	if err := ptrace(syscall.PTRACE_TRACEME, 0, 0); err != nil {
		return asErrno(err)
	}
	return asErrno(syscall.Exec(path, argv, os.Environ()))
}

// ignoredNow lists the signals that this process ignores, and its ranks shall ignore too.
func ignoredNow() string {
	var list []string
	for s := syscall.Signal(1); s <= lastSignal; s++ {
		if signal.Ignored(s) {
			list = append(list, strconv.Itoa(int(s)))
		}
	}
	return strings.Join(list, ",")
}

// lastSignal is the highest signal number.
const lastSignal = 64

// ignoreAll ignores the signals of a list of ignoredNow: the Go runtime has replaced the inherited
// dispositions by its own handlers.
func ignoreAll(list string) {
	for n := range strings.SplitSeq(list, ",") {
		if s, err := strconv.Atoi(n); err == nil {
			signal.Ignore(syscall.Signal(s))
		}
	}
}

func asErrno(err error) syscall.Errno {
	if n, ok := err.(syscall.Errno); ok {
		return n
	}
	return syscall.EIO
}

// readReport returns the errno that the shim reported, 0 if it reported none.
func readReport(f *os.File) syscall.Errno {
	b := make([]byte, 16)
	n, _ := f.Read(b)
	errno, err := strconv.Atoi(string(b[:n]))
	if err != nil {
		return 0
	}
	return syscall.Errno(errno)
}
