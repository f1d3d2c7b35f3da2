// Commands that let ranks run in further ways: to a place, from a place, by
// instructions, with a signal.

package gdb

import (
	"strconv"
	"strings"

	"sdm/backend/mi"
	"sdm/protocol"
)

// stepInstruction is stepi and nexti.
func (m *machine) stepInstruction(q *request) {
	command := "-exec-step-instruction"
	if q.name == "nexti" {
		command = "-exec-next-instruction"
	}
	m.resumeOne(q, command, strconv.Itoa(max(q.args.Count, 1)))
	m.run.address = true
}

// runUntil is until. -exec-until is no way to ask for it: gdb 13 hears nothing more until the target has stopped, and
// where that waits for other ranks of the same gdb (a collective) it never does.
func (m *machine) runUntil(q *request) { m.resumeTo(q, "until") }

// advance has no GDB/MI command: -exec-until with a location stays in the
// selected frame.
func (m *machine) advance(q *request) { m.resumeTo(q, "advance") }

// resumeTo lets the selected thread run to the location of a request. gdb would set breakpoints for it in the programs of
// all ranks that share it. A neighbour that has just ended has no memory for one, and gdb gives up ("Command aborted.");
// and when it has looked there, it stands in the innermost frame.
func (m *machine) resumeTo(q *request, word string) {
	m.inSelectedFile(q, q.args.Location, func(location string) {
		if location == "" {
			m.resumeByLine(q, word+" ")
			return
		}
		m.onlyPlace(q, location, func(location string) { m.resumeByLine(q, word+" "+location+" ") }, func() {
			m.aloneFor(q, word+" with several places")
		})
	})
}

// jump goes on somewhere else, with the selected thread.
func (m *machine) jump(q *request) {
	m.inSelectedFile(q, q.args.Location, func(location string) {
		m.onlyPlace(q, location, func(location string) { m.resumeOne(q, "-exec-jump", location) }, func() {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Unreasonable jump request"})
		})
	})
}

// onlyPlace gives a location as a command finds it that looks into the programs of all ranks that share a gdb, where it is to
// look into this one only: as an address, unless there are several.
func (m *machine) onlyPlace(q *request, location string, then func(location string), several func()) {
	if !m.gdb.shared() || strings.HasPrefix(location, "*") {
		then(location)
		return
	}
	m.places(q, location, func(own mi.Tuple) {
		if at := placesOf(own); len(at) == 1 {
			then("*" + at[0])
			return
		}
		several()
	})
}

// goOnWithSignal is signal. The signal is for the selected thread; "0" is none,
// which drops the one that the rank stopped with.
func (m *machine) goOnWithSignal(q *request) {
	if !isSignal(q.args.Signal) {
		m.fail(q, notASignal(q.args.Signal))
		return
	}
	m.resumeByLine(q, "signal "+q.args.Signal)
}

// resumeByLine lets a line of gdb's command line resume the selected thread.
// Behind the & gdb goes on hearing us (GDB manual, Background Execution).
func (m *machine) resumeByLine(q *request, line string) {
	at := m.at(q)
	m.resume(q, m.othersUnlocked(), "-interpreter-exec", append(at, "console", line+"&")...)
	m.run.thread = m.chosen.thread
}

func notASignal(text string) *protocol.Fault {
	return &protocol.Fault{
		Kind: protocol.FaultUsage, Message: strconv.Quote(text) + " is not a signal",
		Hint: "SIGUSR1, or a number; info signals lists them",
	}
}

// isSignal tells whether a text may stand for one signal in a line for gdb:
// one word, which gdb itself then knows or not.
func isSignal(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; !(c >= 'a' && c <= 'z' || text[i] >= '0' && text[i] <= '9') {
			return false
		}
	}
	return text != ""
}
