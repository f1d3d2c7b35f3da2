// Displays.

package gdbtext

import (
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// NotParsed matches the errors of gdb for an expression that it cannot parse in the current scope.
var NotParsed = pattern.New(`^(?:No symbol |No type |No (?:struct|union|enum) type |A syntax error in expression|Invalid |Unmatched |Unterminated |Empty )`)

// DisplayedError returns what gdb shows for a display without a value. shown is false if gdb shows nothing
// because it cannot parse the expression. parsed says that gdb has made a display of its own from the
// expression: in C++ it parses calls of functions that do not exist.
func DisplayedError(msg string, parsed bool) (text string, shown bool) {
	if !parsed && NotParsed.MatchString(msg) {
		return msg, false
	}
	return "<error: " + msg + ">", true
}

// DisplayLine returns the command line that evaluates a display: x for memory and instructions, else
// print.
func DisplayLine(d protocol.Display) string {
	if Examines(d.Format) {
		return ExamineLine(&protocol.Args{Expr: d.Expr, Format: d.Format})
	}
	return "output/" + d.Format + " " + d.Expr
}

// Examines reports whether a format is one of x, not of print.
func Examines(format string) bool { return strings.ContainsAny(format, "is0123456789bhwg") }
