// Commands that the file of a program answers after the end of its ranks.

package values

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/pattern"
	"sdm/protocol/rank"
)

// aboutProgram matches lines of gdb that are about the symbols of a program.
var aboutProgram = pattern.New(`^(?:ptype|whatis|i(?:nfo?|n)?\s+(?:line|sym(?:bol)?|add(?:r|ress)?|scope|types|functions|variables|macro))\b`)

// LinesAfterEnd returns the lines of gdb's command line that answer a command about a rank that has ended, from the
// symbols of its program alone: types, places in the source, expressions of constants. nil: the command needs a
// process, or a convenience variable of the gdb that the rank had.
func LinesAfterEnd(c *request.Command) []string {
	a, line := c.Args, ""
	switch w := c.Printing(); {
	case a.Thread != 0 || a.Frame != nil || a.Stat:
	case (c.Name == "ptype" || c.Name == "whatis") && a.Expr != "":
		line = c.Name
		if a.Format != "" {
			line += "/" + a.Format
		}
		line += " " + a.Expr
	case c.Name == "print" && w.Expr != "" && gdbtext.IsFormat(w.Format) && a.First == 0 && a.Last == 0:
		line = w.Line(w.Expr)
	case c.Name == "list" && a.Location != "" && a.To == "" && !strings.ContainsAny(a.Location[:1], "+-0123456789"):
		return linesOf(fmt.Sprintf("with listsize %d -- list %s", listSize(a), a.Location), "info line "+a.Location)
	case c.Name == "gdb" && aboutProgram.MatchString(strings.TrimSpace(a.Text)):
		line = strings.TrimSpace(a.Text)
	}
	return linesOf(line)
}

// linesOf returns lines that gdb can be given; nil: it cannot.
func linesOf(lines ...string) []string {
	for _, line := range lines {
		if line == "" || strings.ContainsAny(line, "$\n\x00") {
			return nil
		}
	}
	return lines
}

func listSize(a protocol.Args) int {
	if a.Count > 0 {
		return min(a.Count, maxLines)
	}
	return linesShown
}

// needsProcess matches gdb's errors for what only a process has.
var needsProcess = pattern.New(`Cannot access memory|without a process|[Nn]o registers|No frame|No stack|not being run|No symbol table|in current context`)

// AfterEnd returns the answers of ranks that have ended from what gdb has written for LinesAfterEnd to its standard
// output and error; nil: only a process has the answer.
func AfterEnd(c *request.Command, ranks rank.Set, output, errors string) []protocol.Group {
	output, errors = strings.TrimRight(output, "\n"), lastLine(errors)
	switch {
	case needsProcess.MatchString(errors) || c.Name == "print" && output == "":
		return nil
	case output == "" && errors != "":
		fault := &protocol.Fault{Kind: protocol.FaultGDB, Op: c.Name, Message: errors}
		return []protocol.Group{{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(fault)}}
	case c.Name == "print":
		return printedAfterEnd(c, ranks, gdbtext.WithoutHistory(output))
	case c.Name == "list":
		return []protocol.Group{{Kind: protocol.KindResult, Ranks: ranks, Body: canonical.JSON(listingAfterEnd(output))}}
	}
	return []protocol.Group{{Kind: protocol.KindResult, Ranks: ranks, Body: canonical.JSON(TextBody{output})}}
}

// printedAfterEnd returns the answers to print. An address in the file is none of the process.
func printedAfterEnd(c *request.Command, ranks rank.Set, value string) (all []protocol.Group) {
	if w := c.Printing(); w.Format == "" && strings.Contains(value, "0x") || strings.Contains(w.Expr, "&") {
		return nil
	}
	body := c.BodyOf(Printed{Expr: c.Args.Expr})
	for r := range ranks.All() {
		values := []column.Column{column.New("value", r, value, c.Args.Limit)}
		all = append(all, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: body, Columns: values})
	}
	return all
}

// listingAfterEnd reads the answers to list and info line.
func listingAfterEnd(output string) listing {
	all, file := gdbtext.ParseExcerpts(output)
	if n := len(all); n > 1 {
		return listing{File: file, Lines: all[n-1].Lines, Head: all[n-1].Head, Before: all[:n-1]}
	}
	l := listing{Lines: gdbtext.NumberedLines(output)}
	if found := gdbtext.InfoLine.FindStringSubmatch(output); found != nil {
		l.File = found[2]
	}
	return l
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
