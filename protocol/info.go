// The columns of the table of commands, and what follows from them.

package protocol

import (
	"reflect"
	"slices"
	"strings"
)

// Place is the program that executes a command.
type Place uint8

const (
	AtTarget Place = iota // the back end of each rank, through the tree
	AtServer              // the server of each rank, through the tree
	AtMaster              // the master itself
)

// Need is the state of a rank that a command requires.
type Need uint8

const (
	NeedNothing Need = iota
	NeedStopped      // a running rank answers with a FaultState "is running"
	NeedRunning
	NeedAlive // running or stopped
	NeedNew   // not started yet
)

// Object is what a debugger keeps and a command is about.
type Object uint8

const (
	NoObject    Object = iota
	Breakpoints        // of all kinds: also watchpoints, catchpoints, logs, barriers
	Displays           // expressions that are shown at each stop
	Signals            // the handling of signals
)

// Effect is what a command does with its Object.
type Effect uint8

const (
	Shows     Effect = iota
	Makes            // makes one; the master assigns its number
	MakesMany        // makes as many as the ranks find places
	Changes
	Removes
)

// Selects is what a command selects for the commands that follow.
type Selects uint8

const (
	SelectsNothing Selects = iota
	SelectsThread
	SelectsFrame
)

// CommandInfo is one row of the table of commands. The zero value of a column is the
// common case.
type CommandInfo struct {
	Name string
	Args []string // JSON names of the Args fields that the command reads
	Help string   // one line, for help text and documentation

	// Lacks reports whether an argument that the command requires is missing; Asks tells
	// the user what that is. nil: nothing is required.
	Lacks func(Args) bool
	Asks  string

	Place   Place
	Need    Need
	NoRanks bool   // it addresses no ranks
	As      string // ranks receive this command instead, and the master evaluates the answers

	Resumes bool // it resumes ranks; scripts wait until they have stopped or ended
	Forward bool // with Resumes: the ranks execute their next instruction
	Ends    bool // it ends the ranks, or sdm's control of them

	Object  Object
	Effect  Effect
	Selects Selects

	Alters bool // it changes the program or gdb, as no other column tells

	Process    bool // it requires a process, also if nothing else says so; see NeedsProcess
	OwnSymbols bool // it needs no symbols of libraries, or reads those that it needs

	Ours   bool // GDB has no such command: in the commands of a breakpoint, front ends execute it
	NoWord bool // for programs: the console derives no word from the row

	Offline bool // only the session of a hang file has it
}

// Looks reports whether the command changes nothing that lasts, so that it may be ended at any time.
// Expressions may call functions nevertheless.
func (c CommandInfo) Looks() bool {
	return c.Place == AtTarget && c.Need != NeedNew && !c.Resumes && !c.Ends && !c.Alters && c.Effect == Shows &&
		!c.Takes("apply")
}

// Takes reports whether the command reads an argument, by its JSON name.
func (c CommandInfo) Takes(arg string) bool { return slices.Contains(c.Args, arg) }

// Unread returns the JSON names of the arguments that are given and that the command does not read.
// Any command may have what is about its answers.
func (c CommandInfo) Unread(a Args) (names []string) {
	var applied CommandInfo // by thread apply, which hands its arguments on
	if c.Takes("apply") {
		applied, _ = LookupCommand(a.Apply)
	}
	v := reflect.ValueOf(a)
	for i, name := range argNames {
		if !v.Field(i).IsZero() && !c.Takes(name) && !applied.Takes(name) && name != "limit" && name != "patience" {
			names = append(names, name)
		}
	}
	return names
}

// argNames are the JSON names of the fields of Args, in their order.
var argNames = func() (names []string) {
	for f := range reflect.TypeFor[Args]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// MakesPoint reports whether the command makes one breakpoint of any kind.
func (c CommandInfo) MakesPoint() bool { return c.Object == Breakpoints && c.Effect == Makes }

// ChangesPoints reports whether the command changes or deletes breakpoints by number.
func (c CommandInfo) ChangesPoints() bool {
	return c.Object == Breakpoints && c.Effect != Shows && c.Takes("breakpoints")
}

// Prepares reports whether the command determines where ranks stop: a resume that is
// given after it must not overtake it.
func (c CommandInfo) Prepares() bool {
	return (c.Object == Breakpoints || c.Object == Signals) && c.Effect != Shows
}

// Lasts reports whether a debugger that takes over a rank must execute the command
// again, because its effect is state of the debugger.
func (c CommandInfo) Lasts() bool {
	return c.Prepares() && (c.Effect == Makes || c.Effect == Changes)
}

// NeedsProcess reports whether the command does not work on a core file.
func (c CommandInfo) NeedsProcess() bool { return c.Process || c.Resumes || c.Prepares() }

// PerThread reports whether the command can be executed for one thread after another.
func (c CommandInfo) PerThread() bool {
	return c.Place == AtTarget && c.Takes("thread") && !c.Resumes && c.Selects == SelectsNothing
}

// CanWait reports whether the command with these arguments can be given to ranks that
// have not started. Without a location or an expression, it is about the place where a
// rank has stopped.
func (c CommandInfo) CanWait(a Args) bool {
	if c.Object != Breakpoints && c.Object != Displays || c.Resumes || c.Effect == MakesMany {
		return false
	}
	return (a.Location != "" || !c.Takes("location")) && (a.Expr != "" || !c.Takes("expr"))
}

// LookupCommand returns the command with a full name.
func LookupCommand(name string) (CommandInfo, bool) {
	i, ok := commandsByName[name]
	if !ok {
		return CommandInfo{}, false
	}
	return Commands[i], true
}

// commandsByName maps names to indexes of Commands, because each command is looked
// up several times for each rank of a node.
var commandsByName = func() map[string]int {
	m := make(map[string]int, len(Commands))
	for i, c := range Commands {
		m[c.Name] = i
	}
	return m
}()
