// Expressions of Fortran.

package gdbtext

import (
	"path/filepath"
	"slices"
	"strings"
)

// IsNameByte reports whether a byte may be in a name, or begin one.
func IsNameByte(c byte, first bool) bool {
	return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || !first && '0' <= c && c <= '9'
}

// fortranFiles are the extensions of Fortran source files.
var fortranFiles = []string{".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"}

// IsFortran reports whether a source file is one of Fortran.
func IsFortran(file string) bool {
	return slices.Contains(fortranFiles, strings.ToLower(filepath.Ext(file)))
}

// Unscoped finds the name at which gdb stopped parsing an expression. From version 12 on gdb takes rank,
// size, shape, kind, mod and others for functions of Fortran, never for variables. A name that is qualified
// by its procedure (work::rank) is always a variable. before and after are the expression around the name.
func Unscoped(expr, message string) (before, name, after string, ok bool) {
	rest, ok := strings.CutPrefix(message, "A syntax error in expression, near `")
	if !ok {
		return "", "", "", false
	}
	rest = strings.TrimSuffix(rest, "'.")
	read, ok := strings.CutSuffix(expr, rest)
	if !ok {
		return "", "", "", false
	}
	read = strings.TrimRight(read, " ")
	start := len(read)
	for start > 0 && IsNameByte(read[start-1], false) {
		start--
	}
	before, name, after = read[:start], read[start:], expr[len(read):]
	if name == "" || !IsNameByte(name[0], true) || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "$") {
		return "", "", "", false
	}
	return before, name, after, true
}

// ProcedureName returns a function's name without its module: work of m::work.
func ProcedureName(function string) string {
	return function[strings.LastIndexByte(function, ':')+1:]
}

// InC returns an expression of Fortran as one of C: names are in lower case, as compilers write them, and
// components follow a point.
func InC(expr string) string {
	return strings.ReplaceAll(strings.ToLower(expr), "%", ".")
}
