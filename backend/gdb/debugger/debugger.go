// One gdb and the ranks that share it.

package debugger

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// Debugger is one gdb, shared by the machines of its ranks: the outstanding commands,
// and which machine a record is for. Like a machine it is pure.
//
//	machine of rank 0, i1 ─┐                       ┌─ *stopped,thread-id="4" → machine of thread 4
//	machine of rank 1, i2 ─┼─ calls ─→ gdb ─ lines ─┼─ ^done of a token        → machine that asked
//	machine of rank 2, i3 ─┘                       └─ =thread-…,group-id="i2" → machine of the group
type Debugger struct {
	GDB
	Machines []*Machine
	threads  map[int]*Machine // by gdb's number, which is unique over its inferiors
	ends     []*Machine       // ended by a signal that gdb has not reported yet
}

// New makes a debugger for n machines.
func New(n int) *Debugger {
	return &Debugger{GDB: GDB{handle: handleDefault}, threads: map[int]*Machine{}, Machines: make([]*Machine, 0, n)}
}

// Add gives a machine an inferior of its own. gdb starts with one, i1, and names those
// that -add-inferior adds i2, i3, … in order, so the answers are not needed.
func (d *Debugger) Add(m *Machine) {
	d.Machines, d.ranks = append(d.Machines, m), append(d.ranks, m.core)
	m.GDB = &d.GDB
	m.inferior = len(d.Machines)
	m.threadGroup = "i" + strconv.Itoa(m.inferior)
	if m.inferior > 1 {
		d.several = true
		d.Bytes = mi.AppendCommand(d.Bytes, d.Calls.add(&call{task: "attach", by: m.core}), "-add-inferior")
	}
}

// Record processes a record of gdb.
func (d *Debugger) Record(now time.Duration, r mi.Record) {
	d.Startup.receive(r)
	d.isGDB10 = d.isGDB10 || d.DebugOutput && r.Class == mi.Log && strings.HasPrefix(r.Text, "[infrun]")
	switch r.Class {
	case mi.Result:
		d.result(now, r)
	case mi.Exec:
		d.exec(now, r)
	case mi.Notify:
		d.notified(now, r)
	case mi.Console, mi.Log, mi.Target, mi.Other:
		if r.Class == mi.Log && fatal.MatchString(r.Text) {
			d.announced(now)
		}
		if r.Class == mi.Console {
			r.Text = unnested(r.Text)
		}
		if r.Class == mi.Console && gdbtext.IsAboutThreadLibrary(r.Text) {
			return
		}
		d.receiveFork(now, r.Text)
		switch heard := d.Calls.receive(r); {
		case r.Class == mi.Log && !d.DebugOutput:
			d.receiveLog(r.Text, heard)
		case r.Class == mi.Console && !heard:
			d.receiveConsole(r.Text)
		}
		for _, m := range d.Machines {
			m.Record.receiveRecording(r.Text)
			if r.Class == mi.Log {
				m.now = now
				m.runs.logWhileRunning(r.Text)
			}
		}
	}
}

// result processes the result of a call. gdb may omit a result, then one for a later
// call comes, and may give two: ^running and then ^error if the resume failed half-way.
func (d *Debugger) result(now time.Duration, r mi.Record) {
	d.late = false
	k, skipped := d.Calls.take(r.Token)
	for _, s := range skipped {
		d.finish(now, s, mi.Record{Class: mi.Result, Name: "error", Results: mi.Tuple{{Name: "msg", Value: mi.Value{Str: "gdb gave no result"}}}})
	}
	if k != nil {
		d.finish(now, k, r)
		return
	}
	if r.Name != "error" {
		return
	}
	for _, m := range d.Machines {
		m.now = now
		if !m.moves.notFlushed(r) {
			m.runs.resumeFailed(r)
		}
		m.settle()
	}
}

// finish passes the result of a call to the rank that has made it.
func (d *Debugger) finish(now time.Duration, k *call, r mi.Record) {
	if k.by == nil { // of no rank
		return
	}
	k.by.now = now
	k.reportWarnings(r)
	if k.then != nil {
		warned := k.by.warned.withoutRepeats(k.warned.String())
		k.then(request.Answer{Record: r, Text: k.text.String(), Warned: warned, Made: k.made})
	}
	for _, m := range d.Machines {
		if m.core == k.by || d.others {
			m.settle()
		}
	}
	d.others = false
}

// exec processes *running and *stopped.
func (d *Debugger) exec(now time.Duration, r mi.Record) {
	id := r.Results.Str("thread-id")
	if k := d.Calls.current(); k != nil && id != "" && k.ignoreStop == id && r.Name == "stopped" {
		return
	}
	of := d.Machines
	if d.Shared() && r.Name == "stopped" {
		d.Calls.interrupted()
	}
	switch n, err := strconv.Atoi(id); {
	case err == nil:
		of = d.owner(n)
	case id == "":
		of = d.ended(r.Results)
	}
	for _, m := range of {
		m.now = now
		if r.Name == "running" {
			m.setRunning(id)
		} else {
			stop := r.Results
			if _, told := stop.Get("reason"); !told && d.messages.dropsWatchpoint() {
				stop = values.Stepped(stop)
			}
			m.reportMessages()
			if !m.termination.exited(stop) {
				m.runs.stopped(stop)
			}
		}
		m.settle()
	}
}

// owner returns the machine of a thread, as a list of one. The only machine of a gdb owns all
// threads.
func (d *Debugger) owner(thread int) []*Machine {
	if !d.Shared() {
		return d.Machines
	}
	if m := d.threads[thread]; m != nil {
		return []*Machine{m}
	}
	return nil
}

// ended returns the machines that a *stopped without a thread may concern: the one
// whose end it reports. gdb does not name it; a =thread-group-exited precedes.
func (d *Debugger) ended(stop mi.Tuple) []*Machine {
	if !d.Shared() {
		return d.Machines
	}
	if stop.Str("reason") == "" {
		return d.Machines // not an end (see callOver)
	}
	if stop.Str("reason") != "exited-signalled" || len(d.ends) == 0 {
		return nil // already reported with the exit code
	}
	m := d.ends[0]
	d.ends = d.ends[1:]
	return []*Machine{m}
}

// notified processes a =record.
func (d *Debugger) notified(now time.Duration, r mi.Record) {
	if k := d.Calls.current(); k != nil && r.Name == "breakpoint-created" {
		k.made = r.Results.Path("bkpt", "number").Str
	}
	if r.Name == "library-loaded" && !backend.MPILibrary.MatchString(r.Results.Str("target-name")) {
		return // there are many of these
	}
	if r.Name == "breakpoint-deleted" {
		for _, m := range d.Machines {
			m.points.Deleted(r.Results.Str("id"))
		}
	}
	m := d.concerned(r)
	if m == nil {
		return
	}
	m.now = now
	id, _ := strconv.Atoi(r.Results.Str("id"))
	switch r.Name {
	case "thread-created":
		d.threads[id] = m
		m.Thread(id)
		m.runs.threadCame()
	case "thread-exited":
		delete(d.threads, id)
		m.threads.Remove(id)
	case "thread-group-started":
		m.followed(r.Results.Str("id"), r.Results.Str("pid"))
	case "thread-group-exited":
		if r.Results.Str("id") != m.threadGroup {
			break // the parent's
		}
		if r.Results.Str("exit-code") == "" && m.fate != gdbNotices && !m.isLeaving() && m.moving == nil {
			d.ends = append(d.ends, m)
		}
		m.termination.groupExited(r.Results.Str("exit-code"))
	case "thread-selected":
		level, _ := strconv.Atoi(r.Results.Path("frame", "level").Str)
		if ours := m.threads.IDOf(id); ours != 0 {
			m.choose(request.Selection{Thread: ours, Frame: level})
		}
	case "record-started", "record-stopped":
		m.Record.begun = r.Name == "record-started"
	case "library-loaded":
		m.abort.libraryCame(r.Results.Str("target-name"))
	case "library-unloaded":
		m.Symbols.libraryGone(r.Results.Str("host-name"))
	case "cmd-param-changed":
		if r.Results.Str("param") == "scheduler-locking" {
			m.runs.locking = r.Results.Str("value")
		}
	}
	m.settle()
}

// concerned returns the machine that a =record is about: the one with the thread group or thread
// that it names, or the one whose command gdb executes.
func (d *Debugger) concerned(r mi.Record) *Machine {
	if !d.Shared() {
		return d.Machines[0]
	}
	group := r.Results.Str("group-id")
	switch r.Name {
	case "thread-group-exited":
		group = r.Results.Str("id")
	case "library-loaded", "library-unloaded":
		group = r.Results.Str("thread-group")
	case "thread-selected":
		id, _ := strconv.Atoi(r.Results.Str("id"))
		return d.threads[id]
	case "cmd-param-changed":
		if k := d.Calls.current(); k != nil && k.by != nil {
			return d.Machines[slices.Index(d.ranks, k.by)]
		}
		return nil
	}
	for _, m := range d.Machines {
		if m.threadGroup == group {
			return m
		}
	}
	return nil
}

// Release removes a rank that gets a gdb of its own.
func (d *Debugger) Release(now time.Duration, m *Machine) {
	is := func(o *Machine) bool { return o == m }
	d.Machines = slices.DeleteFunc(d.Machines, is)
	d.ends = slices.DeleteFunc(d.ends, is)
	maps.DeleteFunc(d.threads, func(_ int, o *Machine) bool { return o == m })
	d.ranks = slices.DeleteFunc(d.ranks, func(c *core) bool { return c == m.core })
	d.Calls.forget(m.core)
	if len(d.Machines) > 0 {
		for signal := range m.handled {
			d.Machines[0].signals.tellHandling(signal)
		}
	}
	d.Leave(now)
}

// Tick processes all deadlines that have passed.
func (d *Debugger) Tick(now time.Duration) {
	for _, m := range d.Machines {
		m.tick(now)
	}
	if d.killAt != 0 && now >= d.killAt {
		d.killAt = 0
		d.Kill = true
	}
	if d.Startup.tick(now) {
		d.Kill = true
	}
}

// Deadline returns the time at which Tick must be called; 0: never.
func (d *Debugger) Deadline() time.Duration {
	first := d.killAt
	if t := d.Startup.deadline(); t != 0 && (first == 0 || t < first) {
		first = t
	}
	for _, m := range d.Machines {
		if t := m.deadline(); t != 0 && (first == 0 || t < first) {
			first = t
		}
	}
	return first
}

// Died processes the end of gdb. It returns the machines that another gdb is to take
// over; another says whether there may be one.
func (d *Debugger) Died(now time.Duration, how End, another bool) (orphans []*Machine) {
	how.Cause = cmp.Or(d.Replaced, how.Cause)
	hopeful, silent := d.Startup.shouldRetry(how), d.Startup.wasSilent()
	if silent {
		how.Cause = "it has said nothing in " + rounded(d.Startup.gaveUp).String()
	}
	w := d.deathOf(how)
	if w.crashed {
		d.killer = w.command
	}
	d.Gone, d.killAt = true, 0
	d.Calls.Drop()
	for _, m := range d.Machines {
		m.now = now
		if another && (hopeful || silent && m.takeovers.count == 0) && m.mayBeTakenOver() {
			m.recovery.orphaned(now, w)
			orphans = append(orphans, m)
			continue
		}
		m.died(w)
	}
	return orphans
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

// Started starts the wait for the first line of a program that was started now.
func (d *Debugger) Started(name string, now time.Duration) {
	replaces := slices.ContainsFunc(d.Machines, func(m *Machine) bool { return m.takeovers.count > 0 })
	d.Bound = d.Bound.begin(now, replaces)
	d.Startup = startup{name: name, at: now, last: replaces, bound: d.Bound}
}
