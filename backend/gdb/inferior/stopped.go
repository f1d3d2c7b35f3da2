// Threads that are stopped, by their tracer or by a signal.

package inferior

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// forking are the numbers of the system calls that create a process (amd64: clone, fork, vfork,
// clone3; arm64: clone, clone3).
var forking = []string{"56", "57", "58", "435", "220"}

// Stopped describes the threads that are stopped by their tracer (proc(5), /proc/PID/task/TID/stat:
// state t).
type Stopped struct {
	// Threads identifies these threads and how often each has run: two equal values mean that they
	// have not run in between. If some threads are in a system call that creates a process, it
	// describes only those. "": there are none.
	Threads string
	Forks   bool // some threads are in a system call that creates a process
	// All reports that no thread runs, and that no SIGSTOP of the tracer is pending: the tracer would
	// remove that by a SIGCONT, which also removes a SIGSTOP that sdm has sent.
	All bool
}

// Stopped reads the states of the threads.
func (p *Process) Stopped() Stopped {
	var all, forked []string
	pends := false
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.pid))
	for _, task := range tasks {
		if state(task+"/stat") != 't' {
			continue
		}
		b, _ := os.ReadFile(task + "/status")
		status := string(b)
		thread := field(status, "Pid") + ":" + field(status, "voluntary_ctxt_switches") + "+" + field(status, "nonvoluntary_ctxt_switches")
		all = append(all, thread)
		pends = pends || pendingIn(status, syscall.SIGSTOP)
		if forks(task) {
			forked = append(forked, thread)
		}
	}
	h := Stopped{Threads: strings.Join(all, " "), Forks: forked != nil, All: len(all) == len(tasks) && !pends}
	if h.Forks {
		h.Threads = strings.Join(forked, " ")
	}
	return h
}

// forks reports whether a process or thread, by its directory of /proc, is in a system call that creates a process.
func forks(dir string) bool {
	call, _ := os.ReadFile(dir + "/syscall")
	number, _, _ := strings.Cut(string(call), " ")
	return slices.Contains(forking, number)
}

// awaitStop waits until no thread of a process that has been sent a SIGSTOP executes instructions. It returns
// an error if some still do after about eight seconds.
func awaitStop(pid int) error {
	const most = 4 * time.Second
	for wait := time.Millisecond; ; wait *= 2 {
		threads := statesOf(pid)
		// A thread in an uninterruptible call (D) stops at the end of that. It may be a vfork whose child is
		// still on its way to its first instruction, so it is waited for, too.
		if strings.Trim(threads, "TtZX") == "" || wait > most && strings.Trim(threads, "TtZXD") == "" {
			return nil
		}
		if wait > most {
			return fmt.Errorf("process %d does not stop", pid)
		}
		continueChildren(pid)
		time.Sleep(wait)
	}
}

// statesOf returns the states of all threads of a process, a letter each (proc(5), /proc/PID/task/TID/stat).
func statesOf(pid int) string {
	var all []byte
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, task := range tasks {
		if s := state(task); s != 0 { // otherwise it has ended
			all = append(all, s)
		}
	}
	return string(all)
}

// CPUTime returns the processor time that a process has used, in ticks, user and system, as text.
func CPUTime(pid int) string { return statField(pid, 14) + "+" + statField(pid, 15) }
