// The parts of the package, and what they need of a rank.

package values

import (
	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/column"
)

// Values shows what a stopped rank holds. Its parts execute the commands of RowOf. It is used by the
// goroutine of its rank.
type Values struct {
	Rank
	Printer  Printer
	arrays   arrays
	hasher   hasher
	Frames   Frames
	Displays Displays
}

// New returns the values of a rank.
func New(r Rank) *Values {
	v := &Values{Rank: r}
	v.Printer.Values, v.arrays.Values, v.hasher.Values, v.Frames.Values, v.Displays.Values = v, v, v, v, v
	return v
}

// Printer shows values and memory, and changes them.
type Printer struct {
	*Values
	last     printedLast
	examined examination
	objects  int // variable objects of gdb so far, see walk
}

// arrays finds arrays in memory.
type arrays struct{ *Values }

// hasher hashes arrays.
type hasher struct{ *Values }

// Frames shows stacks, variables, threads, libraries and sources.
type Frames struct {
	*Values
	withLines    []string        // libraries whose debug files were requested
	advised      map[string]bool // source files about which the user has been told
	askedSymbols bool            // AdviseSymbols has asked
}

// Rank is a rank under gdb, as far as values need it.
type Rank interface {
	Asker
	Answerer
	Symbols

	// Process returns what is debugged.
	Process() backend.Target
	// IsCore reports whether it is a core file.
	IsCore() bool
	// StateNow returns the state that a new command finds.
	StateNow() backend.State
	// Chosen returns the selected thread and frame; Choose changes them.
	Chosen() request.Selection
	Choose(request.Selection)
	// Threads returns the threads of the rank; Thread returns the one with a number of gdb.
	Threads() Threads
	Thread(gdb int) *Thread
	// Sources answers questions about source files.
	Sources() Sources
}

// Asker sends commands to the gdb of a rank.
type Asker interface {
	// Ask sends a command for a request; then receives the result.
	Ask(q *request.Request, then func(request.Answer), command string, args ...string) *request.Capture
	// Tell sends a command whose result is ignored. task names its purpose in messages.
	Tell(task, command string, args ...string)
	// Read reads memory of the process without gdb.
	Read(*MemoryRead)
	// At returns arguments that name the thread and frame of a request to gdb, Where those that
	// name the thread of a rank that may be running.
	At(*request.Request) []string
	Where(*request.Request) []string
	// Selected returns the thread and frame of a request.
	Selected(*request.Request) request.Selection
	// GDBThread returns gdb's number of a thread.
	GDBThread(id int) string
	// ThreadGroup returns gdb's name of the inferior, "i1".
	ThreadGroup() string
	// Settings returns the properties of the gdb that affect how values are shown.
	Settings() Settings
	// VariableSuffix returns the suffix of the names of convenience variables that only this rank uses.
	VariableSuffix() string
}

// Answerer answers requests. Each is answered once; later answers are dropped.
type Answerer interface {
	// Reply answers with a result. Columns must be sorted by name. ReplyWith is for a body that
	// is JSON already, and Done for an empty one.
	Reply(q *request.Request, body any, columns ...column.Column)
	ReplyWith(q *request.Request, body []byte, columns []column.Column)
	Done(*request.Request)
	// Say answers with a group.
	Say(*request.Request, protocol.Group)
	// Fail answers with a fault, Refused with gdb's error message.
	Fail(*request.Request, *protocol.Fault)
	Refused(*request.Request, request.Answer)
	// ThenDone returns a callback that answers with an empty object, or with gdb's error.
	ThenDone(*request.Request) func(request.Answer)
	// Event reports an event, unless it is impossible in the present state.
	Event(kind protocol.Kind, body any, columns ...column.Column) bool
}

// Symbols makes gdb read symbols of libraries that were not read at the attach.
type Symbols interface {
	// ReadLibraries makes gdb read all before its next command. ReadsAll records that the caller is
	// about to make gdb read all.
	ReadLibraries()
	ReadsAll(task string)
	// Reach calls then when the frames of a thread down to level last have their names.
	Reach(q *request.Request, thread, last int, then func())
	// Incomplete reports whether the answer for a plain expression might differ with all symbols.
	Incomplete(request.Answer) bool
	// PointsIntoLibraries reports whether values may contain an address for which gdb would show
	// a symbol.
	PointsIntoLibraries(values ...string) bool
	// UnnamedFrames returns the libraries of frames without a name, and ReadMore reads these, or
	// all after some rounds. ReadForThreads reads what the innermost frames of threads need. Both
	// report whether something had to be read.
	UnnamedFrames(stack mi.Tuple) []string
	ReadMore(libraries []string, round int) bool
	ReadForThreads(threads mi.Tuple) bool
}
