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

// resumeTo lets the selected thread run to the location of a request.
func (m *machine) resumeTo(q *request, word string) {
	m.inSelectedFile(q, q.args.Location, func(location string) {
		m.keepingFrame(q, location, func(location string) {
			m.resumeByLine(q, strings.TrimSpace(word+" "+location)+" ")
		})
	})
}

// keepingFrame gives a location that gdb finds without forgetting which frame is selected. In a shared gdb that is an
// address: gdb 13 looks for all else in the program of each rank, and stands in the innermost frame then.
func (m *machine) keepingFrame(q *request, location string, then func(location string)) {
	if location == "" || !m.gdb.shared() || m.selected(q).frame == 0 {
		then(location)
		return
	}
	m.places(q, location, func(own mi.Tuple) {
		if at := placesOf(own); len(at) == 1 {
			location = "*" + at[0]
		}
		then(location)
	})
}

// jump goes on somewhere else, with the selected thread. gdb refuses a location that it finds in the program of each
// rank ("Unreasonable jump request"), so in a shared gdb it gets the address in that of this one.
func (m *machine) jump(q *request) {
	m.inSelectedFile(q, q.args.Location, func(location string) {
		if !m.gdb.shared() {
			m.resumeOne(q, "-exec-jump", location)
			return
		}
		m.places(q, location, func(own mi.Tuple) {
			if at := placesOf(own); len(at) == 1 {
				m.resumeOne(q, "-exec-jump", "*"+at[0])
				return
			}
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Unreasonable jump request"})
		})
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
