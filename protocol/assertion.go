// Assertions: conditions that are expected to hold, at each stop or where a rank comes to a location.

package protocol

import (
	"slices"
	"strings"
)

// Outcomes of an assertion, as values of its column. Any other value is the reason why the expression has no value.
const (
	Holds = "holds"
	Fails = "fails"
)

// Denied returns the expression that gdb evaluates for an assertion: it is true where the assertion fails. A
// comparison with 0 is the same in C, C++ and Fortran, and knows numbers, pointers and booleans.
func Denied(expr string) string { return "(" + expr + ") == 0" }

// Outcome returns the outcome of an assertion from the value that gdb shows for Denied.
func Outcome(value string) string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", ".true.":
		return Fails
	case "0", "false", ".false.":
		return Holds
	}
	return "it is neither true nor false: " + Clip(value)
}

// AssertLine begins the line that stands for an assertion among the commands of a breakpoint.
const AssertLine = "assert "

// maxOperands bounds how many operands of an assertion are shown where it fails.
const maxOperands = 4

// Operands returns the parts of a condition that are compared: their values tell why it fails. Literals are left out.
func Operands(expr string) []string { return operands(nil, expr) }

func operands(parts []string, expr string) []string {
	depth, begin, past := 0, 0, 0
	for i, b := range Unquoted(expr) {
		switch {
		case i < past:
		case strings.IndexByte("([{", b) >= 0:
			depth++
		case strings.IndexByte(")]}", b) >= 0:
			depth--
		case depth == 0:
			n := operator(expr[i:])
			if past = i + n; compares(expr[i:past]) {
				parts, begin = addOperand(parts, expr[begin:i]), past
			}
		}
	}
	return addOperand(parts, expr[begin:])
}

// operators of C and Fortran, of which none that comes later begins with an earlier one.
var operators = []string{"->", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "/=", ".eq.", ".ne.", ".lt.", ".le.", ".gt.",
	".ge.", ".and.", ".or.", ".eqv.", ".neqv.", "<", ">"}

// operator returns the length of the operator that s begins with; 0: of none of these.
func operator(s string) int {
	s = strings.ToLower(s[:min(len(s), len(".neqv."))])
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			return len(o)
		}
	}
	return 0
}

// compares reports whether an operator compares conditions or values, or joins conditions.
func compares(o string) bool { return o != "" && o != "->" && o != "<<" && o != ">>" }

// isEnclosed reports whether a part is one expression in parentheses.
func isEnclosed(s string) bool {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return false
	}
	depth := 0
	for i, b := range Unquoted(s) {
		switch b {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(s)-1 {
				return false
			}
		}
	}
	return depth == 0
}

// addOperand adds the operands in a part of a condition that are new.
func addOperand(parts []string, part string) []string {
	part = strings.Trim(part, " \t")
	if after := strings.TrimLeft(part, "! "); after != "" {
		part = after
	}
	if not := ".not."; len(part) > len(not) && strings.EqualFold(part[:len(not)], not) {
		part = strings.Trim(part[len(not):], " \t")
	}
	switch {
	case isEnclosed(part):
		return operands(parts, part[1:len(part)-1])
	case part == "" || strings.IndexByte("0123456789.\"'-+", part[0]) >= 0 || slices.Contains(parts, part) ||
		len(parts) >= maxOperands:
		return parts
	}
	return append(parts, part)
}
