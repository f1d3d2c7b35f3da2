// The custodian's process.

package custody

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend/gdb/inferior"
)

// Name is the name of the process in ps. It has another prefix than the names of sdm's programs,
// so that a kill of those by name does not kill it with them.
const Name = "ranks-custodian"

// flag as first argument makes this program a custodian.
const flag = "--custodian"

// Main turns this process into a custodian if the arguments say so; otherwise it returns at once.
// Programs that own a Custodian call it first in main, tests in TestMain.
func Main(args []string) {
	if len(args) != 2 || args[0] != Name || args[1] != flag {
		return
	}
	// It ends with the pipe of its server; otherwise only SIGKILL ends it.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	os.WriteFile("/proc/self/comm", []byte(Name), 0) // the name of the whole process (proc(5))
	read(os.Stdin).release()
	os.Exit(0)
}

// attached are the processes that the custodian knows.
type attached struct {
	targets   map[int]*target
	debuggers map[int]*inferior.Process
}

type target struct {
	process *inferior.Process
	stopped bool // before it was attached to
	halted  bool // by the custodian
}

// read reads orders until the server ends.
func read(from io.Reader) attached {
	h := attached{map[int]*target{}, map[int]*inferior.Process{}}
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadString('\n')
		if o, ok := parseOrder(line); ok {
			h.take(o)
		}
		if err != nil {
			return h
		}
	}
}

// take executes an order.
func (h attached) take(o order) {
	if t := h.targets[o.pid]; t != nil {
		t.process.Close()
		delete(h.targets, o.pid)
	}
	if d := h.debuggers[o.pid]; d != nil {
		d.Close()
		delete(h.debuggers, o.pid)
	}
	if o.verb == forgetVerb {
		return
	}
	p := inferior.Open(o.pid)
	if inferior.StartTime(o.pid) != o.born { // it has ended, and another process may have its id
		p.Close()
		return
	}
	if o.verb == debuggerVerb {
		h.debuggers[o.pid] = p
	} else {
		h.targets[o.pid] = &target{process: p, stopped: o.verb == stoppedVerb}
	}
}

// detachWait is how long gdbs may take to detach after the end of their input. A gdb that reads the
// symbols of a big program takes longer, and is killed.
const detachWait = 3 * time.Second

// release releases all processes when the gdbs have ended.
func (h attached) release() {
	if len(h.targets) == 0 {
		return // no process needs to be released
	}
	killed := false
	for _, d := range h.debuggers {
		killed = killed || d.Gone()
	}
	if killed {
		h.halt() // gdbs were killed with the server, and have left their breakpoints in the code
	}
	late := time.Now().Add(detachWait)
	var remaining []int
	for pid, d := range h.debuggers {
		if !d.AwaitEnd(max(int(time.Until(late).Milliseconds()), 0)) {
			remaining = append(remaining, pid)
		}
	}
	if len(remaining) > 0 {
		h.halt()
		h.kill(remaining)
	}
	for _, d := range h.debuggers {
		// gdb 13.1 starts a child that stops itself, and that stays stopped if gdb is killed.
		d.EndProcessGroup()
	}
	var all sync.WaitGroup
	for _, t := range h.targets {
		all.Go(func() { t.process.Undo(t.stopped, t.halted) })
	}
	all.Wait()
}

// halt stops the processes as soon as they run, so that none hits a breakpoint without a debugger.
// Undo continues them.
func (h attached) halt() {
	for _, t := range h.targets {
		t.process.Signal(syscall.SIGSTOP)
		t.halted = true
	}
}

// kill kills gdbs with their children, and waits for that.
func (h attached) kill(debuggers []int) {
	for _, pid := range debuggers {
		unix.Kill(-pid, unix.SIGKILL) // it leads a process group, and has not ended
		h.debuggers[pid].Signal(syscall.SIGKILL)
	}
	for _, pid := range debuggers {
		h.debuggers[pid].AwaitEnd(int(detachWait.Milliseconds()))
	}
}
