// Breakpoints, threads and states.

package text

import (
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"sdm/master/session"
	"sdm/protocol"
)

// breakpointSet writes "Breakpoint 1 at work.c:31", breakpointsSet "Breakpoint 1 in helper at
// work.c:20" for each.
var (
	breakpointSet  = eachBreakpoint(breakpointLine)
	breakpointsSet = eachBreakpoint(func(b protocol.BreakpointInfo) string {
		return kindOf(b) + " " + strconv.Itoa(b.Number) + " " + breakpointWhat(b)
	})
)

func eachBreakpoint(line func(protocol.BreakpointInfo) string) func(*Writer, Asked, protocol.Group) []answer {
	return func(_ *Writer, _ Asked, g protocol.Group) []answer {
		var body struct {
			Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
		}
		if !decode(g.Body, &body) {
			return []answer{raw(g)}
		}
		x := answer{ranks: g.Ranks}
		for _, b := range body.Breakpoints {
			x.lines = append(x.lines, line(b))
		}
		return []answer{x}
	}
}

// breakpointsCleared writes "Deleted breakpoints 1 2".
func breakpointsCleared(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct{ Deleted []int }
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	line := choose(len(body.Deleted) == 1, "Deleted breakpoint", "Deleted breakpoints")
	for _, n := range body.Deleted {
		line += " " + strconv.Itoa(n)
	}
	return []answer{{ranks: g.Ranks, lines: []string{line}}}
}

func breakpointLine(b protocol.BreakpointInfo) string {
	text := kindOf(b) + " " + strconv.Itoa(b.Number)
	if b.Type == "catchpoint" {
		return text + " (" + b.Location + ")"
	}
	switch at := breakpointPlace(b); {
	case b.Pending:
		return text + " (" + pendingPlace(b) + ") pending."
	case len(b.Places) > 1:
		return text + " at " + b.Location + " (" + strconv.Itoa(len(b.Places)) + " places)"
	case at != "":
		return text + " at " + at
	}
	return text + ": " + b.Location
}

// kindOf returns GDB's name for a new breakpoint.
func kindOf(b protocol.BreakpointInfo) string {
	switch b.Type {
	case "hw breakpoint":
		return choose(b.Temporary, "Temporary hardware breakpoint", "Hardware assisted breakpoint")
	case "hw watchpoint":
		return "Hardware watchpoint"
	case "read watchpoint":
		return "Hardware read watchpoint"
	case "acc watchpoint":
		return "Hardware access (read/write) watchpoint"
	case "watchpoint":
		return "Watchpoint"
	case "catchpoint":
		return choose(b.Temporary, "Temporary catchpoint", "Catchpoint")
	case "log":
		return "Log"
	case "assertion":
		return "Assertion"
	}
	return choose(b.Temporary, "Temporary breakpoint", "Breakpoint")
}

func breakpointPlace(b protocol.BreakpointInfo) string {
	return place(protocol.Frame{File: b.File, Line: b.Line})
}

// breakpointTable writes the output of GDB's info breakpoints without addresses, which differ
// between ranks.
func breakpointTable(_ *Writer, a Asked, g protocol.Group) []answer {
	var body struct {
		Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	if len(body.Breakpoints) == 0 {
		return []answer{{ranks: g.Ranks, lines: []string{choose(a.Command == "info watchpoints", "No watchpoints.", "No breakpoints or watchpoints.")}}}
	}
	cols := columns(g)
	lines := []string{"Num     Type           Disp Enb What"}
	for _, b := range body.Breakpoints {
		lines = append(lines, padded(strconv.Itoa(b.Number), 8)+padded(b.Type, 15)+
			padded(dispositionOf(b), 5)+padded(choose(b.Enabled, "y", "n"), 4)+breakpointWhat(b))
		if b.Condition != "" && !b.Pending {
			lines = append(lines, "\tstop only if "+b.Condition)
		}
		if hits, ok := cols["hits."+strconv.Itoa(b.Number)]; ok && hits.argument() != "0" {
			times := choose(hits.argument() == "1", " time", " times")
			lines = append(lines, "\tbreakpoint already hit "+hits.argument()+times)
		}
		lines = append(lines, breakpointActions(b)...)
		lines = append(lines, breakpointPlaces(b)...)
	}
	return []answer{{ranks: g.Ranks, lines: lines}}
}

// dispositionOf returns GDB's word for what happens to a breakpoint when it is reached.
func dispositionOf(b protocol.BreakpointInfo) string {
	if b.Left > 0 {
		return "dis"
	}
	return choose(b.Temporary, "del", "keep")
}

// breakpointPlaces writes the locations of a breakpoint that has several, and those that were
// disabled before they are known.
func breakpointPlaces(b protocol.BreakpointInfo) []string {
	var lines []string
	row := func(n int, what string) {
		number := protocol.Site{Breakpoint: b.Number, Number: n}.String()
		lines = append(lines, padded(number, 28)+padded(choose(slices.Contains(b.Disabled, n), "n", "y"), 4)+what)
	}
	for i, p := range b.Places {
		row(i+1, p)
	}
	for _, n := range b.Disabled {
		if n > len(b.Places) {
			row(n, "<PENDING>")
		}
	}
	return lines
}

// breakpointActions writes what happens when a breakpoint is reached.
func breakpointActions(b protocol.BreakpointInfo) []string {
	var lines []string
	if b.Ignore > 0 {
		lines = append(lines, "\tignore next "+strconv.Itoa(b.Ignore)+" hits")
	}
	if b.Left > 1 {
		lines = append(lines, "\tdisable after "+choose(b.Ignore > 0, "additional ", "next ")+strconv.Itoa(b.Left)+" hits")
	}
	switch {
	case b.Type == "assertion":
		lines = append(lines, "\t"+protocol.AssertLine+strings.Join(b.Exprs, ", ")+choose(b.Stop, " --stop", ""))
	case len(b.Exprs) > 0:
		lines = append(lines, "\tlog "+strings.Join(b.Exprs, ", "))
	}
	for _, c := range b.Commands {
		lines = append(lines, "        "+c)
	}
	return lines
}

// pendingPlace returns the location of a pending breakpoint with its condition: GDB reads both when
// the library is loaded.
func pendingPlace(b protocol.BreakpointInfo) string {
	if b.Condition == "" {
		return b.Location
	}
	return b.Location + " if " + b.Condition
}

func breakpointWhat(b protocol.BreakpointInfo) string {
	switch at := breakpointPlace(b); {
	case b.Pending:
		return "<PENDING> " + pendingPlace(b)
	case at != "" && b.Func != "":
		return "in " + b.Func + " at " + at
	case at != "":
		return at
	case b.Type == "catchpoint":
		return caught(b.Location)
	}
	return b.Location
}

// caught describes as GDB does what a catchpoint waits for, from the arguments of catch.
func caught(event string) string {
	word, rest, _ := strings.Cut(event, " ")
	those := strings.Fields(rest)
	switch {
	case (word == "load" || word == "unload") && rest == "":
		return word + " of library"
	case word == "load" || word == "unload":
		return word + " of library matching " + rest
	case word == "syscall" && rest == "":
		return `syscall "<any syscall>"`
	case word == "syscall":
		return choose(len(those) > 1, "syscalls", "syscall") + ` "` + strings.Join(those, ", ") + `"`
	case word == "signal" && rest == "":
		return `signal "<standard signals>"`
	case word == "signal" && rest == "all":
		return `signal "<any signal>"`
	case word == "signal":
		return choose(len(those) > 1, "signals", "signal") + ` "` + strings.Join(those, " ") + `"`
	case event == "throw" || event == "rethrow" || event == "catch":
		return "exception " + event
	}
	return event
}

func choose(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// padded adds spaces up to width, at least one.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-len(s)))
}

// threads writes the output of GDB's info threads.
func threads(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Threads []struct {
			ID      int             `json:"id"`
			Name    string          `json:"name"`
			State   string          `json:"state"`
			Current bool            `json:"current"`
			Frame   *protocol.Frame `json:"frame"`
		} `json:"threads"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	cols := columns(g)
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 1, ' ', 0)
	t.Write([]byte("  Id\tTarget Id\tFrame\n"))
	for _, th := range body.Threads {
		id := strconv.Itoa(th.ID)
		target := "Thread"
		if c, ok := cols["target."+id]; ok {
			target = c.argument()
		}
		if th.Name != "" {
			target += " \"" + th.Name + "\""
		}
		at := "(" + th.State + ")"
		if th.Frame != nil {
			at = frame(*th.Frame, cols, id+".args.")
		}
		t.Write([]byte(choose(th.Current, "* ", "  ") + id + "\t" + target + "\t" + at + "\n"))
	}
	t.Flush() // writes to memory: no error
	return []answer{{ranks: g.Ranks, lines: strings.Split(strings.TrimRight(b.String(), "\n"), "\n")}}
}

// status writes a line about ranks: the state, then location and reason.
func status(_ *Writer, _ Asked, g protocol.Group) []answer {
	var s session.Status
	if !decode(g.Body, &s) {
		return []answer{raw(g)}
	}
	text := string(s.State)
	switch {
	case s.Func != "" && s.Where != "":
		text += " in " + s.Func + " at " + s.Where
	case s.Func != "" || s.Where != "":
		text += " in " + s.Func + s.Where
	}
	if strings.Contains(s.Cause, s.Host) {
		s.Host = ""
	}
	for _, more := range []string{s.Reason, s.Signal, s.Cause, s.Host} {
		if more != "" {
			text += ", " + more
		}
	}
	switch {
	case s.Code != nil && *s.Code == 0:
		text += " normally"
	case s.Code != nil:
		text += " with code " + strconv.Itoa(*s.Code)
	}
	return []answer{{ranks: g.Ranks, lines: []string{text}}}
}
