// The start of a gdb, until its first line of GDB/MI.

package debugger

import (
	"fmt"
	"strings"
	"time"

	"sdm/backend/mi"
	"sdm/protocol"
)

// startup is the state of a program that was started as gdb, until it has written GDB/MI.
type startup struct {
	name   string        // of the program; "" means gdb
	at     time.Duration // when it was started; 0: not yet
	last   bool          // no other will be started in its place
	bound  bound
	Speaks bool
	// otherLine is the first line that is not GDB/MI: output of a wrapper or another program.
	otherLine string
	gaveUp    time.Duration // how long it was waited for; 0: not given up
}

// How long a program may take until it writes GDB/MI: one that writes something else,
// and one that writes nothing. A gdb takes 60 ms, on a node with 64 of them 3 s, from a
// slow file server more.
const (
	otherWait  = 20 * time.Second
	silentWait = 2 * time.Minute
)

// maxOtherLine bounds the kept part of that line, in bytes.
const maxOtherLine = 80

func (b *startup) receive(r mi.Record) {
	switch {
	case r.Class != mi.Other:
		b.Speaks = true
	case b.otherLine == "" && !b.Speaks:
		b.otherLine = strings.ToValidUTF8(strings.TrimSpace(r.Text[:min(len(r.Text), maxOtherLine)]), "?")
	}
}

// deadline returns the time at which the program is given up; 0: never.
func (b *startup) deadline() time.Duration {
	switch {
	case b.at == 0 || b.Speaks || b.gaveUp != 0:
		return 0
	case b.otherLine != "":
		return min(b.at+otherWait, b.bound.silentUntil(b.last))
	}
	return b.bound.silentUntil(b.last)
}

// wasSilent reports whether it was given up because it has written nothing: another one
// may be tried.
func (b *startup) wasSilent() bool { return b.bound.isSet() && b.gaveUp != 0 && b.otherLine == "" }

// tick reports whether it is to be given up now.
func (b *startup) tick(now time.Duration) bool {
	if t := b.deadline(); t == 0 || now < t {
		return false
	}
	b.gaveUp = now - b.at
	return true
}

// shouldRetry reports whether another gdb should be tried after this one has ended: not if
// it was no gdb or refused to start. gdb 13.1 crashes at about 2 of 1,000 starts on a
// busy machine.
func (b *startup) shouldRetry(how End) bool { return b.gaveUp == 0 && (b.Speaks || how.Crashed) }

// refusal describes a program that has ended, or was given up, without writing GDB/MI.
func (b *startup) refusal(cause string) *protocol.Fault {
	name := b.name
	if name == "" {
		name = "gdb"
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Hint: "give one with --gdb PATH"}
	switch {
	case b.gaveUp != 0 && b.otherLine == "":
		f.Message = fmt.Sprintf("%s has said nothing in %s", name, rounded(b.gaveUp))
		f.Hint = "try it by hand: " + name + " --version"
	case b.gaveUp != 0:
		f.Message = fmt.Sprintf("%s is no gdb: it says %q", name, b.otherLine)
	case strings.Contains(cause, "Interpreter `mi") && strings.Contains(cause, "unrecognized"):
		f.Message = name + " is older than gdb 9, or was built without GDB/MI"
		f.Hint = "give a newer one with --gdb PATH"
	default:
		f.Message = fmt.Sprintf("%s does not start: %s", name, cause)
		f.Hint = "try it by hand: " + name + " --version; --gdb PATH names another"
	}
	return f
}
