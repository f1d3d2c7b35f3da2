// What is kept of a rank that is handed over: what only its old gdb knows.

package debugger

import (
	"fmt"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol/pattern"
	"slices"
	"strings"
)

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

func (h *handover) keepThreads(m *core) {
	for _, t := range m.threads {
		k := keptThread{id: t.ID, stop: t.Stop}
		if p := m.points.At(t.Stop); p != nil {
			k.stopped = p.Number
		}
		if name := t.Stop.Str("signal-name"); t.Stop.Str("reason") == "signal-received" && name != "0" {
			k.signal = name
		}
		h.threads = append(h.threads, k)
	}
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

// keepPoints keeps what gdb has counted, and returns gdb's numbers of the breakpoints
// of this rank.
func (h *handover) keepPoints(m *core, table mi.Tuple) (numbers []string) {
	for _, f := range table.Path("BreakpointTable", "body").Fields {
		t := f.Value.Fields
		number := t.Str("number")
		if !m.points.Claimed(number) {
			continue
		}
		numbers = append(numbers, number)
		k := keptPoint{number: m.points.NumberOf(number)}
		k.hits, _ = t.Int("times")
		k.hits += m.points.HitsBefore(number)
		k.ignore, _ = t.Int("ignore")
		h.points = append(h.points, k)
	}
	return numbers
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

// keptVariable is a convenience variable that can be given to another gdb.
type keptVariable struct{ name, value string }

// shownVariable matches a line of "show convenience": "$i_of_rank_3 = 5". A value of
// several lines is not a number.
var shownVariable = pattern.New(`^\$([A-Za-z]\w*) = (.*)$`)

// plainNumber matches a value that gdb reads as it prints it.
var plainNumber = pattern.New(`^-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$`)

// variablesIn returns the variables of a rank, whose names end in suffix, from the output of "show
// convenience": numbers with their values, and the names of the others.
func variablesIn(text, suffix string) (vars []keptVariable, others []string) {
	for line := range strings.Lines(text) {
		found := shownVariable.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || found[2] == "void" {
			continue
		}
		name, mine := strings.CutSuffix(found[1], suffix)
		switch {
		case !mine:
		case plainNumber.MatchString(found[2]):
			vars = append(vars, keptVariable{name, found[2]})
		default:
			others = append(others, "$"+name)
		}
	}
	return vars, others
}
