// Commands that the file of a program answers after the end of its ranks.

package values

import (
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/pattern"
	"sdm/protocol/rank"
)

// aboutProgram matches lines of gdb that are about the symbols of a program.
var aboutProgram = pattern.New(`^(?:ptype|whatis|i(?:nfo?|n)?\s+` +
	`(?:line|sym(?:bol)?|add(?:r|ress)?|scope|types|functions|variables|macro))\b`)

// LineAfterEnd returns the line of gdb that answers a command about a rank in a state from the symbols of its program
// alone. Values of constants are for ranks that have exited: the others were let go or killed. "": the command needs a
// process, or a convenience variable of the gdb that the rank had.
func LineAfterEnd(c *request.Command, state backend.State) (line string) {
	a := c.Args
	switch {
	case !state.IsOver() || a.Thread != 0 || a.Frame != nil || a.Stat:
	case (c.Name == "ptype" || c.Name == "whatis") && a.Expr != "":
		line = c.Name
		if a.Format != "" {
			line += "/" + a.Format
		}
		line += " " + a.Expr
	case c.Name == "print" && state == backend.Exited && a.First == 0 && a.Last == 0:
		if w := c.Printing(); w.Expr != "" && gdbtext.IsFormat(w.Format) {
			line = w.Line(w.Expr)
		}
	case c.Name == "gdb" && aboutProgram.MatchString(strings.TrimSpace(a.Text)):
		line = strings.TrimSpace(a.Text)
	}
	if strings.ContainsAny(line, "$\n\x00") {
		return ""
	}
	return line
}

// needsProcess matches gdb's errors for what only a process has.
var needsProcess = pattern.New(`Cannot access memory|without a process|[Nn]o registers|No frame|No stack|` +
	`not being run|No symbol table|in current context`)

// AfterEnd returns the answers of ranks that have ended from what gdb has written for LineAfterEnd to its standard
// output and error; nil: only a process has the answer.
func AfterEnd(c *request.Command, ranks rank.Set, output, errors string) []protocol.Group {
	output, errors = strings.TrimRight(output, "\n"), strings.TrimSpace(errors)
	errors = errors[strings.LastIndexByte(errors, '\n')+1:]
	switch {
	case needsProcess.MatchString(errors) || c.Name == "print" && output == "":
		return nil
	case c.Name == "print":
		return printedAfterEnd(c, ranks, gdbtext.WithoutHistory(output))
	case output == "" && errors != "":
		f := protocol.Fault{Kind: protocol.FaultGDB, Op: c.Name, Message: errors}
		return []protocol.Group{{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(&f)}}
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
