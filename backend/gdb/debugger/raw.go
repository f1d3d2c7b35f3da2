// Commands gdb and mi: lines for gdb itself.

package debugger

import (
	"slices"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// lines executes lines of gdb's command line and commands of GDB/MI.
type lines struct {
	*core
	groupStop    *groupStop
	filters      *filters
	stops        *stops
	runs         *runs
	interruption *interruption
	termination  *termination
}

// intercept answers lines that must not reach gdb unchanged.
func (ln *lines) intercept(q *request.Request, line string) bool {
	word, _, _ := strings.Cut(line, " ")
	if ln.refuses(q, line) || ln.disturbs(q, line) {
		return true
	}
	if why, refused := gdbtext.RefusedLine(line); refused {
		ln.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: word + " is not handed to gdb", Hint: why})
		return true
	}
	switch gdbtext.CommandFor(word) {
	case "kill":
		ln.termination.kill(q)
	case "detach":
		ln.termination.detachRank(q)
	case "interrupt":
		ln.interruption.interrupt(q)
	default:
		return false
	}
	return true
}

// passLine executes a line of gdb's command line.
func (ln *lines) passLine(q *request.Request) {
	line := strings.TrimSpace(q.Args.Text)
	if ln.intercept(q, line) {
		return
	}
	line, file, _ := gdbtext.FileOfRank(line, ln.Target.Rank)
	ln.groupStop.keepHandling(line)
	ln.GDB.elements = ln.GDB.elements || setsElements.MatchString(line)
	if found := setsObject.FindStringSubmatch(line); found != nil {
		ln.GDB.objects = !slices.Contains([]string{"off", "of", "no", "n", "disable", "0"}, found[1])
	}
	line = gdbtext.WithoutInput(line)
	word, _, _ := strings.Cut(line, " ")
	if gdbtext.Resumes(word) {
		if ln.StateNow() != backend.Stopped {
			ln.Fail(q, ln.StateNow().Refuse(protocol.NeedStopped))
			return
		}
		ln.groupStop.continueFrozen()
		line = strings.TrimSuffix(line, "&") + "&"
	}
	if aboutPlace.MatchString(line) && ln.GDB.Shared() && ln.StateNow() == backend.Stopped {
		ln.Tell(q.What(), "-interpreter-exec", append(ln.At(q), "console", "frame")...)
	}
	where := ln.Where(q)
	if setsLanguage.MatchString(line) {
		where = nil // with --thread and --frame gdb would restore the previous language
	}
	ln.pass(q, false, file, "-interpreter-exec", append(where, "console", line)...)
	if definesFilters.MatchString(line) {
		ln.filters.tellFilters()
	}
	if strings.HasPrefix(line, "info line") || word == "x" || strings.HasPrefix(word, "x/") {
		ln.values.Printer.KeepLine(q)
	}
}

// aboutPlace matches lines about the place that gdb has shown last, perhaps for another
// rank: "info line", "info source".
var aboutPlace = pattern.New(`^i(?:nfo?|n)?\s+(?:line|so(?:u|ur|urc|urce)?)\s*$`)

// printsText matches lines that print a value, which may be long.
var printsText = pattern.New(`^(?:output|printf)\b`)

var setsLanguage = pattern.New(`^set\s+lang`)

var setsElements = pattern.New(`^set\s+p(?:r|ri|rin|rint)?\s+el`)

var setsObject = pattern.New(`^set\s+p(?:r|ri|rin|rint)?\s+ob\w*\s*(\w*)$`)

// lastSetting is gdb's output for the last setting. gdb prints it once, for the first
// of the ranks that share it ("Warning: the current language does not match this
// frame.").
type lastSetting struct {
	command *request.Command
	text    string
}

// outputOf returns gdb's output for a setting, also for the other ranks of this gdb.
func (s *lastSetting) outputOf(c *request.Command, text string) string {
	if s.command != c {
		*s = lastSetting{c, text}
	}
	if text == "" {
		return s.text
	}
	return text
}

// passMI executes a GDB/MI command, after making the thread and frame that the user has
// selected gdb's selection.
func (ln *lines) passMI(q *request.Request) {
	line := strings.TrimSpace(q.Args.Text)
	if !strings.HasPrefix(line, "-") {
		ln.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "a GDB/MI command begins with a dash", Hint: "gdb COMMAND hands over a line of gdb's command line"})
		return
	}
	if ln.intercept(q, line) {
		return
	}
	if ln.StateNow() == backend.Stopped {
		if strings.HasPrefix(line, "-exec-") {
			ln.groupStop.continueFrozen()
		}
		at := ln.At(q)
		ln.Tell(q.What(), "-thread-select", at[1])
		ln.Tell(q.What(), "-stack-select-frame", at[3])
	}
	line, file, _ := gdbtext.FileOfRank(line, ln.Target.Rank)
	ln.pass(q, true, file, line)
}

// pass sends a line. file is what it writes.
func (ln *lines) pass(q *request.Request, raw bool, file gdbtext.RankFile, command string, args ...string) {
	var k *call
	k = ln.ask(q, func(a request.Answer) {
		a.Text = file.Shown(a.Text)
		if a.Failed() {
			ln.endedEarly(q, a, file)
			return
		}
		ln.passed(q, k, a)
	}, command, args...)
	k.Print, k.Raw = true, raw
}

// endedEarly answers for a line that has failed after some output: frame apply and
// thread apply, for instance.
func (ln *lines) endedEarly(q *request.Request, a request.Answer, file gdbtext.RankFile) {
	message := file.Shown(a.Results.Str("msg"))
	text := strings.TrimRight(withoutNumbers(a.Text), "\n")
	if strings.TrimRight(message, "\n") == text || text == "" {
		text = message
	}
	ln.stops.stoppedInCall(a)
	if !strings.HasSuffix(text, message) { // otherwise it is in the output as well
		text += "\n" + message
	}
	ln.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: text})
}

var historyNumbers = pattern.New(`(?m)^\$[0-9]+ = `)

// withoutNumbers removes the numbers of values from gdb's output: they differ between
// ranks.
func withoutNumbers(text string) string { return historyNumbers.ReplaceAllString(text, "") }

// passed processes the result of a line that has not failed. If the line has resumed the target, that counts as a
// resume of the rank.
func (ln *lines) passed(q *request.Request, k *call, a request.Answer) {
	text := a.Text
	if !k.Raw {
		text = withoutNumbers(text)
	}
	if printsText.MatchString(q.Args.Text) {
		text = gdbtext.TruncateText(text, values.MaxShown)
	}
	if protocol.IsSetting(q.Args.Text) {
		text = ln.GDB.setting.outputOf(q.Command, text)
	}
	if infoProgram.MatchString(q.Args.Text) {
		text = ln.ownStandpoints(text)
	}
	if k.Raw {
		r := a.Record
		r.Token = -1
		text += r.String() + "\n"
	}
	if id, ok := a.Results.Int("new-thread-id"); ok {
		f, _ := values.FrameIn(a.Results)
		ln.choose(request.Selection{Thread: ln.threads.IDOf(id), Frame: f.Level})
	}
	if a.Name != "running" || ln.run != nil || ln.State != backend.Stopped {
		ln.Reply(q, values.TextBody{Text: text})
		return
	}
	r := &run{request: q, token: k.token, back: goesBack(q.Args.Text)}
	ln.begins(r)
	ln.runs.nowRunning(r, values.TextBody{Text: text})
	if others := ln.runs.othersUnlocked(); others != nil {
		others()
	}
}
