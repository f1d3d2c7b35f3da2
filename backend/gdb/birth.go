// Whether what was started is a gdb.

package gdb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sdm/backend/mi"
	"sdm/protocol"
)

// birth is what is known of a program that was started as gdb, until it has said something in
// GDB/MI.
type birth struct {
	name    string        // of the program; "" is gdb
	at      time.Duration // when it was started; 0: it has not been
	last    bool          // no other will be started in its place
	bound   bound
	speaks  bool
	strange string        // the first line that is not GDB/MI: the word of a wrapper, or of something else
	gaveUp  time.Duration // how long it was waited for; 0: it has not been given up
}

// How long a program may take to say something in GDB/MI: one that says something else, and one
// that says nothing. A gdb takes 60 ms, on a node with 64 of them 3 s, from a
// slow file server more.
const (
	strangeWait = 20 * time.Second
	silentWait  = 2 * time.Minute
)

// mostStrange bounds what is kept of a strange line, in bytes.
const mostStrange = 80

// born begins to wait for the first word of the program that was started now.
func (d *debugger) born(name string, now time.Duration) {
	replaces := slices.ContainsFunc(d.machines, func(m *machine) bool { return m.rescue.count > 0 })
	d.bound = d.bound.begin(now, replaces)
	d.birth = birth{name: name, at: now, last: replaces, bound: d.bound}
}

func (b *birth) hear(r mi.Record) {
	switch {
	case r.Class != mi.Other:
		b.speaks = true
	case b.strange == "" && !b.speaks:
		b.strange = strings.ToValidUTF8(strings.TrimSpace(r.Text[:min(len(r.Text), mostStrange)]), "?")
	}
}

// deadline is when it is given up, 0 for never.
func (b *birth) deadline() time.Duration {
	switch {
	case b.at == 0 || b.speaks || b.gaveUp != 0:
		return 0
	case b.strange != "":
		return min(b.at+strangeWait, b.bound.silence(b.last))
	}
	return b.bound.silence(b.last)
}

// wasSilent tells whether it was given up because it has said nothing at all: another one may be heard.
func (b *birth) wasSilent() bool { return b.bound.isSet() && b.gaveUp != 0 && b.strange == "" }

// tick tells whether it is to be given up now.
func (b *birth) tick(now time.Duration) bool {
	if t := b.deadline(); t == 0 || now < t {
		return false
	}
	b.gaveUp = now - b.at
	return true
}

// hopeful tells whether another gdb may do better than one that has ended: not where it was none, or has
// refused to start; but gdb 13.1 crashes at about 2 of 1,000 starts on a busy machine.
func (b *birth) hopeful(how demise) bool { return b.gaveUp == 0 && (b.speaks || how.crashed) }

// refusal says what is wrong with a program that has ended, or was given up, without a
// word of GDB/MI.
func (b *birth) refusal(cause string) *protocol.Fault {
	name := b.name
	if name == "" {
		name = "gdb"
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Hint: "give one with --gdb PATH"}
	switch {
	case b.gaveUp != 0 && b.strange == "":
		f.Message = fmt.Sprintf("%s has said nothing in %s", name, rounded(b.gaveUp))
		f.Hint = "try it by hand: " + name + " --version"
	case b.gaveUp != 0:
		f.Message = fmt.Sprintf("%s is no gdb: it says %q", name, b.strange)
	case strings.Contains(cause, "Interpreter `mi") && strings.Contains(cause, "unrecognized"):
		f.Message = name + " is older than gdb 9, or was built without GDB/MI"
		f.Hint = "give a newer one with --gdb PATH"
	default:
		f.Message = fmt.Sprintf("%s does not start: %s", name, cause)
		f.Hint = "try it by hand: " + name + " --version; --gdb PATH names another"
	}
	return f
}
