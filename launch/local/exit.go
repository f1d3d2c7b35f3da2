// How ranks have ended, in gdb's words.

package local

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/protocol"
)

// exitOf translates a wait status. Without WUNTRACED a status is either an exit or a signal.
func exitOf(status syscall.WaitStatus) protocol.Exit {
	if !status.Signaled() {
		return protocol.Exit{Code: status.ExitStatus()}
	}
	sig := status.Signal()
	name := unix.SignalName(sig)
	if name == "" {
		name = fmt.Sprintf("SIG%d", sig)
	}
	return protocol.Exit{Signal: name, Meaning: meaning(sig)}
}

// meaning returns gdb's text for a signal (gdb's include/gdb/signals.def), so that an end reads
// the same whether gdb or the server has seen it.
func meaning(sig syscall.Signal) string {
	if text, ok := meanings[sig]; ok {
		return text
	}
	if sig >= 32 {
		return fmt.Sprintf("Real-time event %d", sig)
	}
	return "Unknown signal"
}

var meanings = map[syscall.Signal]string{
	syscall.SIGHUP: "Hangup", syscall.SIGINT: "Interrupt", syscall.SIGQUIT: "Quit",
	syscall.SIGILL: "Illegal instruction", syscall.SIGTRAP: "Trace/breakpoint trap",
	syscall.SIGABRT: "Aborted", syscall.SIGBUS: "Bus error", syscall.SIGFPE: "Arithmetic exception",
	syscall.SIGKILL: "Killed", syscall.SIGUSR1: "User defined signal 1",
	syscall.SIGSEGV: "Segmentation fault", syscall.SIGUSR2: "User defined signal 2",
	syscall.SIGPIPE: "Broken pipe", syscall.SIGALRM: "Alarm clock", syscall.SIGTERM: "Terminated",
	syscall.SIGXCPU: "CPU time limit exceeded", syscall.SIGXFSZ: "File size limit exceeded",
	syscall.SIGVTALRM: "Virtual timer expired", syscall.SIGPROF: "Profiling timer expired",
	syscall.SIGIO: "I/O possible", syscall.SIGPWR: "Power fail/restart", syscall.SIGSYS: "Bad system call",
}
