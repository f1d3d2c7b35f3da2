// Commands about a frame: print, info locals, frame.

package debugger

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
	"sdm/protocol"
)

// printed is the body of print; the value is in column "value".
type printed struct {
	Expr string `json:"expr"`
	// Elements is the number of elements of an array of which only First to Last (from
	// 0) are shown; 0: all are shown.
	Elements int    `json:"elements,omitempty"`
	First    int    `json:"first,omitempty"`
	Last     int    `json:"last,omitempty"`
	Format   string `json:"format,omitempty"` // format of the values
	// Part is the expression of the array that this is about, if it is part of the
	// value.
	Part string `json:"part,omitempty"`
	// Members says that Elements, First and Last count the members of a structure.
	Members bool `json:"members,omitempty"`
	// Shape describes the array, unless it is a plain array of C.
	Shape *protocol.Shape `json:"shape,omitempty"`
}

// evaluate executes print. Only gdb's command line knows formats and options (/x,
// -pretty --); other expressions are evaluated by GDB/MI.
func (m *Machine) evaluate(q *Request) {
	switch w := q.printing(); {
	case w.Expr != "":
	case w.Format == "":
		m.printAgain(q)
		return
	default:
		q.apart()
		q.args.Expr = "$"
	}
	if !m.withLast(q) {
		return
	}
	w := q.printing()
	switch {
	case !gdbtext.IsFormat(w.Format):
		m.fail(q, gdbtext.InvalidFormat(w.Format))
		return
	case q.args.Last > 0:
		m.page(q)
		return
	}
	m.askPrint(q, w, w.Expr, func(a answer, value string) {
		if q.printing().Plain() && m.incomplete(a) {
			m.readLibraries()
			m.evaluate(q)
			return
		}
		m.scoped(q, w, w.Expr, a, func() { m.evaluated(q, a, value) })
	})
}

func (m *Machine) evaluated(q *Request, a answer, value string) {
	if q.args.Stat && (a.failed() && tooLarge.MatchString(a.Results.Str("msg")) || !a.failed() && mayHoldElements(value)) {
		m.countArray(q, func() { m.evaluatedOne(q, a, value) })
		return
	}
	m.evaluatedOne(q, a, value)
}

// evaluatedOne is evaluated without statistics.
func (m *Machine) evaluatedOne(q *Request, a answer, value string) {
	switch {
	case a.failed() && tooLarge.MatchString(a.Results.Str("msg")):
		m.evaluatedLarge(q, a)
	case a.failed():
		m.refused(q, a)
	default:
		q.head = gdbtext.ReferenceHead(value)
		m.evaluatedWhole(q, value[len(q.head):])
	}
}

// variables is the body of info locals and info args.
type variables struct {
	Names []string `json:"names"`
}

func (m *Machine) infoLocals(q *Request) {
	m.askVariables(q, m.at(q), localsLine, func(a answer, list mi.Tuple) { m.replyVariables(q, a, list) },
		[]string{"locals"}, "-stack-list-locals", "--all-values")
}

func (m *Machine) infoArgs(q *Request) {
	level := strconv.Itoa(m.frameOf(q))
	m.askVariables(q, m.at(q), argsLine, func(a answer, list mi.Tuple) { m.replyVariables(q, a, list) },
		[]string{"stack-args", "frame", "args"}, "-stack-list-arguments", "--all-values", level, level)
}

// frameOf returns the level that a request is about.
func (m *Machine) frameOf(q *Request) int {
	level, _ := strconv.Atoi(m.at(q)[3])
	return level
}

// replyNoVariables distinguishes a function without variables from one without symbols.
func (m *Machine) replyNoVariables(q *Request) {
	m.ask(q, func(a answer) {
		if !a.failed() && a.Results.Path("frame", "file").Str == "" {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "No symbol table info available."})
			return
		}
		m.reply(q, variables{Names: []string{}})
	}, "-stack-info-frame", m.at(q)...)
}

func (m *Machine) replyVariables(q *Request, a answer, list mi.Tuple) {
	if a.failed() {
		m.refused(q, a)
		return
	}
	names, values := gdbtext.NamesAndValues(list)
	if len(names) == 0 {
		m.replyNoVariables(q)
		return
	}
	m.heardAll(a, values)
	left := 1
	came := func() {
		if left--; left > 0 {
			return
		}
		body := variables{Names: append([]string{}, names...)}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		for i, name := range names {
			c.add("value."+name, values[i])
		}
		m.reply(q, body, c.sorted()...)
	}
	for i, name := range names {
		// hidden by another of its name
		if !tooLarge.MatchString(values[i]) || strings.Contains(name, "#") {
			continue
		}
		left++
		m.beginning(q, name, func(text string, bad *protocol.Fault) {
			if bad == nil {
				values[i] = text
			}
			came()
		})
	}
	came()
}

// chosenFrame is the body of frame, up and down.
type chosenFrame struct {
	Frame  protocol.Frame `json:"frame"`
	Source string         `json:"source,omitempty"`
}

// chooseFrame selects and shows a frame.
func (m *Machine) chooseFrame(q *Request) {
	if q.Name == "frame" && (q.args.Name != "" || q.args.From != "") {
		m.findFrame(q)
		return
	}
	from, count := m.chosen.frame, max(q.args.Count, 1)
	first, last := from, from
	switch {
	case q.Name == "up":
		first, last = from+1, from+count
	case q.Name == "down" && from == 0 && q.args.Count == 0:
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Bottom (innermost) frame selected; you cannot go down."})
		return
	case q.Name == "down":
		first = max(from-count, 0)
		last = first
	case q.args.Frame != nil:
		first = *q.args.Frame
		last = first
	}
	thread := m.chosen.thread
	choose := func(frames []frame, refusal string) { m.frameChosen(q, thread, frames, refusal) }
	m.listFrames(q, thread, first, last, func(frames []frame, refusal string) {
		// with a count it is no error to stay
		if len(frames) == 0 && q.Name == "up" && q.args.Count > 0 {
			m.listFrames(q, thread, from, from, choose)
			return
		}
		choose(frames, refusal)
	})
}

// findFrame selects the innermost frame of a function, or the frame at an address.
func (m *Machine) findFrame(q *Request) {
	thread := m.chosen.thread
	choose := func(level int) {
		m.listFrames(q, thread, level, level, func(frames []frame, refusal string) { m.frameChosen(q, thread, frames, refusal) })
	}
	m.reach(q, thread, mostMerged, func() {
		if q.args.Name != "" {
			m.frameOfFunction(q, thread, choose)
		} else {
			m.frameAtAddress(q, choose)
		}
	})
}

// frameOfFunction searches the listed frames: "frame function" of a shared gdb 13.1
// resumes the ranks.
func (m *Machine) frameOfFunction(q *Request, thread int, then func(level int)) {
	m.ask(q, func(a answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if protocol.IsFunction(v.Fields.Str("func"), q.args.Name) {
				level, _ := v.Fields.Int("level")
				then(level)
				return
			}
		}
		if a.failed() {
			m.refused(q, a)
			return
		}
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No frame for function \"%s\".", q.args.Name)})
	}, "-stack-list-frames", "--thread", m.gdbThread(thread), "0", strconv.Itoa(mostFrames))
}

// shownLevel matches the beginning of a frame: "#1  0x5555 in main () at work.c:45".
var shownLevel = regexp.MustCompile(`^#([0-9]+)\s`)

func (m *Machine) frameAtAddress(q *Request, then func(level int)) {
	m.inConsole(q, "frame address "+q.args.From, func(text string) {
		found := shownLevel.FindStringSubmatch(text)
		if found == nil {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(text)})
			return
		}
		level, _ := strconv.Atoi(found[1])
		then(level)
	})
}

func (m *Machine) frameChosen(q *Request, thread int, frames []frame, refusal string) {
	if len(frames) == 0 {
		switch {
		case !strings.Contains(refusal, "Not enough frames"):
		case q.Name == "up":
			refusal = "Initial frame selected; you cannot go up."
		default:
			refusal = noFrame(m.frameOf(q))
		}
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
		return
	}
	f := frames[len(frames)-1]
	if m.stateNow().Refuse(protocol.NeedStopped) == nil {
		m.chosen = selection{thread, f.Level}
	}
	c := columnsOf(m.Target.Rank, q.args.Limit)
	c.frame("", f)
	m.reply(q, chosenFrame{Frame: f.Frame, Source: m.lineOf(f)}, c.sorted()...)
}
