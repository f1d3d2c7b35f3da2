// Events of ranks.

package text

import (
	"strconv"
	"strings"

	"sdm/protocol"
)

// eventAnswer describes an event of ranks; false if it is not shown.
func (w *Writer) eventAnswer(g protocol.Group) (answer, bool) {
	x := answer{ranks: g.Ranks}
	switch g.Kind {
	case protocol.KindStopped:
		var s protocol.Stop
		if !decode(g.Body, &s) {
			return raw(g), true
		}
		x := stop(g, s)
		return x, len(x.lines) > 0
	case protocol.KindExited, protocol.KindSignalled:
		var e protocol.Exit
		if !decode(g.Body, &e) {
			return raw(g), true
		}
		x.lines, x.bad = []string{exit(e)}, e.Signal != "" || e.Code != 0
	case protocol.KindDetached:
		x.lines = []string{"detached"}
	case protocol.KindWatched:
		x.lines = []string{"watched; the first command but stacks attaches a debugger"}
	case protocol.KindLogged:
		return logged(g), true
	case protocol.KindNote:
		var n protocol.Note
		if !decode(g.Body, &n) {
			return raw(g), true
		}
		lines := strings.Split(n.Text, "\n") // gdb's, as gdb prints them
		x.lines, x.below = lines[:1], lines[1:]
	case protocol.KindCommand, protocol.KindFront, protocol.KindGap:
		var ok bool
		if x.lines, ok = shared(g); !ok {
			return raw(g), true
		}
	case protocol.KindJob:
		var j protocol.JobState
		if !decode(g.Body, &j) {
			return raw(g), true
		}
		if x.lines = jobState(j); x.lines == nil {
			return answer{}, false
		}
	case protocol.KindLost, protocol.KindFault, protocol.KindMissing:
		return failure(g), true
	default:
		return answer{}, false
	}
	return x, true
}

func exit(e protocol.Exit) string {
	switch {
	case e.Unknown:
		return "ended; only its parent knows its exit status"
	case e.Signal != "":
		return "Program terminated with signal " + signal(e.Signal, e.Meaning)
	case e.Code == 0:
		return "exited normally"
	}
	return "exited with code " + strconv.Itoa(e.Code)
}

func signal(name, meaning string) string {
	if meaning == "" {
		return name + "."
	}
	return name + ", " + meaning + "."
}

// stop describes a stop as GDB does, with the source line below it.
func stop(g protocol.Group, s protocol.Stop) answer {
	cols := columns(g)
	x := answer{ranks: g.Ranks, bad: s.Reason == "signal-received" || s.Reason == "mpi-abort" || s.Reason == "core" && s.Signal != ""}
	if s.Silent {
		x.lines = append(outputs(s.Commands, cols), displayLines(assertions(s.Displays), cols, view.inEvent, false)...)
		return x
	}
	x.lines = []string{stopLine(s, cols)}
	if !s.Returned {
		x.below = append(x.below, watched("", cols)...)
	}
	for i, w := range s.Triggered {
		x.below = append(x.below, triggerLine(w))
		x.below = append(x.below, watched("triggered."+strconv.Itoa(i)+".", cols)...)
	}
	if s.Source != "" && s.Frame != nil {
		x.below = append(x.below, strconv.Itoa(s.Frame.Line)+"\t"+s.Source)
	}
	x.below = append(x.below, outputs(s.Commands, cols)...)
	x.below = append(x.below, displayLines(s.Displays, cols, view.inEvent, false)...)
	if c, ok := cols["value"]; ok && s.Returned {
		x.below = append(x.below, "Value returned is "+c.inEvent())
	}
	switch more := cols["others"].argument(); more {
	case "0", "?":
	case "1":
		x.below = append(x.below, "  and another thread")
	default:
		x.below = append(x.below, "  and "+more+" other threads")
	}
	for _, other := range s.Others {
		x.below = append(x.below, "  another thread: "+other)
	}
	return x
}

// watched returns the values of a watchpoint.
func watched(prefix string, cols map[string]view) (lines []string) {
	if c, ok := cols[prefix+"value"]; ok {
		lines = append(lines, "Value = "+c.inEvent())
	}
	old, changed := cols[prefix+"old"]
	if changed {
		lines = append(lines, "Old value = "+old.inEvent())
	}
	if c, ok := cols[prefix+"new"]; ok { // without an old value it was only read
		lines = append(lines, choose(changed, "New value = ", "Value = ")+c.inEvent())
	}
	return lines
}

// triggerLine names a watchpoint that has triggered.
func triggerLine(w protocol.Trigger) string {
	if w.Reason == protocol.WatchpointScope {
		return "Watchpoint " + numberText(w.Breakpoint) + " deleted because the program has left the block in which its expression is valid"
	}
	if w.Software {
		return "Watchpoint " + numberText(w.Breakpoint)
	}
	return watchWords[w.Reason] + " " + numberText(w.Breakpoint)
}

func stopLine(s protocol.Stop, cols map[string]view) string {
	at := ""
	if s.Frame != nil {
		at = frame(*s.Frame, cols, "args.")
		if s.Within != "" && s.Reason != "mpi-abort" {
			at = "in " + s.Within + ", called from " + at
		}
		if c, ok := cols["addr"]; ok && s.Frame.Line != 0 { // after stepi or nexti
			at = c.argument() + " in " + at
		}
	}
	trigger := protocol.Trigger{Reason: s.Reason, Breakpoint: s.Breakpoint, Software: s.Software}
	switch {
	case s.Reason == "signal-received":
		return "Program received signal " + signal(s.Signal, s.Meaning) + signalPlace(s.Frame, s.Within) + calledFrom(s.Caller)
	case s.Reason == "mpi-abort":
		return "MPI_Abort(comm, " + argument(cols, "code") + ") called by " + at
	case s.Reason == "no-history":
		return join("No more reverse-execution history", at)
	case s.Reason == "record-ends":
		return join(notRecorded(s.Detail), at)
	case s.Reason == "core" && s.Signal != "":
		return "Program terminated with signal " + signal(s.Signal, s.Meaning) + signalPlace(s.Frame, s.Within) + calledFrom(s.Caller)
	case s.Reason == "core":
		return join("core file", at)
	case s.Detail != "" && s.Breakpoint != 0:
		return join(choose(s.Temporary, "Temporary catchpoint ", "Catchpoint ")+numberText(s.Breakpoint)+" ("+s.Detail+")", at)
	case s.Reason == "breakpoint-hit" && s.Breakpoint != 0 && s.Temporary:
		return join("Temporary breakpoint "+numberText(s.Breakpoint)+placeNumber(cols), at)
	case s.Reason == "breakpoint-hit" && s.Breakpoint != 0:
		return join("Breakpoint "+numberText(s.Breakpoint)+placeNumber(cols), at)
	case s.Reason == "barrier":
		return join("Barrier "+numberText(s.Breakpoint)+placeNumber(cols), at)
	case s.Reason == protocol.WatchpointScope:
		return triggerLine(trigger) + ", " + at
	case strings.Contains(s.Reason, "watchpoint") && s.Breakpoint != 0:
		return join(triggerLine(trigger), at)
	case s.Reason == "interrupted" && s.Caller != nil:
		return "interrupted" + signalPlace(s.Frame, s.Within) + calledFrom(s.Caller)
	case s.Reason == "attached" || s.Reason == "interrupted":
		return join(s.Reason, at)
	case s.Reason == "entry":
		return join("at the entry", at)
	case at != "": // end of step, finish or until, main after launch: the place is sufficient
		return at
	}
	return join("stopped", s.Reason)
}

// notRecorded tells that gdb's record ends, and how to continue.
func notRecorded(what string) string {
	if what != "" {
		what = " (" + what + ")"
	}
	return "gdb cannot record what comes next" + what + "; gdb record stop continues without"
}

// placeNumber returns ".2" for the second location of a breakpoint that has several, as GDB does;
// "" if ranks are at different ones that look the same.
func placeNumber(cols map[string]view) string {
	if c, ok := cols["place"]; ok {
		if n, single := c.single(); single {
			return "." + n
		}
	}
	return ""
}

// numberText returns the number of a breakpoint. A negative one is gdb's, of a breakpoint that was set by
// a line for gdb.
func numberText(number int) string {
	if number < 0 {
		return strconv.Itoa(-number) + " of gdb's own"
	}
	return strconv.Itoa(number)
}

// signalPlace returns " at work.c:18 in helper"; within is the function of a library that the
// program has called, if the frame has no name.
func signalPlace(f *protocol.Frame, within string) string {
	if f == nil {
		return ""
	}
	text := ""
	if place := place(*f); place != "" {
		text = " at " + place
	}
	switch {
	case f.Func == "??" && within != "":
		text += " in " + within
	case f.Func != "":
		text += " in " + f.Func
	}
	if text == " in ??" && f.From != "" {
		text += " from " + f.From
	}
	return text
}

// calledFrom returns ", called from compute at work.c:18".
func calledFrom(f *protocol.Frame) string {
	if f == nil {
		return ""
	}
	return ", called from " + f.Func + " at " + place(*f)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

// frame returns "compute (n=<0..7>) at work.c:31"; the values of the arguments are the columns
// prefix+NAME.
func frame(f protocol.Frame, cols map[string]view, prefix string) string {
	args := arguments(f.Args, cols, prefix)
	fn := f.Func
	if fn == "" {
		fn = "??"
	}
	text := fn
	if !strings.HasPrefix(fn, "<") { // not "<signal handler called>"
		text += " (" + strings.Join(args, ", ") + ")"
	}
	switch place := place(f); {
	case place != "":
		text += " at " + place
	case f.From != "":
		text += " from " + f.From
	}
	return text
}

// arguments returns the arguments of a frame. If one has its value at the entry, it is
// "n=n@entry=5", as in GDB.
func arguments(names []string, cols map[string]view, prefix string) (args []string) {
	for i := 0; i < len(names); i++ {
		name, value := names[i], argument(cols, prefix+names[i])
		if i+1 < len(names) && names[i+1] == name+"@entry" && argument(cols, prefix+names[i+1]) == value {
			i++
			name += "=" + names[i]
		}
		if name == "..." { // print frame-arguments presence
			args = append(args, name)
		} else {
			args = append(args, name+"="+value)
		}
	}
	return args
}

func argument(cols map[string]view, name string) string {
	c, ok := cols[name]
	if !ok {
		return "..."
	}
	return c.argument()
}

// place returns "work.c:31"; "" without line information.
func place(f protocol.Frame) string {
	file := f.File
	if file == "" {
		file = f.Full
	}
	if file == "" {
		return ""
	}
	if f.Line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(f.Line)
}

// failure describes a fault, or ranks that did not answer.
func failure(g protocol.Group) answer {
	x := answer{ranks: g.Ranks, bad: true}
	if g.Kind == protocol.KindFault {
		var f protocol.Fault
		if !decode(g.Body, &f) {
			return raw(g)
		}
		if f.Kind == protocol.FaultGDB || f.Kind == protocol.FaultState {
			f.Op = "" // these messages are written as GDB does; "[3] is running"
		}
		x.lines = strings.Split(f.Error()+whichProcess(g), "\n")
		return x
	}
	var m protocol.Missing
	if !decode(g.Body, &m) {
		return raw(g)
	}
	text := m.Cause
	if g.Kind == protocol.KindLost {
		text = "lost: " + text
	}
	if m.Host != "" && !strings.Contains(m.Cause, m.Host) {
		text += " (" + m.Host + ")"
	}
	x.lines = []string{text}
	return x
}

// whichProcess returns the process and the host of a fault, or their numbers.
func whichProcess(g protocol.Group) string {
	cols := columns(g)
	var words []string
	if pid := cols["pid"]; pid.distinct > 0 {
		words = append(words, oneOrMany(pid, "process ", "", " processes"))
	}
	if host := cols["host"]; host.distinct > 0 {
		words = append(words, oneOrMany(host, "on ", "on ", " hosts"))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, " ") + ")"
}

// oneOrMany returns the single value of a column, or the number of its values.
func oneOrMany(c view, one, many, what string) string {
	if value, ok := c.single(); ok {
		return one + value
	}
	return many + c.about + strconv.Itoa(c.distinct) + what
}

// watchWords are GDB's names of watchpoints by the reason of a stop.
var watchWords = map[string]string{
	"watchpoint-trigger": "Hardware watchpoint", "read-watchpoint-trigger": "Hardware read watchpoint",
	"access-watchpoint-trigger": "Hardware access (read/write) watchpoint",
}

// jobState describes the state of the job; nil if events of its ranks or its starter do so.
func jobState(j protocol.JobState) []string {
	words := map[string]string{"queued": " waits in the queue", "cancelled": " is cancelled"}[j.State]
	if words == "" {
		return nil
	}
	text := "job"
	if j.Job != "" {
		text += " " + j.Job
	}
	if text += words; j.Text != "" {
		text += ": " + j.Text
	}
	return []string{text}
}
