// Package custody releases processes whose debuggers have lost their server.
//
// A server that is killed cannot detach its gdbs, and cannot undo an attach that is under way. So
// it starts a custodian: a small process with a session and a name of its own, which knows the
// server's gdbs and the processes that they attach to. It reads these from a pipe. If the pipe
// ends while processes are left, the server was killed. Then the custodian waits for the gdbs,
// which end with their input, kills those that do not end, removes breakpoints, and continues the
// processes.
//
//	server ── pipe ──→ custodian        killed server: end of the pipe
//	   └── pipes ──→ gdbs ── ptrace ──→ processes
//
// A custodian does nothing as long as its server lives. Processes are identified by id and start
// time, so that no signal reaches another process that has got the id.
package custody

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sdm/backend/gdb/inferior"
)

// Custodian is the server's side. Several goroutines may call its methods; all but Close block for
// a second at most. It starts one goroutine for each custodian process, which waits for the end of
// the process and starts another one if it was killed.
type Custodian struct {
	warn func(error)

	mu      sync.Mutex
	known   map[int]order // by process id
	pipe    *os.File      // nil: no process runs
	cmd     *exec.Cmd
	started int
	closed  bool
	waiting sync.WaitGroup
}

const (
	// maxStarts bounds how many custodian processes are started, in case each ends at once.
	maxStarts = 10
	// writeWait is how long the custodian process may take to read an order; it takes longer if it
	// or the machine is stopped.
	writeWait = time.Second
)

// New makes a Custodian. Its process is started when there is something to tell it, or by Prepare. warn, unless
// nil, is called if the process cannot be started; the session continues without it.
func New(warn func(error)) *Custodian {
	return &Custodian{warn: warn, known: map[int]order{}}
}

// Prepare starts the process before there is something to tell it, without waiting for that.
func (c *Custodian) Prepare() {
	c.waiting.Go(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed && c.pipe == nil {
			c.start()
		}
	})
}

// Process tells the custodian of a process before it is attached to. stopped reports that the
// process is stopped by a signal already, and must stay stopped.
func (c *Custodian) Process(pid int, stopped bool) {
	o := order{verb: processVerb, pid: pid}
	if stopped {
		o.verb = stoppedVerb
	}
	c.tell(o)
}

// Debugger tells the custodian of a gdb before the gdb attaches.
func (c *Custodian) Debugger(pid int) { c.tell(order{verb: debuggerVerb, pid: pid}) }

// Forget tells the custodian that a process or a gdb no longer needs it.
func (c *Custodian) Forget(pid int) {
	c.mu.Lock()
	_, known := c.known[pid]
	c.mu.Unlock()
	if known {
		c.tell(order{verb: forgetVerb, pid: pid})
	}
}

func (c *Custodian) tell(o order) {
	if o.verb != forgetVerb {
		if o.born = inferior.StartTime(o.pid); o.born == 0 {
			return // it has ended
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if o.verb == forgetVerb {
		delete(c.known, o.pid)
	} else {
		c.known[o.pid] = o
	}
	if c.pipe == nil {
		c.start()
		return
	}
	c.write(o)
}

// start starts the process and sends it all known processes.
func (c *Custodian) start() {
	if c.started == maxStarts {
		return
	}
	c.started++
	if err := c.run(); err != nil {
		c.started = maxStarts
		if c.warn != nil {
			c.warn(fmt.Errorf("no custodian: %w", err))
		}
		return
	}
	for o := range maps.Values(c.known) {
		c.write(o)
	}
}

func (c *Custodian) run() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{Name, flag}
	cmd.Env = append(environment(), "GOMAXPROCS=1")
	cmd.Dir = "/"
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return err
	}
	c.pipe, c.cmd = w, cmd
	c.waiting.Go(func() {
		cmd.Wait()
		c.ended(cmd)
	})
	return nil
}

// environment returns this process's environment without variables that may contain secrets.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "SDM_") })
}

// write sends an order; the process must be running. If it does not read it is killed, and another
// one is started.
func (c *Custodian) write(o order) {
	c.pipe.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := c.pipe.WriteString(o.line()); err != nil {
		c.cmd.Process.Kill()
	}
}

// ended starts another process in place of one that was killed.
func (c *Custodian) ended(cmd *exec.Cmd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != cmd {
		return
	}
	c.pipe.Close()
	c.pipe = nil
	if !c.closed && len(c.known) > 0 {
		c.start()
	}
}

// Close ends the process and waits for it. The process releases what it still knows.
func (c *Custodian) Close() {
	c.mu.Lock()
	c.closed = true
	if c.pipe != nil {
		c.pipe.Close()
	}
	c.mu.Unlock()
	c.waiting.Wait()
}
