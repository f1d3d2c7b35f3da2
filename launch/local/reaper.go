// Waits for the ranks that this process has started.

package local

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// reaper waits for the ranks, and for no other children: those (gdb) are waited for by the code
// that starts them. One goroutine serves any number of ranks; a blocking wait for each would need
// a thread each. SIGCHLD says that a child has ended. Several ends may share one signal, so all
// ranks are checked.
type reaper struct {
	mu      sync.Mutex
	procs   map[int]*Process
	orphans map[int]bool // process groups that still have members after their leader ended
	closing bool
	signals chan os.Signal
	empty   chan struct{} // closed when closing is set and no rank is left
}

func newReaper() *reaper {
	r := &reaper{
		procs:   map[int]*Process{},
		orphans: map[int]bool{},
		signals: make(chan os.Signal, 1),
		empty:   make(chan struct{}),
	}
	signal.Notify(r.signals, syscall.SIGCHLD)
	return r
}

// loop ends when killAll was called and the last rank has been waited for.
func (r *reaper) loop() {
	defer signal.Stop(r.signals)
	for {
		select {
		case <-r.signals:
			r.scan()
		case <-r.empty:
			return
		}
	}
}

// add takes over a process, which may have ended already.
func (r *reaper) add(p *Process) {
	r.mu.Lock()
	r.procs[p.PID] = p
	r.mu.Unlock()
	r.scan()
}

func (r *reaper) scan() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for pid, p := range r.procs {
		if !mayHaveEnded(pid) {
			continue
		}
		var status syscall.WaitStatus
		got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		if err == nil && got != pid {
			continue
		}
		p.exit, p.code = exitOf(status), status.ExitStatus()
		if status.Signaled() {
			p.code = 128 + int(status.Signal())
		}
		delete(r.procs, pid)
		// The process id is not reused as long as the group has members.
		if syscall.Kill(-pid, 0) == nil {
			r.orphans[pid] = true
		}
		close(p.done)
	}
	r.endIfEmpty()
}

// mayHaveEnded reports whether a child has ended, or cannot be waited for. A wait that does not look first would take
// the stops of a child that a thread of this process traces, whatever its options say (wait_task_stopped in
// kernel/exit.c).
func mayHaveEnded(pid int) bool {
	const exited, killed, dumped = 1, 2, 3 // CLD_EXITED, CLD_KILLED, CLD_DUMPED of waitid(2)
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != nil {
		return true // the wait tells
	}
	return info.Signo != 0 && (info.Code == exited || info.Code == killed || info.Code == dumped)
}

func (r *reaper) endIfEmpty() {
	if !r.closing || len(r.procs) > 0 {
		return
	}
	select {
	case <-r.empty:
	default:
		close(r.empty)
	}
}

// killAll kills all ranks with their process groups, and the groups that are left of ranks that
// have ended.
func (r *reaper) killAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = true
	for pid := range r.procs {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
	for pgid := range r.orphans {
		syscall.Kill(-pgid, syscall.SIGKILL)
	}
	r.endIfEmpty()
}
