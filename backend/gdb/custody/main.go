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

// Name is the name of the process for ps and its kin. It does not begin as our programs' do: who kills
// these by name must not kill it with them.
const Name = "ranks-custodian"

// flag as first argument makes our program a custodian.
const flag = "--custodian"

// Main turns this process into a custodian when the arguments say so, and otherwise returns at once.
// Programs that own a Custodian call it first thing in main, tests in TestMain.
func Main(args []string) {
	if len(args) != 2 || args[0] != Name || args[1] != flag {
		return
	}
	// Its server ends it, by the end of the pipe; all others are to do that by SIGKILL.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	os.WriteFile("/proc/self/comm", []byte(Name), 0) // proc(5): of the whole process
	read(os.Stdin).release()
	os.Exit(0)
}

// held are the processes that are known.
type held struct {
	targets   map[int]*target
	debuggers map[int]*inferior.Process
}

type target struct {
	process *inferior.Process
	stopped bool // before it was attached to
	halted  bool // by us
}

// read takes orders until their server ends.
func read(from io.Reader) held {
	h := held{map[int]*target{}, map[int]*inferior.Process{}}
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

// take carries out an order.
func (h held) take(o order) {
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
	if inferior.Born(o.pid) != o.born { // it has ended, and its number may be another's
		p.Close()
		return
	}
	if o.verb == debuggerVerb {
		h.debuggers[o.pid] = p
	} else {
		h.targets[o.pid] = &target{process: p, stopped: o.verb == stoppedVerb}
	}
}

// patience is how long gdbs may take to let go when their input has ended. One that reads the symbols
// of a big program takes longer, and is killed.
const patience = 3 * time.Second

// release lets all processes go, when the gdbs have ended.
func (h held) release() {
	if len(h.targets) == 0 {
		return // the gdbs have been left to their server
	}
	killed := false
	for _, d := range h.debuggers {
		killed = killed || d.Gone()
	}
	if killed {
		h.halt() // somebody has killed gdbs with the server: their breakpoints are in the code
	}
	late := time.Now().Add(patience)
	var stubborn []int
	for pid, d := range h.debuggers {
		if !d.End(max(int(time.Until(late).Milliseconds()), 0)) {
			stubborn = append(stubborn, pid)
		}
	}
	if len(stubborn) > 0 {
		h.halt()
		h.kill(stubborn)
	}
	for _, d := range h.debuggers {
		d.EndGroup() // gdb 13.1 begins with a child that stops itself, and stays so if gdb is killed
	}
	var all sync.WaitGroup
	for _, t := range h.targets {
		all.Go(func() { t.process.Undo(t.stopped, t.halted) })
	}
	all.Wait()
}

// halt stops the processes, as soon as nothing else does, so that none runs into a breakpoint that no
// debugger is there for. Undo lets them go on.
func (h held) halt() {
	for _, t := range h.targets {
		t.process.Signal(syscall.SIGSTOP)
		t.halted = true
	}
}

// kill ends gdbs, with what they have started, and waits for that.
func (h held) kill(debuggers []int) {
	for _, pid := range debuggers {
		unix.Kill(-pid, unix.SIGKILL) // it leads a group, and has not ended
		h.debuggers[pid].Signal(syscall.SIGKILL)
	}
	for _, pid := range debuggers {
		h.debuggers[pid].End(int(patience.Milliseconds()))
	}
}
