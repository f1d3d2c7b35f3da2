// Handover of a stopped rank from a shared gdb to a gdb of its own.

package debugger

import (
	"fmt"
	"slices"
	"strconv"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// moves gives the rank a gdb of its own.
type moves struct {
	*Machine
	moving *handover // that is under way, or nil
}

// handover is its progress. It begins when a command for some ranks of a shared gdb
// cannot be confined to them. The rank stays stopped at the same instruction, and to
// the user it stays stopped.
//
//	what only gdb knows ─→ SIGSTOP, -target-detach ─→ loop: a new gdb attaches ─→
//	   journal ─→ threads, frame ─→ waiting requests
//
// The SIGSTOP is sent while all threads are in ptrace-stop. So the kernel delivers it
// when gdb detaches, before they execute an instruction of the program (ptrace(2),
// PTRACE_DETACH).
type handover struct {
	why     string             // reason, for messages
	allStop bool               // the new gdb uses all-stop mode
	waiting []*request.Request // the new gdb executes them
	chosen  request.Selection
	threads []keptThread
	counted int
	points  []keptPoint
	watched map[int]request.Selection // frames of watchpoints, see point
	vars    []keptVariable
	awaking *values.Thread // see flush and wake
	step    int64          // the token of the step that flush has told gdb
	inlined *inlined       // frames of awaking, while gdb hides some of them
	queued  string         // the signal that it is to get, or ""
	lost    []string       // names of variables that the new gdb does not get
}

// keptThread is a thread, by what does not change.
type keptThread struct {
	id      int
	lwp     string
	stop    mi.Tuple
	signal  string // to be delivered when it resumes
	stopped int    // sdm's number of the breakpoint at which it has stopped
	flushed bool   // see flush
}

// keptOf returns what is kept of a thread.
func (h *handover) keptOf(t *values.Thread) *keptThread {
	for i := range h.threads {
		if h.threads[i].id == t.ID {
			return &h.threads[i]
		}
	}
	return nil
}

// keptPoint is what a gdb has counted at a breakpoint.
type keptPoint struct{ number, hits, ignore int }

// useOwnGDB executes a request in a gdb of the rank's own.
func (mv *moves) useOwnGDB(q *request.Request, why string) {
	if f := mv.StateNow().Refuse(protocol.NeedStopped); f != nil {
		f := *f
		f.Hint = "stopped, it gets a gdb of its own for " + why
		mv.Fail(q, &f)
		return
	}
	if mv.runs.inCall {
		mv.Fail(q, &protocol.Fault{Kind: protocol.FaultState, Message: "the rank stands in a function that an expression has called, and cannot get a gdb of its own for " + why, Hint: "finish ends the call"})
		return
	}
	mv.moving = &handover{why: why, waiting: []*request.Request{q}, chosen: mv.chosen, counted: mv.counted, watched: map[int]request.Selection{}}
	for _, p := range mv.points.list {
		mv.moving.watched[p.number] = p.watched
	}
	mv.moving.keepThreads(mv.Machine)
	mv.askKept()
}

// queue queues a request until the handover is complete.
func (mv *moves) queue(q *request.Request) bool {
	if mv.moving == nil || mv.State.IsOver() {
		return false
	}
	mv.moving.waiting = append(mv.moving.waiting, q)
	return true
}

func (h *handover) keepThreads(m *Machine) {
	for _, t := range m.threads {
		k := keptThread{id: t.ID, stop: t.Stop}
		if p := m.points.at(t.Stop); p != nil {
			k.stopped = p.number
		}
		if name := t.Stop.Str("signal-name"); t.Stop.Str("reason") == "signal-received" && name != "0" {
			k.signal = name
		}
		h.threads = append(h.threads, k)
	}
}

// askKept asks gdb for what only gdb knows, and then detaches.
func (mv *moves) askKept() {
	h := mv.moving
	q := request.Internal("hand over")
	mv.ask(q, func(a request.Answer) { h.nameThreads(mv.threads, a.Results) }, "-list-thread-groups", mv.group)
	for i := range h.threads {
		if k := &h.threads[i]; k.signal != "" {
			mv.settings.inConsoleOr(q, "info signals "+k.signal, func(a request.Answer) { k.signal = mv.passing(k.signal, a.Text) })
		}
	}
	mv.settings.inConsoleOr(q, "show convenience", func(a request.Answer) { h.vars, h.lost = variablesIn(a.Text, mv.VariableSuffix()) })
	mv.ask(q, func(a request.Answer) {
		if mv.moving == h { // otherwise gdb has died
			mv.detachStopped(h.keepPoints(mv.Machine, a.Results))
		}
	}, "-break-list")
}

// nameThreads keeps the kernel's thread IDs.
func (h *handover) nameThreads(threads values.Threads, groups mi.Tuple) {
	for n, lwp := range lwpsIn(groups) {
		i := slices.IndexFunc(h.threads, func(k keptThread) bool { return k.id == threads.IDOf(n) })
		if i >= 0 {
			h.threads[i].lwp = lwp
		}
	}
}

// passing returns the signal if the program is to get it, by gdb's table and that of
// this rank, otherwise "".
func (mv *moves) passing(signal, table string) string {
	h, own := mv.settings.handlesOwn(signal)
	if list := signalsIn(table); !own && len(list) == 1 {
		h = list[0]
	}
	if h.Pass {
		return signal
	}
	return ""
}

// keepPoints keeps what gdb has counted, and returns gdb's numbers of the breakpoints
// of this rank.
func (h *handover) keepPoints(m *Machine, table mi.Tuple) (numbers []string) {
	for _, f := range table.Path("BreakpointTable", "body").Fields {
		t := f.Value.Fields
		number := t.Str("number")
		if !m.points.claimed(number) {
			continue
		}
		numbers = append(numbers, number)
		k := keptPoint{number: m.points.numberOf(number)}
		k.hits, _ = t.Int("times")
		k.hits += m.points.hitsBefore(number)
		k.ignore, _ = t.Int("ignore")
		h.points = append(h.points, k)
	}
	return numbers
}

// detachStopped deletes the breakpoints and detaches, leaving the rank stopped.
func (mv *moves) detachStopped(numbers []string) {
	mv.attach.restoreSIGCONT()
	if len(numbers) > 0 {
		mv.Tell("delete", "-break-delete", numbers...)
	}
	if mv.IsCore() {
		mv.detached()
		return
	}
	mv.flush()
}

func (mv *moves) detachNow() {
	for _, k := range mv.moving.threads {
		if k.flushed || k.stop.Str("reason") == "signal-received" {
			mv.Tell("signal", "-interpreter-exec", "--thread", mv.GDBThread(k.id), "console", "queue-signal 0")
		}
	}
	mv.send(ToTarget, sigStop)
	mv.termination.detachFrom(request.Internal("detach"), func(a request.Answer) {
		if mv.moving == nil {
			return
		}
		if a.Failed() {
			mv.notDetached(a.Results.Str("msg"))
			return
		}
		mv.detached()
	})
}

// notDetached continues with the old gdb. The SIGSTOP has still to be undone.
func (mv *moves) notDetached(why string) {
	mv.attach.frozen = true
	mv.stays(why)
}

// stays ends the handover; the rank stays in the old gdb.
func (mv *moves) stays(why string) {
	h := mv.moving
	mv.moving = nil
	mv.attach.ignoreSIGCONT()
	for _, q := range h.waiting {
		mv.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "the rank cannot get a gdb of its own: " + why})
	}
	mv.Event(protocol.KindNote, protocol.Note{Text: "the breakpoints of the rank are gone: gdb did not let it go when it was to get a gdb of its own (" + why + ")"})
}

// detached makes the host start a gdb; the machine continues in TakeOver, as after the
// death of a gdb.
func (mv *moves) detached() {
	if mv.State.IsOver() {
		return
	}
	mv.recovery.begin()
	mv.recovery.running, mv.recovery.firstStop, mv.recovery.seeks = false, "", false
	mv.recovery.repeats, mv.journal = mv.journal, nil
	mv.Target.AllStop = mv.Target.AllStop || mv.moving.allStop
	mv.State = backend.Attaching
	mv.Out.Move = true
}

// recognize gives the threads their previous numbers.
func (mv *moves) recognize(groups mi.Tuple) {
	h := mv.moving
	for n, lwp := range lwpsIn(groups) {
		t := mv.threads.ByGDB(n)
		i := slices.IndexFunc(h.threads, func(k keptThread) bool { return k.lwp == lwp })
		if t != nil && i >= 0 {
			t.ID, t.Stop = h.threads[i].id, h.threads[i].stop
		}
	}
	slices.SortFunc(mv.threads, func(a, b *values.Thread) int { return a.ID - b.ID })
	mv.counted, mv.recounts = max(h.counted, mv.counted), true
	mv.chosen = h.chosen
	if mv.threads.Find(mv.chosen.Thread) == nil && len(mv.threads) > 0 {
		mv.chosen = request.Selection{Thread: mv.threads[0].ID}
	}
}

// wake ends the group stop of the rank before gdb inserts breakpoints, and prepares the
// signals that threads get when they resume. The kernel accepts a signal from gdb only
// for a thread in signal-delivery-stop (ptrace(2)). So a thread is sent SIGCONT, which
// is delivered before its next instruction.
func (mv *moves) wake() {
	h := mv.moving
	switch i := slices.IndexFunc(h.threads, func(k keptThread) bool { return k.signal != "" }); {
	case i >= 0:
		h.awaking = mv.threads.Find(h.threads[i].id)
		h.queued, h.threads[i].signal = h.threads[i].signal, ""
	case mv.attach.frozen:
		h.awaking, h.queued = mv.selectedThread(), ""
	default:
		mv.attach.replay(mv.recovery.repeats, mv.moved)
		return
	}
	if h.awaking == nil { // it has ended
		mv.wake()
		return
	}
	h.awaking.Stop, h.inlined, mv.attach.frozen = nil, nil, false
	mv.send(ToTarget, sigCont)
	mv.Tell("handle", console, "handle SIGCONT stop nopass")
	if mv.Target.AllStop {
		mv.Tell("signal", "-gdb-set", "scheduler-locking", "on") // the others must not move
	}
	mv.Tell("signal", "-exec-step-instruction", "--thread", mv.GDBThread(h.awaking.ID))
}

// selectedThread returns the selected thread.
func (mv *moves) selectedThread() *values.Thread {
	if t := mv.threads.Find(mv.chosen.Thread); t != nil {
		return t
	}
	return mv.threads[0]
}

// settleMove checks whether the thread that flush or wake resumed has stopped.
func (mv *moves) settleMove() {
	if mv.moving == nil || mv.moving.awaking == nil || mv.moving.awaking.Stop == nil {
		return
	}
	h := mv.moving
	if !mv.recovery.under { // in the old gdb
		h.awaking = nil
		mv.flushed()
		return
	}
	if h.inlined == nil && mv.coversInlined() || h.inlined != nil && mv.uncoversInlined() {
		return
	}
	mv.awake()
}

// awake continues after wake has stopped a thread at its signal.
func (mv *moves) awake() {
	h := mv.moving
	mv.Tell("handle", console, handleIgnoring)
	if mv.Target.AllStop {
		mv.Tell("signal", "-gdb-set", "scheduler-locking", "replay") // gdb's default
	}
	if h.queued != "" {
		mv.Tell("signal", "-interpreter-exec", "--thread", mv.GDBThread(h.awaking.ID), "console", "queue-signal "+h.queued)
	}
	h.awaking = nil
	mv.wake()
}

// moved executes the waiting requests after the new gdb has executed the journal.
func (mv *moves) moved() {
	h := mv.moving
	if h == nil || mv.State.IsOver() {
		return
	}
	mv.tellKept(h)
	mv.moving, mv.recovery.under, mv.termination.killAt = nil, false, 0
	mv.State = backend.Stopped
	mv.Event(protocol.KindNote, protocol.Note{Text: "the rank has a gdb of its own now, for " + h.why + h.missing()})
	for _, q := range h.waiting {
		if row, ok := lookup(q.Name); ok && !q.Answered {
			mv.execute(row, q)
		}
	}
}

// tellKept gives the new gdb what the old one knew, and restores the stops of the
// threads.
func (mv *moves) tellKept(h *handover) {
	for _, k := range h.threads {
		if t := mv.threads.Find(k.id); t != nil {
			t.Stop = mv.points.renumbered(k.stop, k.stopped)
		}
	}
	for _, k := range h.points {
		if p := mv.points.find([]int{k.number}); p != nil {
			p.before = k.hits
			mv.Tell("ignore", "-break-after", p.gdb, strconv.Itoa(k.ignore))
		}
	}
	for _, v := range h.vars {
		mv.Tell("set", console, "set $"+v.name+" = "+v.value)
	}
}

func (h *handover) missing() string {
	if len(h.lost) == 0 {
		return ""
	}
	return fmt.Sprintf("; it does not know %v", h.lost)
}

// lwpsIn returns the kernel's IDs of threads by gdb's numbers, from an answer to
// -list-thread-groups.
func lwpsIn(groups mi.Tuple) map[int]string {
	lwps := map[int]string{}
	list, _ := groups.Get("threads")
	for _, f := range list.Fields {
		n, _ := f.Value.Fields.Int("id")
		if found := lwpNumber.FindStringSubmatch(f.Value.Fields.Str("target-id")); found != nil {
			lwps[n] = found[1]
		}
	}
	return lwps
}

// lwpNumber matches the end of gdb's name of a thread: "Thread 0x7ffff7d8a740 (LWP
// 4711)", "process 4711".
var lwpNumber = pattern.New(`(?:LWP|process) ([0-9]+)\)?$`)
