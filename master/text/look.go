// Displays, memory, registers, instructions, libraries and signals.

package text

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// called is printed for calls, which may have no value.
func called(w *Writer, a Asked, g protocol.Group) []answer {
	if len(g.Columns) == 0 {
		return nil
	}
	return printed(w, a, g)
}

// displayed writes "1: n = 5" for each displayed expression.
func displayed(_ *Writer, a Asked, g protocol.Group) []answer {
	var body struct {
		Displays []protocol.Display `json:"displays"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	if a.Command == "info display" {
		return []answer{{ranks: g.Ranks, lines: displayTable(body.Displays)}}
	}
	lines := displayLines(body.Displays, columns(g), func(c view) string {
		text, _ := c.spread()
		return text
	}, true)
	if d := body.Displays; a.Command == "assert" && len(d) == 1 && len(g.Columns) == 0 {
		lines = []string{strconv.Itoa(d[0].Number) + ": " + displayName(d[0]) + ", at each stop"}
	}
	return []answer{{ranks: g.Ranks, lines: lines}}
}

func displayTable(list []protocol.Display) []string {
	if len(list) == 0 {
		return []string{"There are no auto-display expressions now."}
	}
	lines := []string{"Auto-display expressions now in effect:", "Num Expression"}
	for _, d := range list {
		lines = append(lines, padded(strconv.Itoa(d.Number)+":", 4)+displayName(d)+choose(d.Outside, " (cannot be evaluated in the current context)", ""))
	}
	return lines
}

// displayLines writes displayed expressions with their values; memory begins on a new line, as in
// GDB. Assertions are written where they do not hold, or, if all is true, always.
func displayLines(list []protocol.Display, cols map[string]view, value func(view) string, all bool) []string {
	var lines []string
	for _, d := range list {
		c, ok := cols["display."+strconv.Itoa(d.Number)]
		if !ok {
			continue
		}
		head := strconv.Itoa(d.Number) + ": " + displayName(d)
		if d.Assert {
			lines = append(lines, outcomes(head, c, all)...)
			continue
		}
		text := strings.Split(value(c.written(d.Format)), "\n")
		switch {
		case examines(d.Format) && len(text) == 1 && text[0] != "" && oneUnit(d.Format):
			text[0] = head + "  " + text[0]
		case examines(d.Format):
			text = append([]string{head}, text...)
		default:
			text[0] = head + " = " + text[0]
		}
		lines = append(lines, text...)
	}
	return lines
}

// assertions returns the assertions among displays.
func assertions(list []protocol.Display) []protocol.Display {
	return slices.DeleteFunc(slices.Clone(list), func(d protocol.Display) bool { return !d.Assert })
}

// displayName returns the text that GDB shows before a value: the format without "raw".
func displayName(d protocol.Display) string {
	format := strings.ReplaceAll(d.Format, "r", "")
	switch {
	case d.Assert:
		return protocol.AssertLine + d.Expr
	case format == "":
		return d.Expr
	case examines(format):
		return "x/" + format + " " + d.Expr
	}
	return "/" + format + " " + d.Expr
}

// examines reports whether a format shows memory (a count, a size, strings, instructions) and not a
// value.
func examines(format string) bool { return strings.ContainsAny(format, "is0123456789bhwg") }

// oneUnit reports whether a format shows one unit on the line of its expression; an instruction has
// its own line.
func oneUnit(format string) bool {
	count := strings.TrimRight(format, "abcdefghijklmnopqrstuvwxyz")
	return !strings.Contains(format, "i") && (count == "" || count == "1")
}

// memoryRows writes memory as GDB's x does.
func memoryRows(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Rows []struct {
			Label string `json:"label"`
			Here  bool   `json:"here"`
		} `json:"rows"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	cols := columns(g)
	instructions := false
	for _, r := range body.Rows {
		instructions = instructions || r.Here
	}
	x := answer{ranks: g.Ranks}
	for i, r := range body.Rows {
		n := strconv.Itoa(i)
		line := cols[n+".addr"].argument()
		if r.Label != "" {
			line += " <" + r.Label + ">"
		}
		if instructions {
			line = choose(r.Here, "=> ", "   ") + line
		}
		x.lines = append(x.lines, line+":\t"+spreadText(cols["value."+n]))
	}
	return []answer{x}
}

// spreadText returns the spread of the values.
func spreadText(c view) string {
	text, _ := c.spread()
	return text
}

// registers writes one register on each line.
func registers(_ *Writer, _ Asked, g protocol.Group) []answer {
	return nameLines(g, func(name, value string) string { return padded(name, 15) + value })
}

// assembly writes instructions as GDB's disassemble does, without addresses.
func assembly(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Of    string `json:"of"`
		Lines []struct {
			At   string `json:"at"`
			Text string `json:"text"`
		} `json:"lines"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	current := map[string]bool{}
	for _, v := range columns(g)["current"].values {
		current[v.Value] = true
	}
	x := answer{ranks: g.Ranks, lines: []string{"Dump of assembler code " + body.Of + ":"}}
	for _, l := range body.Lines {
		if l.At == "" {
			x.lines = append(x.lines, l.Text)
			continue
		}
		at := l.At
		if !strings.HasPrefix(at, "0x") { // it is in a function
			at = "<" + at + ">"
		}
		x.lines = append(x.lines, choose(current[l.At], "=> ", "   ")+at+":\t"+l.Text)
	}
	x.lines = append(x.lines, "End of assembler dump.")
	return []answer{x}
}

// libraries writes the output of GDB's info sharedlibrary, without the end of each library.
func libraries(_ *Writer, a Asked, g protocol.Group) []answer {
	var body struct {
		Libraries []struct {
			Name    string `json:"name"`
			Symbols bool   `json:"symbols"`
			Lines   bool   `json:"lines"`
		} `json:"libraries"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	if len(body.Libraries) == 0 {
		return []answer{{ranks: g.Ranks, lines: []string{"No shared libraries loaded at this time."}}}
	}
	cols := columns(g)
	x := answer{ranks: g.Ranks, lines: []string{padded("From", 20) + padded("Syms Read", 12) + "Shared Object Library"}}
	bare := false
	for i, l := range body.Libraries {
		from := cols[strconv.Itoa(i)+".addr"].argument()
		read := choose(l.Symbols, choose(l.Lines || a.Command != "sharedlibrary", "Yes", "Yes (*)"), "No")
		bare = bare || read == "Yes (*)"
		x.lines = append(x.lines, padded(from, 20)+padded(read, 12)+l.Name)
	}
	if bare {
		x.lines = append(x.lines, "(*): there are names only, no lines and types")
	}
	return []answer{x}
}

// signals writes the output of GDB's info signals.
func signals(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Signals []protocol.SignalInfo `json:"signals"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	if len(body.Signals) == 0 {
		return nil
	}
	x := answer{ranks: g.Ranks, lines: []string{padded("Signal", 14) + "Stop  Print  Pass to program  Description"}}
	for _, s := range body.Signals {
		x.lines = append(x.lines, padded(s.Signal, 14)+padded(choose(s.Stop, "Yes", "No"), 6)+
			padded(choose(s.Print, "Yes", "No"), 7)+padded(choose(s.Pass, "Yes", "No"), 17)+s.Meaning)
	}
	return []answer{x}
}
