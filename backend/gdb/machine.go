// What one rank does under its gdb: records in, commands and words out.

package gdb

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/sourcefile"
	"sdm/backend/mi"
	"sdm/protocol"
)

// machine is one rank under its gdb. It is pure: it does no I/O, and the time
// is an argument. Each of its inputs (start, do, what its debugger hands on, ended,
// died, vanished, tick, close)
// leaves what is to be done in out and in the debugger, which the loop carries out before the next
// input.
type machine struct {
	target       backend.Target
	gdb          *debugger
	inferior     int    // gdb's number of the inferior
	group        string // … and its name, "i1"
	state        backend.State
	now          time.Duration
	out          effects
	open         []*request // not answered yet
	behind       []*request // of open: resumes that wait for an answer before them (resumeNext)
	threads      threads
	counted      int // how many threads there have been
	chosen       selection
	within       within
	abort        abortWatch
	points       breakpoints
	last         printedLast
	journal      []protocol.Command // what a new gdb must be told
	rescue       rescue
	moving       *handover // to a gdb of its own, while that is under way
	recounts     bool      // threads are counted here, not by gdb
	displays     displays
	run          *run // the resume that is under way, or nil
	inCall       bool // a call in an expression has been left half-way (callOver)
	attach       attachment
	watch        watch
	ending       ending
	unread       unread
	libraries    func() []inferior.Span         // where there are any in the target's memory
	pendsStop    func(thread string) bool       // whether a SIGSTOP waits for a thread of the target
	withLines    []string                       // the patterns of libraries whose separate debug files were asked for
	signals      map[string]protocol.SignalInfo // what the user wants with them here, in a shared gdb
	locking      string                         // the user's scheduler-locking
	record       recording
	fitting      []string // functions of this program that fit the last rbreak
	examined     examination
	refusal      string // of the last breakpoint that could not be set
	identified   bool   // see identify
	child        bool   // it has become a child of the process that it was
	source       sourcefile.Reader
	looks        looks
	advised      map[string]bool // sources about which the person has been told
	coreWarnings []string        // what gdb has warned of a core file
}

// effects are what the loop has to do: signals first, then what the debugger has
// for gdb, then words, in order.
type effects struct {
	signals []signal
	said    []said
	reads   []*memoryRead
	follow  int  // the process that the rank is now; 0: the same
	move    bool // the rank is to get a gdb of its own, see handover
	look    bool // whether the process still lives; if not, missed is called
}

// signal is one to send.
type signal struct {
	to  addressee
	sig syscall.Signal
}

type addressee uint8

const (
	toTarget addressee = iota
	toGroup            // the target's process group, where the target is its leader
	toGDB
)

// selection is the thread and the frame that commands are about. gdb has one
// of its own, which is left alone: every command names both.
type selection struct{ thread, frame int }

// newMachine makes the machine of a target; debugger.add gives it its gdb.
func newMachine(t backend.Target, source sourcefile.Reader) *machine {
	m := &machine{target: t, chosen: selection{thread: 1}, source: source}
	m.libraries = func() []inferior.Span { return inferior.Libraries(m.target.PID) }
	m.pendsStop = func(thread string) bool { return inferior.Pending(m.target.PID, thread, syscall.SIGSTOP) }
	return m
}

// ask sends gdb a command for a request; then gets the result.
func (m *machine) ask(q *request, then func(answer), command string, args ...string) *call {
	m.identify(args)
	k := &call{of: q, sent: m.now, then: then, by: m}
	m.gdb.bytes = mi.AppendCommand(m.gdb.bytes, m.gdb.calls.add(k), command, m.own(args)...)
	return k
}

// tell sends a command whose result nobody waits for.
func (m *machine) tell(task, command string, args ...string) {
	k := &call{task: task, sent: m.now, by: m}
	m.gdb.bytes = mi.AppendCommand(m.gdb.bytes, m.gdb.calls.add(k), command, args...)
}

// console is how a line for gdb's command line is sent.
const console = "-interpreter-exec console"

// selected is the selected thread and frame, or the thread that a request asks for.
func (m *machine) selected(q *request) selection {
	s := m.chosen
	if q.args.Thread != 0 && q.args.Thread != s.thread {
		s = selection{thread: q.args.Thread}
	}
	if q.args.Frame != nil {
		s.frame = *q.args.Frame
	}
	return s
}

// at names that to gdb.
func (m *machine) at(q *request) []string {
	s := m.selected(q)
	return []string{"--thread", m.gdbThread(s.thread), "--frame", strconv.Itoa(s.frame)}
}

// here names the rank to commands that are about a whole program (-break-insert, -target-attach, a line for
// gdb itself).
func (m *machine) here() []string {
	if !m.gdb.shared() {
		return nil
	}
	return m.somewhere()
}

// selecting is here with the selected frame, whose language gdb reads a condition in.
func (m *machine) selecting(q *request) []string {
	if !m.gdb.shared() {
		return nil
	}
	return m.where(q)
}

// where is at for a rank that stands; of one that runs, there is no frame.
func (m *machine) where(q *request) []string {
	if m.stateNow() == backend.Stopped {
		return m.at(q)
	}
	return m.somewhere()
}

// somewhere names the rank by a thread, if it has one. By --thread-group alone gdb 13.1 turns to a program and
// stays there, while its selected thread is still another rank's: whatever names that thread next is looked up in
// the wrong program, at addresses of another process, and libraries of that one are forgotten.
func (m *machine) somewhere() []string {
	if len(m.threads) == 0 {
		return []string{"--thread-group", m.group}
	}
	return []string{"--thread", strconv.Itoa(m.threads[0].gdb)}
}

// turnBack mends that where a command can name a whole rank by --thread-group only.
func (m *machine) turnBack() {
	if m.gdb.shared() && len(m.threads) > 0 {
		m.tell("interrupt", "-info-gdb-mi-command", append(m.somewhere(), "exec-interrupt")...)
	}
}

// do takes a command of a person.
func (m *machine) do(now time.Duration, id protocol.RequestID, wait time.Duration, c *command) {
	m.now = now
	q := &request{command: c, id: id, began: now}
	if wait > 0 {
		q.deadline = now + share(wait)
	}
	m.open = append(m.open, q)
	row, ok := lookup(c.name)
	if !ok {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "gdb does not carry out " + c.name})
		return
	}
	if !row.always && m.hold(q) {
		return
	}
	if f := m.stateNow().Refuse(row.need); f != nil && !(row.early && m.state == backend.Attaching) {
		m.fail(q, f)
		return
	}
	if f := m.busy(); f != nil && !row.always {
		m.fail(q, f)
		return
	}
	if f := m.lifeless(c.name, &c.args); f != nil {
		m.fail(q, f)
		return
	}
	if c.name != "interrupt" {
		m.unread.enough = false
	}
	if info, _ := protocol.LookupCommand(c.name); info.Resumes && m.preparing(q) {
		m.behind = append(m.behind, q)
		return
	}
	m.carryOut(row, q)
	m.settle()
}

// carryOut does what a request asks for.
func (m *machine) carryOut(row row, q *request) {
	if thread := q.args.Thread; thread != 0 {
		if m.threads.find(thread) == nil {
			m.fail(q, unknownThread(thread)) // where gdb is shared, it would name a number of its own
			return
		}
		if info, _ := protocol.LookupCommand(q.name); info.Resumes || slices.Contains([]string{"frame", "up", "down"}, q.name) {
			m.turnTo(thread)
		}
	}
	if slices.Contains([]string{"call", "ptype", "whatis", "x", "set variable"}, q.name) && !m.withLast(q) {
		return
	}
	if m.unread.some && needsLibraries(q) {
		m.readLibraries()
	}
	if strings.Contains(q.args.Expr+q.args.Text, "(") {
		m.thaw() // else a function that is called there would stop with SIGSTOP
	}
	row.do(m, q)
}

// preparing tells whether breakpoints are being changed for an earlier request than q. That may take gdb
// several commands, and the rank must not run on between them.
func (m *machine) preparing(q *request) bool {
	for _, o := range m.open {
		if o == q {
			return false
		}
		if isLasting(o.name) || slices.Contains([]string{"delete", "clear", "rbreak"}, o.name) {
			return true
		}
	}
	return false
}

// resumeNext lets go a resume that has waited for such a change. The rank may have ended meanwhile, or been resumed.
func (m *machine) resumeNext() {
	for len(m.behind) > 0 && !m.preparing(m.behind[0]) {
		q := m.behind[0]
		m.behind = m.behind[1:]
		if q.answered { // its wait was over
			continue
		}
		row, _ := lookup(q.name)
		if f := m.stateNow().Refuse(row.need); f != nil {
			m.fail(q, f)
			continue
		}
		m.carryOut(row, q)
	}
}

// turnTo selects the thread that a command asks for.
func (m *machine) turnTo(thread int) {
	if thread != m.chosen.thread {
		m.chosen = selection{thread: thread}
	}
}

// stateNow is the state that a new command finds: running, too, while gdb has
// been told to resume and has not yet said that it did.
func (m *machine) stateNow() backend.State {
	if m.state == backend.Stopped && m.run != nil {
		return backend.Running
	}
	return m.state
}

// wanted are the async records that mean something here; the parser drops the
// rest unread.
func wanted(class mi.Class, name string) bool {
	switch name {
	case "stopped", "running", "thread-created", "thread-exited", "thread-group-exited", "thread-group-started", "breakpoint-created", "breakpoint-deleted",
		"thread-selected", "cmd-param-changed", "record-started", "record-stopped", "library-loaded", "library-unloaded":
		return true
	}
	return false
}
