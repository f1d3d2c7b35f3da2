// Wrappers: programs that prepare and then start another one in their place, such as
// shell scripts and numactl.

package debugger

import (
	"path"
	"slices"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// wrappers are the wrappers besides shells. To debug one of them, a user stops it at
// its entry.
var wrappers = []string{
	"env", "nice", "ionice", "chrt", "nohup", "setsid", "setarch", "stdbuf", "taskset", "numactl", "hwloc-bind", "prlimit",
}

func IsWrapper(program string) bool {
	return protocol.IsShell(program) || slices.Contains(wrappers, path.Base(program))
}

// seeksProgram reports whether a wrapper is to run to its program first: because the
// program is to stop, or commands were given for it.
func (m *Machine) seeksProgram() bool {
	switch m.attach.stopAt {
	case stopAtEntry:
		return false
	case stopAtNone:
		return m.Target.Wraps && len(m.Target.Before) > 0
	}
	return m.Target.Wraps
}

// seekProgram runs a wrapper until it has started its program. Commands that were given
// for the rank before it started apply to the program.
//
//	wrapper at its entry ─→ catch exec ─→ runs ─→ exec of another wrapper: goes on
//	                                            └→ exec of the program ─→ replay ─→ leave
func (m *Machine) seekProgram(q *request.Request) {
	m.Done(q)
	m.runToProgram(q, func() { m.resumeAll(q) }, m.stayAtEntry)
}

// runToProgram has gdb stop at the exec, and resumes the wrapper; if gdb cannot, the
// rank stays where it is.
func (m *Machine) runToProgram(q *request.Request, resume func(), stay func(why string)) {
	m.inConsoleOr(q, "catch exec", func(a request.Answer) {
		switch {
		case m.State.IsOver():
		case a.Failed():
			stay("cannot wait for the program that " + m.Target.Program + " starts: " + a.Results.Str("msg"))
		default:
			m.attach.seeks, m.attach.exec = true, a.Made
			resume()
		}
	})
}

// foundProgram checks whether a wrapper has started its program, and then goes to its
// first stop. Any other stop is reported, and the search goes on with the next resume.
func (m *Machine) foundProgram(t *values.Thread) bool {
	if !m.attach.seeks || t.Stop.Str("reason") != "exec" {
		return false
	}
	q := request.Internal("launch")
	if IsWrapper(t.Stop.Str("new-exec")) {
		m.resumeAll(q)
		m.run.silent = true
		return true
	}
	m.attach.seeks = false
	m.Tell("delete", "-break-delete", m.attach.exec)
	m.replay(m.before(), func() { m.leave(q, t) })
	return true
}

// soughtInVain reports why a rank has ended without a stop.
func (m *Machine) soughtInVain(exit protocol.Exit) {
	if m.attach.seeks && exit.Signal == "" && m.attach.stopAt != stopAtNone {
		m.attach.seeks = false
		m.Event(protocol.KindNote, protocol.Note{Text: m.Target.Program + " has started no program in its place, only beside it if at all: put exec in front of the program in the script"})
	}
}
