// What gdb says beside the answers, on its log: warnings, and breakpoints that it cannot set.

package gdb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/mi"
)

// remarks are lines of gdb's log that are still to be told. They come before the result or the stop that they are
// about.
type remarks struct {
	lines []string
	part  string // of a line that goes on
}

// mostRemarks bounds how many lines are kept.
const mostRemarks = 1000

// hear takes a piece of gdb's log.
func (r *remarks) hear(text string) {
	r.part += text
	for {
		line, rest, ended := strings.Cut(r.part, "\n")
		if !ended {
			return
		}
		r.part = rest
		if len(r.lines) < mostRemarks {
			r.lines = append(r.lines, line)
		}
	}
}

// take gives and forgets what has been heard, each line once: ranks that share a gdb have the same breakpoints.
func (r *remarks) take(translate func(line string) string) string {
	all := r.lines
	if r.part != "" {
		all = append(all, r.part)
	}
	var lines []string
	for _, line := range all {
		if line = translate(line); strings.TrimSpace(line) != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	*r = remarks{}
	return strings.Join(lines, "\n")
}

// forget drops lines that are told already.
func (r *remarks) forget(told []string) {
	r.lines = slices.DeleteFunc(r.lines, func(line string) bool { return slices.Contains(told, strings.TrimSpace(line)) })
}

// hearLog takes a piece of gdb's log. heard tells that it stands in the answer to a call.
func (d *debugger) hearLog(text string, heard bool) {
	whole, taken := d.complains.hear(text)
	switch {
	case whole != "":
		d.remarks.hear(whole + "\n")
	case !taken && !heard && !strings.HasPrefix(text, "[infrun]"): // see speakUp
		d.remarks.hear(text)
	}
}

// spokenOf is what gdb says on its console about a resume that goes otherwise than it was meant.
var spokenOf = regexp.MustCompile(`^\n?(?:Watchpoint [0-9]+ deleted\.|Single stepping until exit from function )`)

// hearConsole takes what gdb says on its console that belongs to no call.
func (d *debugger) hearConsole(text string) {
	if spokenOf.MatchString(text) {
		d.remarks.hear(text)
	}
}

// isAboutThreadLibrary tells of what gdb says when a program that it shares with others begins to have threads, in the middle
// of what it says about another one.
func isAboutThreadLibrary(text string) bool {
	return strings.HasPrefix(text, "[Thread debugging using libthread_db ") || strings.HasPrefix(text, "Using host libthread_db library ")
}

// dropsWatchpoint tells whether gdb has said that it has deleted a watchpoint whose expression it cannot evaluate any more: it
// stops there without a reason.
func (r *remarks) dropsWatchpoint() bool {
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "Watchpoint ") })
}

// begunBy are the lines with which remarks begin that are for people, whatever gdb was doing.
var begunBy = regexp.MustCompile(`^(?:[Ww]arning:|Error in re-setting |Error in testing |Error evaluating expression |Watchpoint [0-9]+ deleted|Single stepping until )`)

// ofPeople keeps those remarks, each up to an empty line, of what gdb has said while it was doing something of ours.
func (r *remarks) ofPeople() {
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
	r.lines, r.part = kept, ""
}

// numberedIn is where gdb names a breakpoint in a remark, or a place of it.
var numberedIn = regexp.MustCompile(`\b((?:[Bb]reak|[Ww]atch|[Cc]atch)point) ([0-9]+)(\.[0-9]+)?\b`)

// translated gives a remark our numbers of breakpoints: those of whichever rank has it. The places of one breakpoint are
// counted over all ranks that share a gdb, so that they are left out there.
func (d *debugger) translated(line string) string {
	return numberedIn.ReplaceAllStringFunc(line, func(text string) string {
		found := numberedIn.FindStringSubmatch(text)
		for _, m := range d.machines {
			if m.points.claimed(found[2]) {
				if d.shared() {
					found[3] = ""
				}
				return found[1] + " " + strconv.Itoa(m.points.ours(found[2])) + found[3]
			}
		}
		return text
	})
}

// ofNoUse is what gdb says of processes that have ended while it looked at them, whose ends are told, and gdb 10 of libraries
// whose symbols it has not been told to read. Of a source that is not there, and of one that is newer than
// the program, lineOf tells, once.
var ofNoUse = regexp.MustCompile(`^warning: (?:Couldn't reap LWP|unable to open /proc file|.*: Shared library architecture unknown is not compatible)|` +
	`^(?:warning: )?[0-9]+\t.*: No such file or directory\.?$|^warning: Source file is more recent than executable\.$`)

// remark tells the people of a rank what gdb has said.
func (m *machine) remark() { m.remarkBut(func(string) bool { return false }) }

// remarkBut is remark without lines that they are told anyway.
func (m *machine) remarkBut(told func(line string) bool) {
	text := m.gdb.remarks.take(func(line string) string {
		if told(line) || m.repeats(line) || ofNoUse.MatchString(line) {
			return ""
		}
		return m.gdb.translated(line)
	})
	if text != "" {
		m.note("%s", text)
	}
}

// remarked tells what gdb has said while it carried out a command, before its result. What it has said to a command of ours
// is told where it is for people, with what comes next.
func (k *call) remarked(r mi.Record) {
	d := k.by.gdb
	if k.of == nil || k.of.own {
		d.remarks.ofPeople()
		return
	}
	k.by.remarkBut(func(line string) bool {
		return line == r.Results.Str("msg") || k.of.args.Pending && isUnknownPlace(line) && (k.of.again || line == k.by.refusal)
	})
}
