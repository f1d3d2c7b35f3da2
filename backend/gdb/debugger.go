// One gdb and the ranks that share it.

package gdb

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
	"sdm/protocol/rank"
)

// debugger is one gdb, shared by the machines of its ranks: the outstanding commands,
// and which machine a record is for. Like a machine it is pure.
//
//	machine of rank 0, i1 ─┐                       ┌─ *stopped,thread-id="4" → machine of thread 4
//	machine of rank 1, i2 ─┼─ calls ─→ gdb ─ lines ─┼─ ^done of a token        → machine that asked
//	machine of rank 2, i3 ─┘                       └─ =thread-…,group-id="i2" → machine of the group
type debugger struct {
	machines  []*machine
	several   bool             // it has had more than one
	threads   map[int]*machine // by gdb's number, which is unique over its inferiors
	calls     calls
	bytes     []byte        // commands to be sent, as far as take returns them
	turns     []turn        // what must have ended before more of bytes is sent; in order
	kill      bool          // the process is to be killed
	replaced  string        // the reason, if another gdb takes over the ranks
	late      bool          // an answer is overdue: new commands are refused at once
	gone      bool          // the process has ended
	killAt    time.Duration // when it is killed unless it has ended; 0: never
	eager     bool          // it reads separate debug files by itself
	elements  bool          // a user has set how many elements it shows
	objects   bool          // it shows objects by their dynamic type (set print object)
	old       bool          // it is older than 13 and does not know mi4
	loud      bool          // it prints what it does; see speakUp
	ten       bool          // it is gdb 10
	lazy      bool          // it does not read symbols of libraries by itself
	libraries []string      // those whose symbols a rank has needed, if lazy
	handling  handling
	quiet     int             // how many machines have SIGCONT handled quietly
	handle    string          // the user's handling of SIGCONT
	ends      []*machine      // ended by a signal that gdb has not reported yet
	asked     rank.Set        // ranks of the present request
	registers map[string]bool // names of registers, if it is shared; nil: not known yet
	birth     birth
	abort     abortPoint
	bound     bound
	complains complaints
	remarks   remarks
	setting   lastSetting
	start     []*startPoint // breakpoints of ranks that have not reached them yet
}

// newDebugger makes a debugger for n machines.
func newDebugger(n int) *debugger {
	return &debugger{threads: map[int]*machine{}, handle: handleBack, machines: make([]*machine, 0, n)}
}

// shared reports whether it has ever had several ranks: how they are kept apart does
// not change afterwards.
func (d *debugger) shared() bool { return d.several }

// add gives a machine an inferior of its own. gdb starts with one, i1, and names those
// that -add-inferior adds i2, i3, … in order, so the answers are not needed.
func (d *debugger) add(m *machine) {
	d.machines = append(d.machines, m)
	m.gdb = d
	m.inferior = len(d.machines)
	m.group = "i" + strconv.Itoa(m.inferior)
	if m.inferior > 1 {
		d.several = true
		d.bytes = mi.AppendCommand(d.bytes, d.calls.add(&call{task: "attach", by: m}), "-add-inferior")
	}
}

// record processes a record of gdb.
func (d *debugger) record(now time.Duration, r mi.Record) {
	d.birth.hear(r)
	d.ten = d.ten || d.loud && r.Class == mi.Log && strings.HasPrefix(r.Text, "[infrun]")
	switch r.Class {
	case mi.Result:
		d.result(now, r)
	case mi.Exec:
		d.exec(now, r)
	case mi.Notify:
		d.notified(now, r)
	case mi.Console, mi.Log, mi.Target, mi.Other:
		if r.Class == mi.Console && gdbtext.IsAboutThreadLibrary(r.Text) {
			return
		}
		d.hearFork(now, r.Text)
		switch heard := d.calls.hear(r); {
		case r.Class == mi.Log && !d.loud:
			d.hearLog(r.Text, heard)
		case r.Class == mi.Console && !heard:
			d.hearConsole(r.Text)
		}
		for _, m := range d.machines {
			m.hearRecord(r.Text)
			if r.Class == mi.Log {
				m.now = now
				m.complained(r.Text)
			}
		}
	}
}

// result processes the result of a call. gdb may omit a result, then one for a later
// call comes, and may give two: ^running and then ^error if the resume failed half-way.
func (d *debugger) result(now time.Duration, r mi.Record) {
	d.late = false
	k, skipped := d.calls.take(r.Token)
	for _, s := range skipped {
		s.finish(now, mi.Record{Class: mi.Result, Name: "error", Results: mi.Tuple{{Name: "msg", Value: mi.Value{Str: "gdb gave no result"}}}})
	}
	if k != nil {
		k.finish(now, r)
		return
	}
	if r.Name != "error" {
		return
	}
	for _, m := range d.machines {
		m.now = now
		m.resumeFailed(r)
		m.settle()
	}
}

func (k *call) finish(now time.Duration, r mi.Record) {
	if k.by == nil { // of no rank
		return
	}
	k.by.now = now
	k.remarked(r)
	if k.then != nil {
		k.then(answer{Record: r, text: k.text.String(), warned: k.by.withoutRepeats(k.warned.String()), made: k.made})
	}
	k.by.settle()
}

// exec processes *running and *stopped.
func (d *debugger) exec(now time.Duration, r mi.Record) {
	id := r.Results.Str("thread-id")
	if k := d.calls.current(); k != nil && id != "" && k.still == id && r.Name == "stopped" {
		return
	}
	of := d.machines
	if d.shared() && r.Name == "stopped" {
		d.calls.interrupted()
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
			if _, told := stop.Get("reason"); !told && d.remarks.dropsWatchpoint() {
				stop = stepped(stop)
			}
			m.remark()
			m.stopped(stop)
		}
		m.settle()
	}
}

// owner returns the machine of a thread, as a list of one. A machine that is alone owns
// all threads.
func (d *debugger) owner(thread int) []*machine {
	if !d.shared() {
		return d.machines
	}
	if m := d.threads[thread]; m != nil {
		return []*machine{m}
	}
	return nil
}

// ended returns the machines that a *stopped without a thread may concern: the one
// whose end it reports. gdb does not name it; a =thread-group-exited precedes.
func (d *debugger) ended(stop mi.Tuple) []*machine {
	if !d.shared() {
		return d.machines
	}
	if stop.Str("reason") == "" {
		return d.machines // not an end (see callOver)
	}
	if stop.Str("reason") != "exited-signalled" || len(d.ends) == 0 {
		return nil // already reported with the exit code
	}
	m := d.ends[0]
	d.ends = d.ends[1:]
	return []*machine{m}
}

// notified processes a =record.
func (d *debugger) notified(now time.Duration, r mi.Record) {
	if k := d.calls.current(); k != nil && r.Name == "breakpoint-created" {
		k.made = r.Results.Path("bkpt", "number").Str
	}
	if r.Name == "library-loaded" && !mpiLibrary.MatchString(r.Results.Str("target-name")) {
		return // there are many of these
	}
	if r.Name == "breakpoint-deleted" {
		for _, m := range d.machines {
			m.points.deleted(r.Results.Str("id"))
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
		m.thread(id)
		m.threadCame()
	case "thread-exited":
		delete(d.threads, id)
		m.threads.remove(id)
	case "thread-group-started":
		m.followed(r.Results.Str("id"), r.Results.Str("pid"))
	case "thread-group-exited":
		if r.Results.Str("id") != m.group {
			break // that of the parent
		}
		if r.Results.Str("exit-code") == "" && !m.ending.poked && !m.ending.leaving && m.moving == nil {
			d.ends = append(d.ends, m)
		}
		m.groupExited(r.Results.Str("exit-code"))
	case "thread-selected":
		level, _ := strconv.Atoi(r.Results.Path("frame", "level").Str)
		if ours := m.threads.ours(id); ours != 0 {
			m.chosen = selection{thread: ours, frame: level}
		}
	case "record-started", "record-stopped":
		m.record.begun = r.Name == "record-started"
	case "library-loaded":
		m.libraryCame(r.Results.Str("target-name"))
	case "library-unloaded":
		m.libraryGone(r.Results.Str("host-name"))
	case "cmd-param-changed":
		if r.Results.Str("param") == "scheduler-locking" {
			m.locking = r.Results.Str("value")
		}
	}
	m.settle()
}

// concerned returns the machine that a =record is about: that of the group or thread
// that it names, or that whose command gdb executes.
func (d *debugger) concerned(r mi.Record) *machine {
	if !d.shared() {
		return d.machines[0]
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
		if k := d.calls.current(); k != nil {
			return k.by
		}
		return nil
	}
	for _, m := range d.machines {
		if m.group == group {
			return m
		}
	}
	return nil
}

// leave tells gdb to exit after the last of its ranks has ended.
func (d *debugger) leave(now time.Duration) {
	if d.gone || d.killAt != 0 {
		return
	}
	for _, m := range d.machines {
		if !m.finished() {
			return
		}
	}
	d.bytes = mi.AppendCommand(d.bytes, d.calls.add(&call{task: "exit", sent: now}), "-gdb-exit")
	d.killAt = now + enough
}

// release removes a rank that gets a gdb of its own.
func (d *debugger) release(now time.Duration, m *machine) {
	is := func(o *machine) bool { return o == m }
	d.machines = slices.DeleteFunc(d.machines, is)
	d.ends = slices.DeleteFunc(d.ends, is)
	maps.DeleteFunc(d.threads, func(_ int, o *machine) bool { return o == m })
	d.calls.forget(m)
	if len(d.machines) > 0 {
		for signal := range m.signals {
			d.machines[0].tellHandling(signal)
		}
	}
	d.leave(now)
}

// tick processes all deadlines that have passed.
func (d *debugger) tick(now time.Duration) {
	for _, m := range d.machines {
		m.tick(now)
	}
	if d.killAt != 0 && now >= d.killAt {
		d.killAt = 0
		d.kill = true
	}
	if d.birth.tick(now) {
		d.kill = true
	}
}

// deadline returns when tick is due; 0: never.
func (d *debugger) deadline() time.Duration {
	first := d.killAt
	if t := d.birth.deadline(); t != 0 && (first == 0 || t < first) {
		first = t
	}
	for _, m := range d.machines {
		if t := m.deadline(); t != 0 && (first == 0 || t < first) {
			first = t
		}
	}
	return first
}

// died processes the end of gdb. It returns the machines that another gdb is to take
// over; another says whether there may be one.
func (d *debugger) died(now time.Duration, how demise, another bool) (orphans []*machine) {
	how.cause = cmp.Or(d.replaced, how.cause)
	hopeful, silent := d.birth.hopeful(how), d.birth.wasSilent()
	if silent {
		how.cause = "it has said nothing in " + rounded(d.birth.gaveUp).String()
	}
	d.gone, d.killAt = true, 0
	d.calls.drop()
	for _, m := range d.machines {
		m.now = now
		if another && (hopeful || silent && m.rescue.count == 0) && m.canBeRescued() {
			m.orphaned(now, how.cause)
			orphans = append(orphans, m)
			continue
		}
		m.died(now, how.cause)
	}
	return orphans
}
