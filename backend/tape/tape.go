// Package tape provides recorded conversations with gdb: it records what a real gdb reads and
// writes, and plays that back as a gdb on machines that have none.
//
// A tape is text, one line for each line of GDB/MI, in the order in which they were sent:
//
//	# gdb 13.1              what it was recorded with
//	> 3-target-attach ${1}  a command, with its token
//	< 3^done                what gdb wrote to standard output
//	! warning: …            and to standard error
//	= 0                     gdb has ended, with this exit code
//
// It has no times. When it is played, a line of gdb is written as soon as all commands before it
// on the tape have come. A command cannot depend on a line that gdb had not written when it was
// recorded, so the player never waits for a command that depends on a later line. Commands may
// come in another order, and with other tokens. What depends on the machine has a name: ${1},
// ${2}, … are the processes that were attached to, in order; further names are given for
// directories.
//
// An event that no command causes, but a signal from elsewhere, cannot be on a tape: it would be
// played before the signal.
package tape

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// Kind is the kind of a line of a tape.
type Kind byte

// The kinds of lines, by their first characters.
const (
	Remark  Kind = '#'
	Command Kind = '>'
	Output  Kind = '<'
	Errors  Kind = '!'
	End     Kind = '='
)

// Line is one line of a tape.
type Line struct {
	Kind Kind
	Text string // without a line break
}

// String returns the line in the format of a tape.
func (l Line) String() string {
	if l.Text == "" {
		return string(l.Kind)
	}
	return string(l.Kind) + " " + l.Text
}

// maxLine bounds a line of a tape, in bytes, as a line of GDB/MI is bounded.
const maxLine = 64 << 20

// Read reads a tape. All lines must be of known kinds.
func Read(text []byte) ([]Line, error) {
	var all []Line
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		l := lines.Text()
		if l == "" {
			return nil, fmt.Errorf("line %d of the tape is empty", n)
		}
		kind, rest := Kind(l[0]), l[1:]
		switch kind {
		case Remark, Command, Output, Errors, End:
		default:
			return nil, fmt.Errorf("line %d of the tape begins with %q", n, l[0])
		}
		if rest != "" && (rest[0] != ' ' || rest == " ") {
			return nil, fmt.Errorf("line %d of the tape is not a kind, a blank and a text", n)
		}
		all = append(all, Line{kind, strings.TrimPrefix(rest, " ")})
	}
	return all, lines.Err()
}

// withoutToken splits a command or a result into its token and the rest.
func withoutToken(text string) (token, rest string) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}
