package local

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// reaper waits for the ranks, and for nobody else: other children of this
// process (gdb) have parents of their own. One goroutine serves any number of
// ranks, where a blocked wait for each would cost a thread each. SIGCHLD says
// that somebody ended; that several may share one signal does no harm, since
// all are looked at.
type reaper struct {
	mu      sync.Mutex
	procs   map[int]*Process
	orphans map[int]bool // groups that outlived their leader
	closing bool
	signals chan os.Signal
	empty   chan struct{} // closed when closing and nobody is left
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

// loop ends when killAll was called and the last rank is reaped.
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

// add takes a process over. It may have ended already.
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
		// The number stays taken as long as the group has members.
		if syscall.Kill(-pid, 0) == nil {
			r.orphans[pid] = true
		}
		close(p.done)
	}
	r.endIfEmpty()
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

// killAll kills all ranks with their groups, and what dead ranks left behind in
// theirs.
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
