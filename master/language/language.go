// Package language defines the command language of the console: GDB's words, optionally after a rank
// set, one command on each line.
//
// It is pure: Parse converts a line to a Command or a Mistake. One table (words.go) defines the
// words, their abbreviations, help and completion.
package language

import (
	"strconv"
	"time"
	"unicode/utf8"

	"sdm/master/valuefile"
	"sdm/protocol"
)

// Command is one valid line.
type Command struct {
	// Name is the full word: "break", "info breakpoints".
	Name string
	// Rest is the text after the word, unchanged except for blanks at its ends (send keeps those
	// too).
	Rest string
	// Set is the text of the rank set at the begin, without the outer brackets; "" is the focus.
	Set string
	// Wait bounds the answers of this command; 0 is the console's default, NoLimit waits until all
	// have answered.
	Wait time.Duration
	// Thread is the thread of "[3.2]"; 0 is none.
	Thread int
	// Background tells that a script continues at once: "continue &".
	Background bool

	// Do is the command of the session (protocol.Commands) and Args its arguments; "" if the
	// console itself executes the command.
	Do   string
	Args protocol.Args
	// Repeat tells that an empty line at the prompt repeats the command.
	Repeat bool

	// Label precedes the text of an answer: the expression of print/x, which is sent to gdb as a
	// line of its own.
	Label string
	// Export is the format of stacks, "" for text; File is the file for stacks or breakpoints, ""
	// for the screen.
	Export, File string
	// Page is for list: +1 continues after the last list, -1 before it.
	Page int
	// For is the limit of wait, 0 for none, and the argument of set wait.
	For time.Duration
	// Any makes wait end when one of its ranks has stopped.
	Any bool
	// Number is the argument of quit, expand (1 is the last answer), set listsize, set height and set width,
	// and 1 for "on" of set echo, set confirm and set pagination.
	Number int
	// Pending is the argument of "set breakpoint pending".
	Pending Pending
	// Wanted are the expressions of save values, diff --file and whole, and Whole how a whole array is shown.
	Wanted []valuefile.Wanted
	Whole  WholeView
	// With replaces that setting for this command; nil: no replacement.
	With *Pending
	// Text is the argument of a command of the console: the file of source, the line of shell, the
	// word of help, the text of echo.
	Text string
}

// WholeView is how a whole array is shown.
type WholeView struct {
	Image string // file for an image; "": none
	Width int    // elements of a row of the image; 0: as many as there are rows
}

// NoLimit as a Wait waits until all ranks have answered or are lost.
const NoLimit time.Duration = -1

// These words are executed by the console itself.
const (
	Diff           = "diff"
	Expand         = "expand"
	Focus          = "focus"
	Help           = "help"
	Leave          = "leave"
	Quit           = "quit"
	Save           = "save"
	SetEcho        = "set echo"
	SetBreakpoint  = "set breakpoint"
	ShowBreakpoint = "show breakpoint"
	Commands       = "commands"
	SetConfirm     = "set confirm"
	SetHeight      = "set height"
	SetListsize    = "set listsize"
	SetPagination  = "set pagination"
	SetWait        = "set wait"
	SetWidth       = "set width"
	ShowConfirm    = "show confirm"
	ShowHeight     = "show height"
	ShowListsize   = "show listsize"
	ShowPagination = "show pagination"
	ShowWidth      = "show width"
	Shell          = "shell"
	Source         = "source"
	Whole          = "whole"
	Echo           = "echo"
	Wait           = "wait"
)

// Mistake is the error for an invalid line: one line that describes it, and a hint what to type
// instead.
type Mistake struct {
	Text, Hint string
}

// Error returns both.
func (m *Mistake) Error() string {
	if m.Hint == "" {
		return m.Text
	}
	return m.Text + " (" + m.Hint + ")"
}

// quote quotes a part of the line for a Mistake, truncated to a line of the screen.
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

// String formats the command so that Parse returns the same again.
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
