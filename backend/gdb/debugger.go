// What one gdb does for the ranks that share it.

package gdb

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend/mi"
	"sdm/protocol/rank"
)

// debugger is one gdb as the machines of its ranks share it: the commands on
// their way, and who is meant by what it tells. It is pure, as machines are.
//
//	machine of rank 0, i1 ─┐                       ┌─ *stopped,thread-id="4" → the machine that has thread 4
//	machine of rank 1, i2 ─┼─ calls ─→ gdb ─ lines ─┼─ ^done of a token       → the machine that asked
//	machine of rank 2, i3 ─┘                       └─ =thread-…,group-id="i2" → the machine of that group
type debugger struct {
	machines  []*machine
	several   bool             // it has had more than one
	threads   map[int]*machine // by gdb's number, which counts over all of its inferiors
	calls     calls
	bytes     []byte        // to be sent, as far as take gives it
	turns     []turn        // what must be over before more of bytes is sent; in order
	kill      bool          // it is to be killed
	replaced  string        // … because of this, and another one takes its ranks over
	late      bool          // an answer is overdue: new commands are refused at once
	gone      bool          // there is no gdb any more
	killAt    time.Duration // when it is killed unless it has ended; 0 is never
	eager     bool          // it reads separate debug files by itself
	elements  bool          // a person has said how many elements it shows
	objects   bool          // it shows objects as what they are, and not as what they are declared to be (set print object)
	old       bool          // it does not know mi4: one before 13
	loud      bool          // it tells what it does; see speakUp
	ten       bool          // it is gdb 10
	lazy      bool          // it does not read symbols of libraries by itself
	libraries []string      // whose symbols some rank has needed, where it is lazy
	handling  handling
	quiet     int             // how many machines want gdb to keep quiet about SIGCONT
	handle    string          // the user's own handling of SIGCONT
	ends      []*machine      // have exited by a signal that gdb has not told yet
	asked     rank.Set        // whom the present request is for
	registers map[string]bool // names of registers, where several ranks share; nil before they are asked for
	birth     birth
	abort     abortPoint
	bound     bound
	complains complaints
	remarks   remarks
	setting   lastSetting
	start     []*startPoint // where ranks have not been yet
}

// newDebugger makes the machines that share a gdb; how many they are is settled
// for its life.
func newDebugger(n int) *debugger {
	return &debugger{threads: map[int]*machine{}, handle: handleBack, machines: make([]*machine, 0, n)}
}

// shared tells whether several ranks are in it, or have been: how they are kept apart is settled for its life.
func (d *debugger) shared() bool { return d.several }

// add gives a machine an inferior of its own. gdb has one to begin with, i1,
// and names those that it is told to add i2, i3, … in this order: nobody
// waits for its answers.
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

// record takes a line of gdb.
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
		if r.Class == mi.Console && isAboutThreadLibrary(r.Text) {
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

// result answers a call. gdb may give none (then one for a later call comes)
// and two: ^running and then ^error when the resume failed half-way.
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

// exec takes *running and *stopped.
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

// owner gives the machine of a thread, as a list of one. An only machine has
// them all.
func (d *debugger) owner(thread int) []*machine {
	if !d.shared() {
		return d.machines
	}
	if m := d.threads[thread]; m != nil {
		return []*machine{m}
	}
	return nil
}

// ended gives the machines that a *stopped without a thread may concern: that whose end it tells. gdb does
// not say which: it has told just before, by =thread-group-exited.
func (d *debugger) ended(stop mi.Tuple) []*machine {
	if !d.shared() {
		return d.machines
	}
	if stop.Str("reason") == "" {
		return d.machines // of no end (callOver)
	}
	if stop.Str("reason") != "exited-signalled" || len(d.ends) == 0 {
		return nil // the exit code has been told
	}
	m := d.ends[0]
	d.ends = d.ends[1:]
	return []*machine{m}
}

// notified takes a =record.
func (d *debugger) notified(now time.Duration, r mi.Record) {
	if k := d.calls.current(); k != nil && r.Name == "breakpoint-created" {
		k.made = r.Results.Path("bkpt", "number").Str
	}
	if r.Name == "library-loaded" && !mpiLibrary.MatchString(r.Results.Str("target-name")) {
		return // of these there are many
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
			break // of the parent
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

// concerned finds the machine that a =record is about: that of the group it
// names, that of the thread, or that whose command gdb is carrying out.
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

// leave tells gdb to end when the last of its ranks is over.
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

// release forgets a rank that has a gdb of its own from now on.
func (d *debugger) release(now time.Duration, m *machine) {
	is := func(o *machine) bool { return o == m }
	d.machines = slices.DeleteFunc(d.machines, is)
	d.ends = slices.DeleteFunc(d.ends, is)
	maps.DeleteFunc(d.threads, func(_ int, o *machine) bool { return o == m })
	if len(d.machines) > 0 {
		for signal := range m.signals {
			d.machines[0].tellHandling(signal)
		}
	}
	d.leave(now)
}

// tick looks at the clock.
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

// deadline is when tick has something to do, 0 for never.
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

// died takes the end of gdb. It gives the machines that another one shall take
// over, where there may be another.
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
