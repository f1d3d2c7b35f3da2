// Programs that only prepare what they start in their place: the shells of scripts, and such as numactl.

package gdb

import (
	"fmt"
	"os"
	"path"
	"slices"

	"sdm/protocol"
)

// wrappers are the names of such programs besides shells. Nobody debugs them by chance; and
// who wants to stops at their entry.
var wrappers = []string{
	"env", "nice", "ionice", "chrt", "nohup", "setsid", "setarch", "stdbuf", "taskset", "numactl", "hwloc-bind", "prlimit",
}

func isWrapper(program string) bool {
	return protocol.IsShell(program) || slices.Contains(wrappers, path.Base(program))
}

// wraps tells whether a process runs a program of those that start another in their
// place.
func wraps(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && isWrapper(exe)
}

// seeksProgram tells whether a wrapper is to come to its program first: where that shall stop, or
// something was said about it.
func (m *machine) seeksProgram() bool {
	switch m.attach.stopAt {
	case stopAtEntry:
		return false
	case stopAtNone:
		return m.target.Wraps && len(m.target.Before) > 0
	}
	return m.target.Wraps
}

// seekProgram lets a wrapper run until it has started the program that it prepares. What was
// said about the rank before it was there is about that one.
//
//	wrapper at its entry ─→ catch exec ─→ runs ─→ exec of another wrapper: goes on
//	                                           └→ exec of the program ─→ replay ─→ leave
func (m *machine) seekProgram(q *request) {
	m.done(q)
	m.runToProgram(q, func() { m.resumeAll(q) }, m.stayAtEntry)
}

// runToProgram has gdb stop at the exec, and resumes the wrapper; where gdb cannot, the rank stays.
func (m *machine) runToProgram(q *request, resume func(), stay func(why string)) {
	m.inConsoleOr(q, "catch exec", func(a answer) {
		switch {
		case m.state.IsOver():
		case a.failed():
			stay("cannot wait for the program that " + m.target.Program + " starts: " + a.Results.Str("msg"))
		default:
			m.attach.seeks, m.attach.exec = true, a.made
			resume()
		}
	})
}

// foundProgram looks whether a wrapper has come to its program, and goes on to where that shall
// stop. Another stop on the way is one as any; the search goes on when the rank does.
func (m *machine) foundProgram(t *thread) bool {
	if !m.attach.seeks || t.stop.Str("reason") != "exec" {
		return false
	}
	q := ours("launch")
	if isWrapper(t.stop.Str("new-exec")) {
		m.resumeAll(q)
		m.run.silent = true
		return true
	}
	m.attach.seeks = false
	m.tell("delete", "-break-delete", m.attach.exec)
	m.replay(m.before(), func() { m.leave(q, t) })
	return true
}

// soughtInVain says why a rank has ended without a stop.
func (m *machine) soughtInVain(exit protocol.Exit) {
	if m.attach.seeks && exit.Signal == "" && m.attach.stopAt != stopAtNone {
		m.attach.seeks = false
		m.event(protocol.KindNote, protocol.Note{Text: m.target.Program + " has started no program in its place, only beside it if at all: put exec in front of the program in the script"})
	}
}
