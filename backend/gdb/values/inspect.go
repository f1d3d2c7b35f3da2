// Commands about a frame: info locals, info args, frame, up, down.

package values

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// variables is the body of info locals and info args.
type variables struct {
	Names []string `json:"names"`
}

func (fr *Frames) infoLocals(q *request.Request) {
	fr.askVariables(q, fr.At(q), localsLine, func(a request.Answer, list mi.Tuple) { fr.replyVariables(q, a, list) },
		[]string{"locals"}, "-stack-list-locals", "--all-values")
}

func (fr *Frames) infoArgs(q *request.Request) {
	level := strconv.Itoa(fr.frameOf(q))
	fr.askVariables(q, fr.At(q), argsLine, func(a request.Answer, list mi.Tuple) { fr.replyVariables(q, a, list) },
		[]string{"stack-args", "frame", "args"}, "-stack-list-arguments", "--all-values", level, level)
}

// frameOf returns the level that a request is about.
func (fr *Frames) frameOf(q *request.Request) int { return fr.Selected(q).Frame }

// replyNoVariables distinguishes a function without variables from one without symbols.
func (fr *Frames) replyNoVariables(q *request.Request) {
	fr.Ask(q, func(a request.Answer) {
		if !a.Failed() && a.Results.Path("frame", "file").Str == "" {
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "No symbol table info available."})
			return
		}
		fr.Reply(q, variables{Names: []string{}})
	}, "-stack-info-frame", fr.At(q)...)
}

func (fr *Frames) replyVariables(q *request.Request, a request.Answer, list mi.Tuple) {
	if a.Failed() {
		fr.Refused(q, a)
		return
	}
	names, values := gdbtext.NamesAndValues(list)
	if len(names) == 0 {
		fr.replyNoVariables(q)
		return
	}
	fr.Printer.withWarnings(a, values)
	left := 1
	received := func() {
		if left--; left > 0 {
			return
		}
		body := variables{Names: append([]string{}, names...)}
		c := ColumnsOf(fr.Process().Rank, q.Args.Limit)
		for i, name := range names {
			c.Add("value."+name, values[i])
		}
		fr.Reply(q, body, c.Sorted()...)
	}
	for i, name := range names {
		// hidden by another of its name
		if !tooLarge.MatchString(values[i]) || strings.Contains(name, "#") {
			continue
		}
		left++
		fr.Printer.beginning(q, name, func(text string, bad *protocol.Fault) {
			if bad == nil {
				values[i] = text
			}
			received()
		})
	}
	received()
}

// chosenFrame is the body of frame, up and down.
type chosenFrame struct {
	Frame  protocol.Frame `json:"frame"`
	Source string         `json:"source,omitempty"`
}

// chooseFrame selects and shows a frame.
func (fr *Frames) chooseFrame(q *request.Request) {
	if q.Name == "frame" && (q.Args.Name != "" || q.Args.From != "") {
		fr.findFrame(q)
		return
	}
	from, count := fr.Chosen().Frame, max(q.Args.Count, 1)
	first, last := from, from
	switch {
	case q.Name == "up":
		first, last = from+1, from+count
	case q.Name == "down" && from == 0 && q.Args.Count == 0:
		fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Bottom (innermost) frame selected; you cannot go down."})
		return
	case q.Name == "down":
		first = max(from-count, 0)
		last = first
	case q.Args.Frame != nil:
		first = *q.Args.Frame
		last = first
	}
	thread := fr.Chosen().Thread
	choose := func(frames []Frame, refusal string) { fr.frameChosen(q, thread, frames, refusal) }
	fr.ListFrames(q, thread, first, last, func(frames []Frame, refusal string) {
		// with a count it is no error to stay
		if len(frames) == 0 && q.Name == "up" && q.Args.Count > 0 {
			fr.ListFrames(q, thread, from, from, choose)
			return
		}
		choose(frames, refusal)
	})
}

// findFrame selects the innermost frame of a function, or the frame at an address.
func (fr *Frames) findFrame(q *request.Request) {
	thread := fr.Chosen().Thread
	choose := func(level int) {
		fr.ListFrames(q, thread, level, level, func(frames []Frame, refusal string) {
			fr.frameChosen(q, thread, frames, refusal)
		})
	}
	fr.Reach(q, thread, maxMerged, func() {
		if q.Args.Name != "" {
			fr.frameOfFunction(q, thread, choose)
		} else {
			fr.frameAtAddress(q, choose)
		}
	})
}

// frameOfFunction searches the listed frames: "frame function" of a shared gdb 13.1
// resumes the ranks.
func (fr *Frames) frameOfFunction(q *request.Request, thread int, then func(level int)) {
	fr.Ask(q, func(a request.Answer) {
		for v := range a.Results.Path("stack").Fields.All("frame") {
			if protocol.IsFunction(v.Fields.Str("func"), q.Args.Name) {
				level, _ := v.Fields.Int("level")
				then(level)
				return
			}
		}
		if a.Failed() {
			fr.Refused(q, a)
			return
		}
		fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No frame for function \"%s\".", q.Args.Name)})
	}, "-stack-list-frames", "--thread", fr.GDBThread(thread), "0", strconv.Itoa(maxFrames))
}

// frameAtAddress calls then with the level of the frame at an address of the stack. Only gdb's command
// line finds it, and a command that names a thread restores the frame that was selected before. So gdb
// itself selects the frame, and its level is asked for.
func (fr *Frames) frameAtAddress(q *request.Request, then func(level int)) {
	s := fr.Selected(q)
	fr.Tell(q.What(), "-thread-select", fr.GDBThread(s.Thread))
	fr.Tell(q.What(), "-stack-select-frame", strconv.Itoa(s.Frame))
	var selected request.Answer
	fr.Ask(q, func(a request.Answer) { selected = a }, "-interpreter-exec", "console", "frame address "+q.Args.From).Print = true
	fr.Ask(q, func(a request.Answer) {
		level, ok := a.Results.Path("frame").Fields.Int("level")
		switch {
		case selected.Failed():
			fr.Refused(q, selected)
		case a.Failed():
			fr.Refused(q, a)
		case !ok:
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(selected.Text)})
		default:
			then(level)
		}
	}, "-stack-info-frame")
}

func (fr *Frames) frameChosen(q *request.Request, thread int, frames []Frame, refusal string) {
	if len(frames) == 0 {
		switch {
		case !strings.Contains(refusal, "Not enough frames"):
		case q.Name == "up":
			refusal = "Initial frame selected; you cannot go up."
		default:
			refusal = NoFrame(fr.frameOf(q))
		}
		fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
		return
	}
	f := frames[len(frames)-1]
	if fr.StateNow().Refuse(protocol.NeedStopped) == nil {
		fr.Choose(request.Selection{Thread: thread, Frame: f.Level})
	}
	c := ColumnsOf(fr.Process().Rank, q.Args.Limit)
	c.Frame("", f)
	fr.Reply(q, chosenFrame{Frame: f.Frame, Source: fr.LineOf(f)}, c.Sorted()...)
}
