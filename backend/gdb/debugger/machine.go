// One rank under its gdb: input are records and requests, output are commands, answers
// and events.

package debugger

import (
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// Machine is one rank under its gdb. It is pure: it does no I/O, and the time is an argument:
// the time since the start of the host. Each input (Start, Do, Debugger.Record, Ended,
// TargetEnded, Debugger.Died, Missed, Debugger.Tick, Close) leaves its effects in Out and in
// the debugger. The host executes them before the next input.
type Machine struct {
	Target   backend.Target
	GDB      *Debugger
	inferior int    // gdb's number of the inferior
	group    string // its name, "i1"
	Host     Host
	Child    bool // the rank is a child of its original process

	now     time.Duration
	Out     Effects
	State   backend.State
	Open    []*request.Request // not answered yet
	waiting []*request.Request // resumes, also in Open, that wait until breakpoints have been changed
	journal []protocol.Command // commands that a replacement gdb must execute
	deadly  map[string]bool    // commands that have killed a gdb where the rank stands

	threads      values.Threads
	counted      int  // number of threads so far
	recounts     bool // threads are counted here, not by gdb
	chosen       request.Selection
	run          *run // the resume that is under way, or nil
	points       breakpoints
	interruption interruption
	Record       recording

	// The parts, each with its own state and a pointer to the machine.
	attach      attachment
	runs        runs
	stops       stops
	abort       abortWatch
	termination termination
	recovery    recovery
	moves       moves
	breaks      breakCommands
	watches     watchCommands
	actions     actions
	settings    settings
	Symbols     symbols
	values      *values.Values
}

// NewMachine makes the machine of a target; Debugger.Add connects it with its gdb.
func NewMachine(t backend.Target, h Host) *Machine {
	m := &Machine{Target: t, chosen: request.Selection{Thread: 1}, Host: h}
	m.connect()
	m.values = values.New(view{m, &m.Symbols})
	return m
}

// connect gives the parts of the machine access to it.
func (m *Machine) connect() {
	m.attach.Machine, m.termination.Machine, m.recovery.Machine, m.moves.Machine = m, m, m, m
	m.stops.Machine, m.abort.Machine, m.runs.Machine, m.Symbols.Machine = m, m, m, m
	m.breaks.Machine, m.watches.Machine, m.actions.Machine, m.settings.Machine = m, m, m, m
}

// ask sends gdb a command for a request; then receives the result.
func (m *Machine) ask(q *request.Request, then func(request.Answer), command string, args ...string) *call {
	m.settings.identify(args)
	k := &call{of: q, sent: m.now, then: then, by: m}
	m.GDB.Bytes = mi.AppendCommand(m.GDB.Bytes, m.GDB.Calls.add(k), command, m.moves.own(args)...)
	return k
}

// Tell sends a command whose result is ignored.
func (m *Machine) Tell(task, command string, args ...string) {
	k := &call{task: task, sent: m.now, by: m}
	m.GDB.Bytes = mi.AppendCommand(m.GDB.Bytes, m.GDB.Calls.add(k), command, args...)
}

// console executes a line of gdb's command line.
const console = "-interpreter-exec console"

// Selected returns the selected thread and frame, or those that the request names.
func (m *Machine) Selected(q *request.Request) request.Selection {
	s := m.chosen
	if q.Args.Thread != 0 && q.Args.Thread != s.Thread {
		s = request.Selection{Thread: q.Args.Thread}
	}
	if q.Args.Frame != nil {
		s.Frame = *q.Args.Frame
	}
	return s
}

// At returns arguments that name that thread and frame to gdb (GDB manual, GDB/MI Context management).
func (m *Machine) At(q *request.Request) []string {
	s := m.Selected(q)
	return []string{"--thread", m.GDBThread(s.Thread), "--frame", strconv.Itoa(s.Frame)}
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
func (m *Machine) selecting(q *request.Request) []string {
	if !m.GDB.Shared() {
		return nil
	}
	return m.Where(q)
}

// Where returns At for a stopped rank, otherwise arguments that name only the rank.
func (m *Machine) Where(q *request.Request) []string {
	if m.StateNow() == backend.Stopped {
		return m.At(q)
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
	return []string{"--thread", strconv.Itoa(m.threads[0].GDB)}
}

// restoreSelection undoes that effect after a command that can name a rank only by
// --thread-group.
func (m *Machine) restoreSelection() {
	if m.GDB.Shared() && len(m.threads) > 0 {
		m.Tell("interrupt", "-info-gdb-mi-command", append(m.somewhere(), "exec-interrupt")...)
	}
}

// Do executes a command of a user for request id. wait is the time for an answer; 0: no limit.
func (m *Machine) Do(now time.Duration, id protocol.RequestID, wait time.Duration, c *request.Command) {
	m.now = now
	q := &request.Request{Command: c, ID: id, Began: now}
	if c.Args.Patience > 0 {
		wait = time.Duration(c.Args.Patience) * time.Millisecond
	}
	if wait > 0 {
		q.Deadline = now + request.EngineTime(wait)
	}
	m.Open = append(m.Open, q)
	m.admit(q)
}

// admit executes an open request, refuses it, or has it wait.
func (m *Machine) admit(q *request.Request) {
	row, ok := lookup(q.Name)
	if !ok {
		m.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "gdb does not execute " + q.Name})
		return
	}
	if !row.always && (m.moves.queue(q) || m.recovery.queue(q)) {
		return
	}
	if f := m.StateNow().Refuse(row.info.Need); f != nil && !(row.early && m.State == backend.Attaching) {
		if !m.values.Printer.ReplyExitCode(q, m.termination.exitCode) {
			m.Fail(q, f)
		}
		return
	}
	if f := m.busy(); f != nil && !row.always {
		m.Fail(q, f)
		return
	}
	if f := m.attach.refuseForCore(row.info, &q.Args); f != nil {
		m.Fail(q, f)
		return
	}
	if f := m.refuseDeadly(q); f != nil {
		m.Fail(q, f)
		return
	}
	if q.Name != "interrupt" {
		m.Symbols.enough = false
	}
	if row.info.Resumes && m.preparing(q) {
		m.waiting = append(m.waiting, q)
		return
	}
	m.execute(row, q)
	m.runs.settle()
}

// execute executes one request.
func (m *Machine) execute(row row, q *request.Request) {
	if thread := q.Args.Thread; thread != 0 {
		if m.threads.Find(thread) == nil {
			m.Fail(q, values.UnknownThread(thread)) // a shared gdb would take it for a number of its own
			return
		}
		if row.info.Resumes || row.info.Selects == protocol.SelectsFrame {
			m.selectThread(thread)
		}
	}
	if row.last && !m.values.Printer.WithLast(q) {
		return
	}
	if m.Symbols.Deferred && needsLibraries(row.info, q) {
		m.Symbols.ReadLibraries()
	}
	if strings.Contains(q.Args.Expr+q.Args.Text, "(") {
		m.attach.continueFrozen() // otherwise a function that is called there would stop with SIGSTOP
	}
	row.do(m, q)
}

// preparing reports whether breakpoints are being changed for an earlier request than
// q. That may take several commands of gdb, and the rank must not run between them.
func (m *Machine) preparing(q *request.Request) bool {
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
	for len(m.waiting) > 0 && !m.preparing(m.waiting[0]) {
		q := m.waiting[0]
		m.waiting = m.waiting[1:]
		if q.Answered { // its deadline has passed
			continue
		}
		row, _ := lookup(q.Name)
		if f := m.StateNow().Refuse(row.info.Need); f != nil {
			m.Fail(q, f)
			continue
		}
		m.execute(row, q)
	}
}

// selectThread selects the thread that a command names.
func (m *Machine) selectThread(thread int) {
	if thread != m.chosen.Thread {
		m.chosen = request.Selection{Thread: thread}
	}
}

// StateNow returns the state that a new command finds: also running while gdb has been
// told to resume and has not confirmed it.
func (m *Machine) StateNow() backend.State {
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
