// The core of a rank: what its parts share.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"time"
)

// core is what the parts of a rank share. A part has a core and, as fields with names, the few other parts that it
// uses. State, run and selection are written in state.go only.
type core struct {
	Target      backend.Target
	GDB         *GDB
	Host        Host
	Child       bool   // the rank is a child of its original process
	atEntry     bool   // it was attached to at its first instruction, and goes to its first stop
	inferior    int    // gdb's number of the inferior
	threadGroup string // its name, "i1"

	now       time.Duration
	Out       Effects
	Open      []*request.Request // not answered yet
	waiting   []*request.Request // resumes, also in Open, that wait until breakpoints have been changed
	attaching *request.Request   // the attach that is under way; nil: the target is under control
	moving    *handover          // the handover that is under way, or nil
	wishes    []wish             // requests that need a gdb with this rank alone
	ready     []*request.Request // requests that have waited for another gdb and are executed now
	journal   journal
	takeovers takeovers
	deadly    map[string]bool      // commands that have killed a gdb where the rank stands
	warned    coreWarnings         // about a core file
	refusing  func(request.Answer) // called before an error of gdb is answered

	State    backend.State
	phase    phase // written by enter
	fate     fate
	killAt   time.Duration // when gdb is killed unless it has ended; 0: never
	threads  values.Threads
	counted  int  // number of threads so far
	recounts bool // threads are counted here, not by gdb
	chosen   request.Selection
	run      *run                           // the resume that is under way, or nil
	inCall   bool                           // a function called in an expression has stopped (callOver)
	named    bool                           // gdb knows $rank and $size, see identify
	handled  map[string]protocol.SignalInfo // the user's handling of signals, in a shared gdb
	points   breakpoint.Table
	breaks   *breakpoint.Commands
	values   *values.Values
}

// ask sends gdb a command for a request; then receives the result.
func (c *core) ask(q *request.Request, then func(request.Answer), command string, args ...string) *call {
	c.identify(args)
	k := &call{of: q, sent: c.now, then: then, by: c}
	if q.Args.Pure {
		defer c.withoutCalls()()
	}
	c.GDB.Bytes = mi.AppendCommand(c.GDB.Bytes, c.GDB.Calls.add(k), command, c.own(args)...)
	return k
}

// withoutCalls has gdb refuse to call functions of the program until the returned function is called. gdb executes
// commands in order, so other ranks of a shared gdb do not notice.
func (c *core) withoutCalls() func() {
	set := func(line string) { c.Tell("set may-call-functions", console, line) }
	set(`set $_sdm_calls = $_gdb_setting("may-call-functions")`)
	set("set may-call-functions off")
	return func() { set(`eval "set may-call-functions %d", $_sdm_calls`) }
}

// Tell sends a command whose result is ignored.
func (c *core) Tell(task, command string, args ...string) {
	k := &call{task: task, sent: c.now, by: c}
	c.GDB.Bytes = mi.AppendCommand(c.GDB.Bytes, c.GDB.Calls.add(k), command, args...)
}

// console executes a line of gdb's command line.
const console = "-interpreter-exec console"

// send has a signal sent.
func (c *core) send(to Addressee, sig string) {
	c.Out.Signals = append(c.Out.Signals, Signal{to, sig})
}

// IsCore reports whether the rank is a core file.
func (c *core) IsCore() bool { return c.Target.Core != "" }
