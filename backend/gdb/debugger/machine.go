// One rank under its gdb: input are records and requests, output are commands, answers
// and events.

package debugger

import (
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
)

// Machine is one rank under its gdb. It is pure: it does no I/O, and the time is an
// argument. Each input (start, do, records from its debugger, ended, died, vanished,
// tick, close) leaves its effects in out and in the debugger. The loop executes them
// before the next input.
type Machine struct {
	Target       backend.Target
	GDB          *Debugger
	inferior     int    // gdb's number of the inferior
	group        string // its name, "i1"
	State        backend.State
	now          time.Duration
	Out          Effects
	Open         []*Request // not answered yet
	behind       []*Request // resumes of open that wait for another request
	threads      threads
	counted      int // number of threads so far
	chosen       selection
	within       within
	abort        abortWatch
	points       breakpoints
	last         printedLast
	journal      []protocol.Command // commands that a replacement gdb must execute
	rescue       rescue
	moving       *handover // handover to a gdb of its own that is under way, or nil
	recounts     bool      // threads are counted here, not by gdb
	displays     displays
	run          *run // the resume that is under way, or nil
	inCall       bool // a function called in an expression has stopped (callOver)
	attach       attachment
	watch        watch
	ending       ending
	Unread       unread
	withLines    []string                       // libraries whose debug files were requested
	signals      map[string]protocol.SignalInfo // the user's handling, in a shared gdb
	locking      string                         // the user's scheduler-locking
	Record       recording
	fitting      []string // functions of this program that matched the last rbreak
	examined     examination
	refusal      string // reason why the last breakpoint could not be set
	identified   bool   // see identify
	Child        bool   // the rank is a child of its original process
	Host         Host
	advised      map[string]bool // source files about which the user has been told
	coreWarnings []string        // gdb's warnings about a core file
}

// selection is the thread and frame that commands apply to. gdb's own selection is not
// used: every command names both.
type selection struct{ thread, frame int }

// NewMachine makes the machine of a target; debugger.add connects it with its gdb.
func NewMachine(t backend.Target, h Host) *Machine {
	return &Machine{Target: t, chosen: selection{thread: 1}, Host: h}
}

// ask sends gdb a command for a request; then receives the result.
func (m *Machine) ask(q *Request, then func(answer), command string, args ...string) *call {
	m.identify(args)
	k := &call{of: q, sent: m.now, then: then, by: m}
	m.GDB.Bytes = mi.AppendCommand(m.GDB.Bytes, m.GDB.Calls.add(k), command, m.own(args)...)
	return k
}

// tell sends a command whose result is ignored.
func (m *Machine) tell(task, command string, args ...string) {
	k := &call{task: task, sent: m.now, by: m}
	m.GDB.Bytes = mi.AppendCommand(m.GDB.Bytes, m.GDB.Calls.add(k), command, args...)
}

// console executes a line of gdb's command line.
const console = "-interpreter-exec console"

// selected returns the selected thread and frame, or those that the request names.
func (m *Machine) selected(q *Request) selection {
	s := m.chosen
	if q.args.Thread != 0 && q.args.Thread != s.thread {
		s = selection{thread: q.args.Thread}
	}
	if q.args.Frame != nil {
		s.frame = *q.args.Frame
	}
	return s
}

// at returns arguments that name that thread and frame to gdb.
func (m *Machine) at(q *Request) []string {
	s := m.selected(q)
	return []string{"--thread", m.gdbThread(s.thread), "--frame", strconv.Itoa(s.frame)}
}

// here returns arguments that name the rank, for commands about a whole program
// (-break-insert, -target-attach, a line of gdb's command line).
func (m *Machine) here() []string {
	if !m.GDB.Shared() {
		return nil
	}
	return m.somewhere()
}

// selecting is here, but with the selected frame, in whose language gdb reads a
// condition.
func (m *Machine) selecting(q *Request) []string {
	if !m.GDB.Shared() {
		return nil
	}
	return m.where(q)
}

// where returns at for a stopped rank; a running rank has no frame.
func (m *Machine) where(q *Request) []string {
	if m.stateNow() == backend.Stopped {
		return m.at(q)
	}
	return m.somewhere()
}

// somewhere names the rank by a thread, if it has one. With --thread-group alone gdb
// 13.1 switches to the program and stays there, while its selected thread is still
// another rank's. What names that thread next is then looked up in the wrong program,
// at addresses of another process, and gdb drops libraries of that process.
func (m *Machine) somewhere() []string {
	if len(m.threads) == 0 {
		return []string{"--thread-group", m.group}
	}
	return []string{"--thread", strconv.Itoa(m.threads[0].gdb)}
}

// turnBack undoes that effect after a command that can name a rank only by
// --thread-group.
func (m *Machine) turnBack() {
	if m.GDB.Shared() && len(m.threads) > 0 {
		m.tell("interrupt", "-info-gdb-mi-command", append(m.somewhere(), "exec-interrupt")...)
	}
}

// Do executes a command of a user.
func (m *Machine) Do(now time.Duration, id protocol.RequestID, wait time.Duration, c *Command) {
	m.now = now
	q := &Request{Command: c, ID: id, began: now}
	if wait > 0 {
		q.Deadline = now + share(wait)
	}
	m.Open = append(m.Open, q)
	row, ok := lookup(c.Name)
	if !ok {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "gdb does not carry out " + c.Name})
		return
	}
	if !row.always && m.hold(q) {
		return
	}
	if f := m.stateNow().Refuse(row.info.Need); f != nil && !(row.early && m.State == backend.Attaching) {
		m.fail(q, f)
		return
	}
	if f := m.busy(); f != nil && !row.always {
		m.fail(q, f)
		return
	}
	if f := m.lifeless(row.info, &c.args); f != nil {
		m.fail(q, f)
		return
	}
	if c.Name != "interrupt" {
		m.Unread.enough = false
	}
	if row.info.Resumes && m.preparing(q) {
		m.behind = append(m.behind, q)
		return
	}
	m.carryOut(row, q)
	m.settle()
}

// carryOut executes one request.
func (m *Machine) carryOut(row row, q *Request) {
	if thread := q.args.Thread; thread != 0 {
		if m.threads.find(thread) == nil {
			m.fail(q, unknownThread(thread)) // a shared gdb would take it for a number of its own
			return
		}
		if row.info.Resumes || row.info.Selects == protocol.SelectsFrame {
			m.turnTo(thread)
		}
	}
	if row.last && !m.withLast(q) {
		return
	}
	if m.Unread.Deferred && needsLibraries(row.info, q) {
		m.readLibraries()
	}
	if strings.Contains(q.args.Expr+q.args.Text, "(") {
		m.thaw() // otherwise a function that is called there would stop with SIGSTOP
	}
	row.do(m, q)
}

// preparing reports whether breakpoints are being changed for an earlier request than
// q. That may take several commands of gdb, and the rank must not run between them.
func (m *Machine) preparing(q *Request) bool {
	for _, o := range m.Open {
		if o == q {
			return false
		}
		if info, _ := protocol.LookupCommand(o.Name); info.Prepares() {
			return true
		}
	}
	return false
}

// resumeNext executes resumes that have waited for such a change. The rank may have
// ended or been resumed meanwhile.
func (m *Machine) resumeNext() {
	for len(m.behind) > 0 && !m.preparing(m.behind[0]) {
		q := m.behind[0]
		m.behind = m.behind[1:]
		if q.answered { // its deadline has passed
			continue
		}
		row, _ := lookup(q.Name)
		if f := m.stateNow().Refuse(row.info.Need); f != nil {
			m.fail(q, f)
			continue
		}
		m.carryOut(row, q)
	}
}

// turnTo selects the thread that a command names.
func (m *Machine) turnTo(thread int) {
	if thread != m.chosen.thread {
		m.chosen = selection{thread: thread}
	}
}

// stateNow returns the state that a new command finds: also running while gdb has been
// told to resume and has not confirmed it.
func (m *Machine) stateNow() backend.State {
	if m.State == backend.Stopped && m.run != nil {
		return backend.Running
	}
	return m.State
}

// WantsRecord reports whether async records of this name are used here; the parser skips all
// others.
func WantsRecord(class mi.Class, name string) bool {
	switch name {
	case "stopped", "running", "thread-created", "thread-exited", "thread-group-exited", "thread-group-started", "breakpoint-created", "breakpoint-deleted",
		"thread-selected", "cmd-param-changed", "record-started", "record-stopped", "library-loaded", "library-unloaded":
		return true
	}
	return false
}
