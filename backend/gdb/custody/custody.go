// Package custody releases processes whose debuggers have lost their server.
//
// A server that is killed cannot detach its gdbs, and cannot undo an attach that is under way. So it
// starts a custodian: a small process of its own session and name, which knows the server's gdbs and the
// processes that they attach to. It reads what the server tells from a pipe. When the pipe ends, and processes
// are left, the server was killed; then the custodian waits for the gdbs, which end with their input, kills those
// that do not, takes breakpoints out, and lets the processes run on.
//
//	server ── pipe ──→ custodian        killed server: end of the pipe
//	   └── pipes ──→ gdbs ── ptrace ──→ processes
//
// A custodian does nothing as long as its server lives. Processes are known by number and start time, so that no
// signal reaches one that has got a number of another.
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

// Custodian is a server's side. Its methods may be called by several goroutines, and block for
// writeWait at most. It starts one goroutine for each process, which waits for its end and starts
// another one if it was killed.
type Custodian struct {
	warn func(error)

	mu      sync.Mutex
	known   map[int]order // by process
	pipe    *os.File      // nil: there is none
	cmd     *exec.Cmd
	started int
	closed  bool
	waiting sync.WaitGroup
}

const (
	// mostStarts bounds how many custodians are started: one that always ends at once is of no use.
	mostStarts = 10
	// writeWait is how long one may take to read an order: it is stopped, or the machine is.
	writeWait = time.Second
)

// New makes one, whose process is started when there is something to be known. warn, unless nil, is told
// that there can be none: the session goes on without.
func New(warn func(error)) *Custodian {
	return &Custodian{warn: warn, known: map[int]order{}}
}

// Process tells of a process before it is attached to. stopped tells that it is stopped by a signal
// already, and shall stay so.
func (c *Custodian) Process(pid int, stopped bool) {
	o := order{verb: processVerb, pid: pid}
	if stopped {
		o.verb = stoppedVerb
	}
	c.tell(o)
}

// Debugger tells of a gdb before it is told to attach.
func (c *Custodian) Debugger(pid int) { c.tell(order{verb: debuggerVerb, pid: pid}) }

// Forget tells that a process or a gdb needs no custodian any more.
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
		if o.born = inferior.Born(o.pid); o.born == 0 {
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

// start starts the process and tells it all that is known.
func (c *Custodian) start() {
	if c.started == mostStarts {
		return
	}
	c.started++
	if err := c.run(); err != nil {
		c.started = mostStarts
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

// environment is ours without what may name secrets.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "SDM_") })
}

// write must not be called without a process. One that does not read is killed; then another
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

// Close ends the process and waits for it. What it still knows, it releases.
func (c *Custodian) Close() {
	c.mu.Lock()
	c.closed = true
	if c.pipe != nil {
		c.pipe.Close()
	}
	c.mu.Unlock()
	c.waiting.Wait()
}
