// Package command provides the language of the console: GDB's words, a rank
// set in front, one line a command.
//
// It is pure: a line goes in, a Command or a Mistake comes out. Words, their
// abbreviations, help and completion come from one table (words.go).
package command

import (
	"strconv"
	"time"
	"unicode/utf8"

	"sdm/protocol"
)

// Command is one line that made sense.
type Command struct {
	// Name is the full word: "break", "info breakpoints".
	Name string
	// Rest is what stood behind the word, byte for byte but for blanks at its
	// ends (send keeps those too).
	Rest string
	// Set is the text of the rank set in front, without the outer brackets; ""
	// is the focus.
	Set string
	// Wait bounds the answers of this command; 0 is the console's default,
	// NoLimit is until all have answered.
	Wait time.Duration
	// Thread is that of "[3.2]" in front; 0 is none.
	Thread int
	// Background tells that a script goes on at once: "continue &".
	Background bool

	// Do is the command of the session (protocol.Commands) and Args its
	// arguments; "" where the console itself acts.
	Do   string
	Args protocol.Args
	// Repeat tells that an empty line at the prompt gives the command again.
	Repeat bool

	// Label stands in front of the text of an answer: the expression of
	// print/x, which goes to gdb as a line of its own.
	Label string
	// Export is the form in which stacks are wanted, "" for people; File is where
	// they or breakpoints are written to, "" for the screen.
	Export, File string
	// Page is for list: +1 goes on where the last list ended, -1 before it.
	Page int
	// For bounds wait; 0 is no bound.
	For time.Duration
	// Any has wait be over when one of its ranks stands.
	Any bool
	// Number is the status of quit, which folded answer expand means (1 is the
	// last), and 1 for "set echo on".
	Number int
	// Pending is the argument of "set breakpoint pending".
	Pending Pending
	// With takes the place of that setting for this command; nil: nothing does.
	With *Pending
	// Text is the argument of what the console does itself: the file of source,
	// the line of shell, the word of help, the text of echo.
	Text string
}

// NoLimit as a Wait is until all ranks have answered or are lost.
const NoLimit time.Duration = -1

// Words that the console carries out itself, for the driver's switch.
const (
	Expand         = "expand"
	Focus          = "focus"
	Help           = "help"
	Quit           = "quit"
	Save           = "save"
	SetEcho        = "set echo"
	SetBreakpoint  = "set breakpoint"
	ShowBreakpoint = "show breakpoint"
	Commands       = "commands"
	SetHeight      = "set height"
	SetListsize    = "set listsize"
	SetPagination  = "set pagination"
	SetWait        = "set wait"
	ShowHeight     = "show height"
	ShowListsize   = "show listsize"
	ShowPagination = "show pagination"
	Shell          = "shell"
	Source         = "source"
	Echo           = "echo"
	Wait           = "wait"
)

// Mistake is a line that makes no sense: one line that says what is wrong, and
// a hint what to type instead.
type Mistake struct {
	Text, Hint string
}

// Error gives both.
func (m *Mistake) Error() string {
	if m.Hint == "" {
		return m.Text
	}
	return m.Text + " (" + m.Hint + ")"
}

// quote gives a piece of the line for a Mistake, clipped to what a screen line
// bears.
func quote(s string) string {
	const most = 60 // bytes
	if len(s) <= most {
		return "\"" + s + "\""
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return "\"" + s[:cut] + "...\""
}

// String prints the command so that Parse reads the same again.
func (c Command) String() string {
	var s string
	if c.Set != "" {
		s = "[" + c.Set + "] "
		if c.Thread != 0 {
			s = "[" + c.Set + "." + strconv.Itoa(c.Thread) + "] "
		}
	}
	switch {
	case c.Wait == NoLimit:
		s += "wait=none "
	case c.Wait != 0:
		s += "wait=" + c.Wait.String() + " "
	}
	s += c.Name
	if c.Rest != "" {
		s += " " + c.Rest
	}
	if c.Background {
		s += " &"
	}
	return s
}
