// Bodies of answers and events.

package protocol

import (
	"slices"
	"strconv"
	"strings"
)

// Frame is one level of a stack. Values that differ between ranks (values of
// arguments, addresses) are in columns: "args.NAME" for a stop, "N.args.NAME" and
// "N.addr" for level N of a backtrace.
type Frame struct {
	Level int      `json:"level"`
	Func  string   `json:"func,omitempty"`
	Args  []string `json:"args,omitempty"` // names only, in order
	File  string   `json:"file,omitempty"` // as given to the compiler
	Full  string   `json:"fullname,omitempty"`
	Line  int      `json:"line,omitempty"`
	From  string   `json:"from,omitempty"` // shared library, if there is no line information
}

// IsFunction reports whether a frame is in the function with a name, which may
// include the arguments, or lack them, or lack template arguments, too. An MPI
// function has two names, MPI_Recv and PMPI_Recv (MPI standard, Profiling
// Interface); gdb shows the second if a library has no debug information, and users
// type the first.
func IsFunction(frame, name string) bool {
	bare, _, _ := strings.Cut(frame, "(")
	plain, _, _ := strings.Cut(bare, "<")
	return frame == name || bare == name || plain == name || strings.HasPrefix(name, "MPI_") && bare == "P"+name
}

// WatchpointScope is GDB's reason for a stop at which it deletes a watchpoint: the
// program has left the block of the watched expression.
const WatchpointScope = "watchpoint-scope"

// Stop is the body of KindStopped: why a rank stopped and where. Reasons are GDB's (GDB manual,
// GDB/MI Async Records), plus "attached", "entry", "interrupted" and "core" (a core file was
// dumped). Columns: "args.NAME" of the frame, "thread", and "others": how many more threads of the
// rank stopped for the same reason in the same place.
type Stop struct {
	Reason     string `json:"reason"`
	Breakpoint int    `json:"breakpoint,omitempty"` // sdm's number, the same on all ranks
	// Triggered are further watchpoints that have triggered; their values are in
	// columns "triggered.0.old", "triggered.0.new", ….
	Triggered []Trigger `json:"triggered,omitempty"`
	// Software: the watchpoint uses no debug register; gdb compares the value after
	// each instruction.
	Software  bool   `json:"software,omitempty"`
	Temporary bool   `json:"temporary,omitempty"`
	Signal    string `json:"signal,omitempty"`
	Meaning   string `json:"meaning,omitempty"` // of the signal
	Frame     *Frame `json:"frame,omitempty"`
	// Within is the function without source in which an attached rank has stopped.
	// Frame is then its innermost caller with source and the selected frame; its
	// level is in column "level". If there is a Caller, it is Caller that has
	// called the function.
	Within string `json:"within,omitempty"`
	// Caller is the innermost frame with source of a rank that has received a
	// signal, or was interrupted, in a library without source (Frame). It has no
	// level and no arguments.
	Caller *Frame `json:"caller,omitempty"`
	// Others are other reasons for which further threads of the rank stopped at the
	// same time, sorted, without duplicates.
	Others []string `json:"others,omitempty"`
	// Returned: a finish has returned a value, which is in column "value".
	Returned bool `json:"returned,omitempty"`
	// Detail describes the event of a catchpoint: "call to syscall write".
	Detail string `json:"detail,omitempty"`
	// Commands are the lines of the breakpoint that have written output, which is
	// in columns "output.0", ... One that begins with AssertLine is an assertion, and its output the outcome.
	Commands []string `json:"commands,omitempty"`
	// Silent: the lines of the breakpoint begin with silent, so neither the place
	// nor displays are shown.
	Silent bool `json:"silent,omitempty"`
	// Then are the lines of the breakpoint that the front end executes for the
	// stopped ranks (FrontEndLine).
	Then []string `json:"then,omitempty"`
	// Displays are the displayed expressions that have a value here; the values are
	// in columns "display.NUMBER".
	Displays []Display `json:"displays,omitempty"`
	// Source is the source line where the rank stopped, without a newline, if the
	// server could read the file.
	Source string `json:"source,omitempty"`
}

// Trigger is a watchpoint that has triggered in addition to the one of a stop.
type Trigger struct {
	Reason     string `json:"reason"`
	Breakpoint int    `json:"breakpoint"`
	Software   bool   `json:"software,omitempty"` // see Stop
}

// IntoAbort is the note, made by the master, about ranks that are resumed where they call
// MPI_Abort.
const IntoAbort = "enters MPI_Abort: the starter ends the job"

// Logged is the body of KindLogged: a rank has passed a log, or a breakpoint whose
// commands resume it. The values of Exprs are in columns "value.0", …, the output
// of Commands in "output.0", ….
type Logged struct {
	Breakpoint int      `json:"breakpoint"`
	Frame      *Frame   `json:"frame,omitempty"` // without arguments
	Exprs      []string `json:"exprs,omitempty"`
	Commands   []string `json:"commands,omitempty"`
	Silent     bool     `json:"silent,omitempty"` // the place is not shown
}

// Display is an expression that is shown at each stop.
type Display struct {
	Number int    `json:"number"` // assigned by sdm, the same on all ranks
	Expr   string `json:"expr"`
	Format string `json:"format,omitempty"` // gdb's letters
	// Assert: it is an assertion; its column has the outcome, Holds, Fails, or why there is none.
	Assert bool `json:"assert,omitempty"`
	// Outside, in the answer to info display: the selected frame is not in the
	// block of the variables.
	Outside bool `json:"outside,omitempty"`
}

// Exit is the body of KindExited and KindSignalled.
type Exit struct {
	Code    int    `json:"code"`             // 0 to 255; 0 when ended by a signal
	Signal  string `json:"signal,omitempty"` // "SIGSEGV"
	Meaning string `json:"meaning,omitempty"`
	// Unknown: the process has ended, and only its parent knows how. Code and Signal
	// mean nothing.
	Unknown bool `json:"unknown,omitempty"`
}

// Started is the body of KindStarted. The process ID is in column "pid", the host
// in column "host", so that ranks of many hosts can be one group.
type Started struct {
	Program string `json:"program"`
	// Attached: the rank was not started by sdm, so at the end it is detached and
	// not killed.
	Attached bool `json:"attached,omitempty"`
	// Core: there is no process, only a core file, whose path is in column "core"
	// instead of "pid".
	Core bool `json:"core,omitempty"`
}

// HostInfo is a row of "info hosts": hosts whose servers and ranks are alike. A
// server sets Engine and Program; the process IDs of its ranks are in column "pid".
// The master sets the other fields.
type HostInfo struct {
	Hosts   []string `json:"hosts,omitempty"`
	Servers string   `json:"servers,omitempty"` // their numbers, as a set; "" if none has registered
	Engine  string   `json:"engine,omitempty"`  // "gdb 13.1"
	Program string   `json:"program,omitempty"`
	// States are the states of the ranks, with the number of ranks in each.
	States []StateCount `json:"states,omitempty"`
}

// StateCount is the number of ranks in a state.
type StateCount struct {
	State string `json:"state"`
	N     int    `json:"n"`
}

// Note is the body of KindNote: a message to the user that belongs to no command.
type Note struct {
	Text string `json:"text"`
}

// Members is the result of members: a value, and some of what it consists of. Column "value" is the value itself;
// columns "value.NAME" are as in List.
type Members struct {
	Expr string   `json:"expr"`
	Path []string `json:"path,omitempty"`
	Type string   `json:"type"`
	// Count is how many members there are: of an array or a structure; SomeMembers: gdb does not know it.
	Count int      `json:"count"`
	First int      `json:"first"`          // the place of the first of List, from 0
	More  bool     `json:"more,omitempty"` // there are more after List
	List  []Member `json:"members"`
}

// Member is a member of a structure, a base class, or an element of an array or of what a pretty-printer shows.
type Member struct {
	Name string `json:"name"` // for the path: "x", "[3]", "(:,3)", the name of a base class
	Type string `json:"type"`
	// Count is how many elements an array has; SomeMembers: it has members; 0: it has none.
	Count int `json:"count,omitempty"`
	// Expr is an expression for it; "": there is none.
	Expr   string `json:"expr,omitempty"`
	Base   bool   `json:"base,omitempty"`   // it is a base class
	Access string `json:"access,omitempty"` // "private" or "protected"
}

// NotPure is the fault of an expression that may change something, where nothing may change.
func NotPure(expr string) *Fault {
	return &Fault{
		Kind: FaultUsage, Message: Clip(expr) + " assigns or calls a function, and this call may change nothing",
		Hint: "print and call evaluate it",
	}
}

// NoSuchPage is the fault of members with a page that is not possible.
func NoSuchPage() *Fault {
	return &Fault{Kind: FaultUsage, Message: "first is from 0 on, and count at most " + strconv.Itoa(MaxMembers)}
}

// SomeMembers is the number of members where only gdb could count them, by listing all.
const SomeMembers = -1

const (
	// DefaultMembers is how many members are listed unless a call says otherwise.
	DefaultMembers = 100
	// MaxMembers bounds what a call may ask for.
	MaxMembers = 1000
)

// Columns of stacks that are read without a debugger. They have values for ranks
// with interpreters of Python only.
const (
	// PythonLock is where the thread stands that holds the lock of its interpreter
	// (GIL): "Solver.exchange x.py:10". Those of several interpreters are joined
	// by "; ".
	PythonLock = "python.lock"
	// PythonUnknown is a sentence that says why there are native frames only.
	PythonUnknown = "python.unknown"
)

// Columns of one of several samples that are read without a debugger.
const (
	// ThreadStates is the number of threads in each state, as the kernel tells it:
	// "1 running, 3 sleeping". More are "in uninterruptible sleep", "stopped", "traced",
	// "idle".
	ThreadStates = "threads"
	// CPUPercent is the processor time of all threads since the first sample, in
	// percent of the time that has passed. It has no values in the first sample.
	CPUPercent = "cpu.percent"
)

// Progress is the column of stacks with progress: what has changed in a rank since the last such stacks,
// as words with commas between them: "stack,io". Without changes it is ProgressNone.
const Progress = "progress"

// Words of the column Progress.
const (
	ProgressFirst    = "first"    // it is the first time, so nothing can be compared
	ProgressNone     = "none"     // nothing has changed
	ProgressUnheld   = "unheld"   // another sampler held the rank, or it did not stop in time: stacks were not compared
	ProgressMessages = "messages" // MPI has counted messages
	// ProgressStack: a thread is in a state in which it was in none of the last samples: registers and
	// stack of the program's functions. Registers of a call of MPI do not count, since it may spin.
	ProgressStack    = "stack"
	ProgressIO       = "io"       // bytes were read or written
	ProgressChildren = "children" // processes that it has started have used processor time
	ProgressValue    = "value"    // the user's expression has another value
	ProgressNoValue  = "novalue"  // the expression has no value in the rank; see ProgressTrouble
)

// MPIVersion is a column of stacks that are read without a debugger: what the library of MPI of a rank says of itself,
// "Open MPI 4.1.4".
const MPIVersion = "mpi.version"

// ProgressTrouble is a column of stacks with progress and an expression: why the expression has no value in a rank, as
// a sentence for the user; "": it has one.
const ProgressTrouble = "progress.trouble"

// Loading is the body of KindLoading: a command of the user needs symbols, and
// reading them takes long; with Done, it has ended.
type Loading struct {
	Done bool `json:"done"`
}

// JobState is the body of KindJob.
type JobState struct {
	// State is "starting", "queued", "allocated", "held" (all ranks are held),
	// "running", "ended", "cancelled", or "event" (of a PMIx server; Text says which).
	State string `json:"state"`
	Job   string `json:"job,omitempty"`  // the resource manager's name for it
	Text  string `json:"text,omitempty"` // details for the user: why it waits
	// Status is the exit status, with "ended": the highest of the ranks, or the
	// starter's if Text says that the starter has ended.
	Status *int `json:"status,omitempty"`
}

// BreakpointInfo is one row of `info breakpoints`, and the result of `break`.
// Column "hits" has the number of hits of each rank.
type BreakpointInfo struct {
	Number    int      `json:"number"` // assigned by sdm, the same on all ranks
	Type      string   `json:"type"`   // "breakpoint", "hw breakpoint", "hw watchpoint", ...
	Temporary bool     `json:"temporary,omitempty"`
	Enabled   bool     `json:"enabled"`
	Pending   bool     `json:"pending,omitempty"`
	Location  string   `json:"location"` // as the user gave it
	Func      string   `json:"func,omitempty"`
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line,omitempty"`
	Places    []string `json:"places,omitempty"`   // locations, if there are several
	Disabled  []int    `json:"disabled,omitempty"` // disabled Places, from 1
	Condition string   `json:"condition,omitempty"`
	Left      int      `json:"left,omitempty"`     // remaining hits until it is disabled; 0: no limit
	Ignore    int      `json:"ignore,omitempty"`   // remaining hits to ignore
	Exprs     []string `json:"exprs,omitempty"`    // of a log; of an assertion the expression
	Stop      bool     `json:"stop,omitempty"`     // of an assertion: the rank stops where it fails
	Commands  []string `json:"commands,omitempty"` // executed when it is reached
	// Again is the location for setting the breakpoint when the program is started
	// again, if Location depends on where the rank has stopped.
	Again string `json:"again,omitempty"`
}

// Lists reports whether info breakpoints or info watchpoints with these arguments
// includes a breakpoint.
func (a Args) Lists(command string, b BreakpointInfo) bool {
	if command == "info watchpoints" && !strings.Contains(b.Type, "watchpoint") {
		return false
	}
	return len(a.Breakpoints) == 0 || slices.Contains(a.Breakpoints, b.Number)
}

// SignalInfo is the handling of one signal: a row of `info signals`.
type SignalInfo struct {
	Signal  string `json:"signal"`
	Stop    bool   `json:"stop"`
	Print   bool   `json:"print"`
	Pass    bool   `json:"pass"`
	Meaning string `json:"meaning,omitempty"`
}
