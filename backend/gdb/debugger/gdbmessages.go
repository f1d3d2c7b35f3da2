// Messages of gdb that are not part of an answer: warnings, and errors for breakpoints that
// cannot be inserted.

package debugger

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/mi"
	"sdm/protocol/pattern"
)

// gdbMessages are lines of gdb's log that have not been reported yet. They are reported
// before the result or stop that they are about.
type gdbMessages struct {
	lines       []string
	partialLine string // a partial line
}

// maxMessages bounds the number of lines.
const maxMessages = 1000

// receive processes a piece of gdb's log.
func (r *gdbMessages) receive(text string) {
	r.partialLine += text
	for {
		line, rest, ended := strings.Cut(r.partialLine, "\n")
		if !ended {
			return
		}
		r.partialLine = rest
		if len(r.lines) < maxMessages {
			r.lines = append(r.lines, line)
		}
	}
}

// take returns and removes all lines, each once: ranks that share a gdb have the same
// breakpoints.
func (r *gdbMessages) take(translate func(line string) string) string {
	all := r.lines
	if r.partialLine != "" {
		all = append(all, r.partialLine)
	}
	var lines []string
	for _, line := range all {
		if line = translate(line); strings.TrimSpace(line) != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	*r = gdbMessages{}
	return strings.Join(lines, "\n")
}

// forget removes lines that have been reported.
func (r *gdbMessages) forget(told []string) {
	r.lines = slices.DeleteFunc(r.lines, func(line string) bool { return slices.Contains(told, strings.TrimSpace(line)) })
}

// receiveLog processes a piece of gdb's log. received says that it is part of the answer to a
// call.
func (d *GDB) receiveLog(text string, received bool) {
	whole, taken := d.conditionErrors.Receive(text)
	switch {
	case whole != "":
		d.messages.receive(whole + "\n")
	case !taken && !received && !strings.HasPrefix(text, "[infrun]"): // debug messages, see beginAttach in gdb10.go
		d.messages.receive(text)
	}
}

// resumeNotice matches gdb's console output about a resume that does not go as requested.
var resumeNotice = pattern.New(`^\n?(?:Watchpoint [0-9]+ deleted\.|Single stepping until exit from function )`)

// receiveConsole processes console output that belongs to no call.
func (d *GDB) receiveConsole(text string) {
	if resumeNotice.MatchString(text) {
		d.messages.receive(text)
	}
}

// dropsWatchpoint reports whether gdb has deleted a watchpoint whose expression cannot
// be evaluated any more: it stops there without a reason.
func (r *gdbMessages) dropsWatchpoint() bool {
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "Watchpoint ") })
}

// begunBy matches the first lines of messages for the user, whatever gdb was doing.
var begunBy = pattern.New(`^(?:[Ww]arning:|Error in re-setting |Error in testing |Error evaluating expression |Watchpoint [0-9]+ deleted|Single stepping until )`)

// keepForUser keeps those messages, each up to an empty line, of what gdb has printed
// during an internal command.
func (r *gdbMessages) keepForUser() {
	var kept []string
	block := false
	for _, line := range r.lines {
		switch {
		case begunBy.MatchString(line):
			block = true
		case line == "" || !block:
			block = false
			continue
		}
		kept = append(kept, line)
	}
	r.lines, r.partialLine = kept, ""
}

// numberedIn matches a breakpoint, or a location of one, in a message.
var numberedIn = pattern.New(`\b((?:[Bb]reak|[Ww]atch|[Cc]atch)point) ([0-9]+)(\.[0-9]+)?\b`)

// translated replaces gdb's numbers of breakpoints by sdm's, for the ranks that have them.
// Numbers of locations are removed if gdb is shared, because they count the locations of all
// ranks.
func (d *GDB) translated(line string) string {
	return numberedIn.ReplaceAllStringFunc(line, func(text string) string {
		found := numberedIn.FindStringSubmatch(text)
		for _, m := range d.ranks {
			if m.points.Claimed(found[2]) {
				if d.Shared() {
					found[3] = ""
				}
				return found[1] + " " + strconv.Itoa(m.points.NumberOf(found[2])) + found[3]
			}
		}
		return text
	})
}

// ignoredMessage matches messages without value: of processes that have ended while gdb read
// them, which is reported anyway; of gdb 10 about libraries whose symbols it was not to
// read; about locations of watchpoints of ranks that share gdb (13.1), by its own numbers; and about source
// files that are missing or newer than the program, which LineOf reports once.
var ignoredMessage = pattern.New(`^warning: (?:location number not found for breakpoint |Couldn't reap LWP|unable to open /proc file|.*: Shared library architecture unknown is not compatible)|` +
	`^(?:warning: )?[0-9]+\t.*: No such file or directory\.?$|^warning: Source file is more recent than executable\.$`)

// reportMessages reports gdb's messages to the user of a rank.
func (c *core) reportMessages() { c.reportMessagesBut(func(string) bool { return false }) }

// reportMessagesBut is reportMessages without lines for which told returns true: those that are reported
// in another way.
func (c *core) reportMessagesBut(told func(line string) bool) {
	text := c.GDB.messages.take(func(line string) string {
		if told(line) || c.warned.repeats(line) || ignoredMessage.MatchString(line) {
			return ""
		}
		return c.GDB.translated(line)
	})
	if text != "" {
		c.note("%s", withWatchAdvice(text))
	}
}

// reportWarnings reports gdb's messages during a command, before its result. Of those during
// an internal command only messages for the user are reported, with the next report.
func (k *call) reportWarnings(r mi.Record) {
	d := k.by.GDB
	if k.of == nil || k.of.IsInternal {
		d.messages.keepForUser()
		return
	}
	k.by.reportMessagesBut(func(line string) bool {
		return line == r.Results.Str("msg") || k.by.breaks.ToldBefore(k.of, line)
	})
}

// withoutThis is gdb's error for an expression that uses a member by its name alone, in a frame without this. A
// watchpoint of such an expression is evaluated in the frame of whatever thread gdb resumes.
const withoutThis = "current stack frame does not contain a variable named `this'"

// withWatchAdvice adds to that error how to watch a member.
func withWatchAdvice(text string) string {
	if !strings.Contains(text, withoutThis) {
		return text
	}
	return text + "\nwatch -l of the member watches its place in memory, in all frames"
}
