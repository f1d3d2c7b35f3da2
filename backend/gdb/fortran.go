// What is special in Fortran: its program unit, and variables whose names gdb takes for functions.

package gdb

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"sdm/protocol"
)

// scoped asks for the value of an expression once more, with its procedure in
// front of the name at which gdb gave it up; what is no such failure goes on by or.
func (m *machine) scoped(q *request, w printing, expr string, refused answer, or func()) {
	before, name, after, ok := unscoped(expr, refused.Results.Str("msg"))
	if !refused.failed() || !ok {
		or()
		return
	}
	level := m.frameOf(q)
	m.listFrames(q, cmp.Or(q.args.Thread, m.chosen.thread), level, level, func(frames []frame, _ string) {
		if len(frames) != 1 || !isFortran(frames[0].File) {
			or()
			return
		}
		expr := before + procedure(frames[0].Func) + "::" + name + after
		m.askPrint(q, w, expr, func(a answer, value string) {
			m.scoped(q, w, expr, a, func() {
				if !a.failed() {
					m.evaluated(q, a, value)
					return
				}
				m.fail(q, &protocol.Fault{
					Kind: protocol.FaultGDB, Message: refused.Results.Str("msg"),
					Hint: "gdb's Fortran has a function " + name + "; put the procedure or module of the variable in front, as in m::" + name,
				})
			})
		})
	})
}

// fortranFiles are the endings of Fortran's source files.
var fortranFiles = []string{".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"}

func isFortran(file string) bool {
	return slices.Contains(fortranFiles, strings.ToLower(filepath.Ext(file)))
}

// unscoped finds the name at which gdb gave up an expression. From version 12 on
// its Fortran has functions called rank, size, shape, kind, mod and so on, and
// no variables of these names, though every other MPI program has them; a name
// that follows its procedure (work::rank) is always a variable. before and after are the
// expression around the name.
func unscoped(expr, message string) (before, name, after string, ok bool) {
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
	for start > 0 && isNameByte(read[start-1], false) {
		start--
	}
	before, name, after = read[:start], read[start:], expr[len(read):]
	if name == "" || !isNameByte(name[0], true) || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "$") {
		return "", "", "", false
	}
	return before, name, after, true
}

// procedure is the last part of a function's name as gdb shows it: m::work is work.
func procedure(function string) string {
	return function[strings.LastIndexByte(function, ':')+1:]
}

// programUnit is how gfortran and Intel's compilers call the program unit, which a main that they make calls.
const programUnit = "MAIN__"

// entersProgramUnit lets a rank that has come to such a main go on to the program unit, where gdb's start stops, too. Where there
// is none the stop at main is told.
func (m *machine) entersProgramUnit(r *run, t *thread) bool {
	f, ok := frameIn(t.stop)
	p := m.points.at(t.stop)
	if m.attach.away != stopAtMain || !ok || p == nil || p.number != 0 || !isFortran(f.File) {
		return false
	}
	m.arrived()
	m.attach.away = programUnit
	q := ours("launch")
	m.breakAtStart(q, programUnit, func(a answer) {
		switch {
		case m.state.IsOver():
		case a.failed():
			m.arrived()
			m.reportStop(r, t)
		default:
			m.points.claim(0, programUnit, a.Results.Path("bkpt").Fields)
			m.resumeAll(q)
			m.run.silent = true
		}
	})
	return true
}
