// Commands and their arguments.

package protocol

import (
	"strconv"

	"sdm/protocol/rank"
)

// Command is the body of a wire Command message: what the addressed ranks are to
// do. Ranks, wait and number are in the envelope.
type Command struct {
	Name string `json:"command"`
	Args Args   `json:"args"`
}

// Args are the arguments of all commands in one flat struct; the table Commands lists which command
// reads which of them, and CommandInfo.Unread finds others. With one struct, the JSON form, the params
// of JSON-RPC and the Go call are the same (docs/decisions/037-one-struct-of-arguments.md). The zero
// value of a field means "not given". The comment of a field names the commands that read it.
type Args struct {
	// The thread and the frame of a rank.

	// any command that inspects; 0 is the current thread
	Thread int `json:"thread,omitempty"`
	// frame: a level
	Frame *int `json:"frame,omitempty"`

	// What is evaluated or searched for, and how much of it is shown.

	// expression of print and others; register names of info registers; stacks with progress: the
	// expression whose value is compared, too (package backend/probe/internal/expression)
	Expr string `json:"expr,omitempty"`
	// print, display, x, disassemble: format letters of gdb without the slash
	Format string `json:"format,omitempty"`
	// print, members and others: nothing may change; an expression that assigns or calls a function is refused
	Pure bool `json:"pure,omitempty"`
	// members: from the value of the expression to one of its members, by their names
	Path []string `json:"path,omitempty"`
	// list: first line; 0 is around the current one; print, members: the first element or member, from 0
	First int `json:"first,omitempty"`
	// list: last line
	Last int `json:"last,omitempty"`
	// hash: ranges of elements, at most MaxSpans, or MaxValues single elements;
	// empty is all
	Spans []Span `json:"spans,omitempty"`
	// any command: number of distinct values that a column keeps; 0 is column.DefaultLimit,
	// -1 all
	Limit int `json:"limit,omitempty"`
	// any command: milliseconds in which gdb may answer, for a front end that takes
	// answers after the wait of the call; 0 is that wait
	Patience int `json:"patience,omitempty"`
	// diff: numbers are equal if they differ by at most this value, or, if their
	// magnitude is above 1, by this value times the greater magnitude
	Tolerance float64 `json:"tolerance,omitempty"`

	// Places in the program.

	// break, until, list: FILE:LINE, FUNCTION, *ADDRESS, LINE; attach: also entry and none
	Location string `json:"location,omitempty"`
	// dump memory: an expression, the end (exclusive); list: the last line
	To string `json:"to,omitempty"`
	// group: the name; frame: a function
	Name string `json:"name,omitempty"`
	// dump memory, frame: an expression
	From string `json:"from,omitempty"`

	// Breakpoints and displays.

	// delete, enable, disable, info breakpoints: empty is all; condition, ignore:
	// one; commands: empty is the last one
	Breakpoints []int `json:"breakpoints,omitempty"`
	// enable, disable: single locations of breakpoints with several; in addition
	// to Breakpoints or alone
	Places []Site `json:"places,omitempty"`
	// undisplay; empty is all
	Displays []int `json:"displays,omitempty"`
	// break
	Condition string `json:"condition,omitempty"`
	// break, catch
	Temporary bool `json:"temporary,omitempty"`
	// break
	Hardware bool `json:"hardware,omitempty"`
	// break: the library of the location may be loaded later
	Pending bool `json:"pending,omitempty"`
	// watch: "write" (default), "read" or "access" (both)
	Access string `json:"access,omitempty"`
	// catch: "throw", "syscall write", ...
	Event string `json:"event,omitempty"`
	// log, values
	Exprs []string `json:"exprs,omitempty"`
	// assert at: the rank stops where the expression is false
	Stop bool `json:"stop,omitempty"`
	// enable: what happens to the breakpoint when it is reached: "disable" (after
	// Count times), "delete"; "" is nothing
	Then string `json:"then,omitempty"`
	// commands: lines for gdb, except silent, print and continue, and those from
	// FrontEndLine on
	Lines []string `json:"lines,omitempty"`

	// How often, how far.

	// next, step, continue (ignore count), enable, up, down, backtrace (limit;
	// negative: the outermost frames), list (lines); 0 is 1, 10, or no limit;
	// members: how many at most, 0 is DefaultMembers, negative none
	Count int `json:"count,omitempty"`

	// Stacks and threads.

	// stacks: "function", "line" (default) or "address"
	By string `json:"by,omitempty"`
	// stacks: number of samples taken over time; 0 is one sample of stopped ranks
	Samples int `json:"samples,omitempty"`
	// stacks: the time between samples, in the syntax of Go durations; "" is 1s
	Every string `json:"every,omitempty"`
	// stacks: also helper threads of MPI and other runtimes, with all frames
	AllThreads bool `json:"all_threads,omitempty"`
	// stacks: also of the processes that the ranks have started
	Children bool `json:"children,omitempty"`
	// stacks: also why the arguments of calls of MPI are as shown
	Explain bool `json:"explain,omitempty"`
	// stacks, with the probe only: also what has changed since the last stacks with this, in the
	// column "progress"; see Progress
	Progress bool `json:"progress,omitempty"`
	// backtrace: with locals
	Full bool `json:"full,omitempty"`
	// thread apply: "all", or numbers and ranges, "1,3-4"
	Threads string `json:"threads,omitempty"`
	// thread apply: the command
	Apply string `json:"apply,omitempty"`

	// Signals.

	// signal, handle, info signals: "SIGUSR1", a number; signal: "0" is none
	Signal string `json:"signal,omitempty"`
	// handle: "nostop", "noprint", "pass", ...
	Actions []string `json:"actions,omitempty"`

	// Gdb, files and standard input.

	// gdb, mi: the command line, unchanged
	Text string `json:"text,omitempty"`
	// dump memory: a path on the host of the rank; %r is the number of the rank
	File string `json:"file,omitempty"`
	// send: bytes for standard input
	Data []byte `json:"data,omitempty"`
	// send: end of file after the data
	EOF bool `json:"eof,omitempty"`

	// Earlier answers, and sets of ranks.

	// expand: the request whose answers are to be shown in full
	Of RequestID `json:"of,omitempty"`
	// expand, set by the master: split the results by whether the value has this
	// column.Hash
	Hash uint32 `json:"hash,omitempty"`
	// group, focus: the text of a rank set
	Set string `json:"set,omitempty"`

	// Jobs.

	// launch
	Job *Job `json:"job,omitempty"`
	// attach
	Pids []Pid `json:"pids,omitempty"`
	// attach: the name that the starter has given the job, instead of Pids
	JobID string `json:"jobid,omitempty"`
	// attach: the session has started the job, so its ranks are killed if the master is lost, as they
	// are after launch
	Own bool `json:"own,omitempty"`
	// launch, attach: time limit for gdbs to take control of the ranks, in the
	// syntax of Go durations; "" leaves it to the servers
	Within string `json:"within,omitempty"`
	// core
	Cores []Core `json:"cores,omitempty"`
	// stage
	Piece *Piece `json:"piece,omitempty"`
	// run: replace the arguments with which the ranks were started
	Arguments []string `json:"arguments,omitempty"`

	// Set by the master: numbers of new breakpoints and displays, what it asks for itself.

	// break: the number, assigned by the master
	Breakpoint int `json:"breakpoint,omitempty"`
	// display: the number, assigned by the master
	Display int `json:"display,omitempty"`
	// rbreak, set by the master: the functions that the ranks have found;
	// Breakpoint is the number of the first
	Functions []string `json:"functions,omitempty"`
	// print, set by the master for stat and diff: only the value of a reference
	Compare bool `json:"compare,omitempty"`
	// print, set by the master for stat: the statistics of an array of numbers
	Stat bool `json:"stat,omitempty"`
	// launch, attach, run, set by the master: commands for the ranks before they
	// run
	Before []Given `json:"before,omitempty"`
	// launch, attach, run, core, set by the master: the number of ranks of the job
	Size int `json:"size,omitempty"`
}

// Pid is the process of a rank, for attach.
type Pid struct {
	Rank rank.ID `json:"rank"`
	PID  int     `json:"pid"`
	// Task is the name of the executable of a task of Slurm's srun, whose process ids may be from
	// another namespace; "": PID is as this host sees it.
	Task string `json:"task,omitempty"`
}

// Site is one location of a breakpoint with several, "1.2" for users.
type Site struct {
	Breakpoint int `json:"breakpoint"`
	Number     int `json:"number"` // from 1, in the order of BreakpointInfo.Places
}

// String returns "1.2".
func (p Site) String() string {
	return strconv.Itoa(p.Breakpoint) + "." + strconv.Itoa(p.Number)
}

// PerBreakpoint splits the arguments of a command that changes breakpoints into one copy
// for each breakpoint or location that they name. Arguments that name none, and so
// apply to all breakpoints, are returned unchanged.
func (a Args) PerBreakpoint() []Args {
	var each []Args
	for _, n := range a.Breakpoints {
		one := a
		one.Breakpoints, one.Places = []int{n}, nil
		each = append(each, one)
	}
	for _, p := range a.Places {
		one := a
		one.Breakpoints, one.Places = nil, []Site{p}
		each = append(each, one)
	}
	if each == nil {
		return []Args{a}
	}
	return each
}

// ChangesOnly reports whether the arguments name exactly this breakpoint, or one
// location of it, as those returned by PerBreakpoint do.
func (a Args) ChangesOnly(breakpoint int) bool {
	switch {
	case len(a.Breakpoints) == 1 && len(a.Places) == 0:
		return a.Breakpoints[0] == breakpoint
	case len(a.Breakpoints) == 0 && len(a.Places) == 1:
		return a.Places[0].Breakpoint == breakpoint
	}
	return false
}

// Given is a command for ranks that have not started yet.
type Given struct {
	Ranks   rank.Set `json:"ranks"`
	Command Command  `json:"given"`
}

// Core is the core file of a rank, for core. Paths are on the host of the rank.
type Core struct {
	Rank    rank.ID `json:"rank"`
	File    string  `json:"file"`
	Program string  `json:"program"` // that dumped it
}

// Piece is a part of an archive that is copied to the nodes, for stage. All fields
// but At and Data are equal in all pieces of one archive.
type Piece struct {
	Dir      string `json:"dir"`      // where each node unpacks it
	Hash     string `json:"hash"`     // SHA-256 of the archive, in hexadecimal
	Packed   int64  `json:"packed"`   // bytes of the archive
	Unpacked int64  `json:"unpacked"` // disk space of its files in bytes
	At       int64  `json:"at"`       // offset of this piece in bytes
	Data     []byte `json:"data"`
}

// MaxPiece bounds the data of a Piece, in bytes: small enough not to delay the
// answers of other commands, large enough that the latency of the tree does not
// matter.
const MaxPiece = 1 << 20

// MaxText bounds each string of a command, in bytes: gdb takes minutes to parse a
// longer expression, and such an expression is a mistake.
const MaxText = 1 << 20

// MaxFunctions bounds the breakpoints that one rbreak sets.
const MaxFunctions = 200

// TooManyFunctions is the fault for an rbreak that matches more functions than any
// user needs.
func TooManyFunctions(regex string) *Fault {
	return &Fault{
		Kind: FaultUsage, Message: "more than " + strconv.Itoa(MaxFunctions) + " functions fit " + strconv.Quote(regex) + ": none gets a breakpoint",
		Hint: "say more of the name, as in rbreak ^solve_, or the file, as in rbreak solve.c:REGEX",
	}
}
