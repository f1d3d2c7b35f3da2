package protocol

import (
	"slices"
	"strings"
)

// Frame is one level of a stack. What differs between ranks (values of
// arguments, addresses) is not here but in columns: "args.NAME" for a stop,
// "N.args.NAME" and "N.addr" for level N of a backtrace.
type Frame struct {
	Level int      `json:"level"`
	Func  string   `json:"func,omitempty"`
	Args  []string `json:"args,omitempty"` // names only, in order
	File  string   `json:"file,omitempty"` // as the compiler was given it
	Full  string   `json:"fullname,omitempty"`
	Line  int      `json:"line,omitempty"`
	From  string   `json:"from,omitempty"` // shared library without line information
}

// IsFunction tells whether a frame's function has a name, with its arguments or,
// as C++ has them, without, and without those of a template. An MPI function has two names, MPI_Recv and PMPI_Recv
// (MPI standard, Profiling Interface); gdb shows the second where a library has no
// debug information, and people type the first.
func IsFunction(frame, name string) bool {
	bare, _, _ := strings.Cut(frame, "(")
	plain, _, _ := strings.Cut(bare, "<")
	return frame == name || bare == name || plain == name || strings.HasPrefix(name, "MPI_") && bare == "P"+name
}

// WatchpointScope is GDB's reason for a stop at which it deletes a watchpoint: the program has left the block of what was
// watched.
const WatchpointScope = "watchpoint-scope"

// Stop is the body of KindStopped: why a rank stopped and where. Reasons are
// GDB's words (GDB manual, GDB/MI Async Records), plus "attached", "entry",
// "interrupted" and "core" (the end that left a core file). Columns: "args.NAME" of the frame, "thread", and "others": how many
// more threads of the rank stopped on their own for the same in the same place.
type Stop struct {
	Reason     string `json:"reason"`
	Breakpoint int    `json:"breakpoint,omitempty"` // our number, the same on all ranks
	// Triggered are watchpoints that have triggered as well; their values are in columns "triggered.0.old", "triggered.0.new", ….
	Triggered []Trigger `json:"triggered,omitempty"`
	Temporary bool      `json:"temporary,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	Meaning   string    `json:"meaning,omitempty"` // of the signal
	Frame     *Frame    `json:"frame,omitempty"`
	// Within is the function without source in which a rank stands that has been attached to: Frame has called it, which is then the
	// innermost frame that has source, and the selected one; its level is in column "level". Where there is a Caller, that has called it.
	Within string `json:"within,omitempty"`
	// Caller is the innermost frame with source of a rank that has got a signal, or was interrupted, in a library which has none (Frame); without level and arguments.
	Caller *Frame `json:"caller,omitempty"`
	// Others are other reasons for which further threads of the rank stopped on
	// their own at the same time, sorted, each once.
	Others []string `json:"others,omitempty"`
	// Returned tells that a finish gave a value, which is in column "value".
	Returned bool `json:"returned,omitempty"`
	// Detail is what happened at a catchpoint: "call to syscall write".
	Detail string `json:"detail,omitempty"`
	// Commands are the lines of the breakpoint that had something to say, in columns
	// "output.0", ...
	Commands []string `json:"commands,omitempty"`
	// Then are the lines of the breakpoint that the front end is to carry out for the
	// ranks that have stopped (FrontEndLine).
	Then []string `json:"then,omitempty"`
	// Displays are the displayed expressions that have a value here; the values
	// are in columns "display.NUMBER".
	Displays []Display `json:"displays,omitempty"`
	// Source is the text of the line where the rank stopped, without a newline,
	// where the server could read the file.
	Source string `json:"source,omitempty"`
}

// Trigger is a watchpoint that has triggered beside what a stop is told for.
type Trigger struct {
	Reason     string `json:"reason"`
	Breakpoint int    `json:"breakpoint"`
}

// IntoAbort is the note of a rank that is let go on where it calls MPI_Abort.
const IntoAbort = "goes on into MPI_Abort: the starter ends the job"

// Logged is the body of KindLogged: a rank has passed a log, or a breakpoint
// whose commands let it go on. The values of Exprs are in columns "value.0", …,
// what Commands said in "output.0", ….
type Logged struct {
	Breakpoint int      `json:"breakpoint"`
	Frame      *Frame   `json:"frame,omitempty"` // without arguments
	Exprs      []string `json:"exprs,omitempty"`
	Commands   []string `json:"commands,omitempty"`
	Silent     bool     `json:"silent,omitempty"` // the place is of no interest
}

// Display is an expression that is shown at every stop.
type Display struct {
	Number int    `json:"number"` // ours, the same on all ranks
	Expr   string `json:"expr"`
	Format string `json:"format,omitempty"` // gdb's letters
	// Outside tells, in the answer to info display, that the selected frame is not in the block of its variables.
	Outside bool `json:"outside,omitempty"`
}

// Exit is the body of KindExited and KindSignalled.
type Exit struct {
	Code    int    `json:"code"`             // 0 to 255; 0 when ended by a signal
	Signal  string `json:"signal,omitempty"` // "SIGSEGV"
	Meaning string `json:"meaning,omitempty"`
}

// Started is the body of KindStarted. The process id is in column "pid", the host in
// column "host", so that the ranks of many hosts are one group.
type Started struct {
	Program string `json:"program"`
	// Attached tells that the rank was running before us: at the end we detach
	// from it and do not kill it.
	Attached bool `json:"attached,omitempty"`
	// Core tells that there is no process, only a core file, whose path is in column
	// "core" in place of "pid".
	Core bool `json:"core,omitempty"`
}

// HostInfo is a row of "info hosts": hosts whose servers and ranks are alike. A
// server fills in Engine and Program; which processes its ranks are stands in
// column "pid". The master knows the rest.
type HostInfo struct {
	Hosts   []string `json:"hosts,omitempty"`
	Servers string   `json:"servers,omitempty"` // their numbers, as a set; none where none has come
	Engine  string   `json:"engine,omitempty"`  // "gdb 13.1"
	Program string   `json:"program,omitempty"`
	// States are what the ranks are doing, with how many there are of each.
	States []StateCount `json:"states,omitempty"`
}

// StateCount is how many ranks are in a state.
type StateCount struct {
	State string `json:"state"`
	N     int    `json:"n"`
}

// Note is the body of KindNote: words to the person that belong to no command.
type Note struct {
	Text string `json:"text"`
}

// Loading is the body of KindLoading: a command of a person needs symbols that take long to
// read, or, with Done, they have been.
type Loading struct {
	Done bool `json:"done"`
}

// JobState is the body of KindJob.
type JobState struct {
	// State is "starting", "queued", "allocated", "held" (all ranks stand), "running",
	// "ended" or "cancelled".
	State string `json:"state"`
	Job   string `json:"job,omitempty"`  // the resource manager's name for it
	Text  string `json:"text,omitempty"` // more, for people: why it waits
	// Status is the exit status, with "ended": the highest of the ranks, or the
	// starter's, when Text says that it has ended.
	Status *int `json:"status,omitempty"`
}

// BreakpointInfo is one row of `info breakpoints`, and the result of `break`.
// Column "hits" counts, per rank, how often it was reached.
type BreakpointInfo struct {
	Number    int      `json:"number"` // ours, the same on all ranks
	Type      string   `json:"type"`   // "breakpoint", "hw breakpoint", "hw watchpoint", ...
	Temporary bool     `json:"temporary,omitempty"`
	Enabled   bool     `json:"enabled"`
	Pending   bool     `json:"pending,omitempty"`
	Location  string   `json:"location"` // as the person gave it
	Func      string   `json:"func,omitempty"`
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line,omitempty"`
	Places    []string `json:"places,omitempty"`   // of a breakpoint with several locations
	Disabled  []int    `json:"disabled,omitempty"` // which of Places are, from 1
	Condition string   `json:"condition,omitempty"`
	Left      int      `json:"left,omitempty"`     // hits after which it is disabled; 0: it is not
	Ignore    int      `json:"ignore,omitempty"`   // hits that are still passed
	Exprs     []string `json:"exprs,omitempty"`    // of a log
	Commands  []string `json:"commands,omitempty"` // carried out when it is reached
	// Again is the location at which it is set when the program starts again, where Location hangs on where the rank stood.
	Again string `json:"again,omitempty"`
}

// Lists tells whether info breakpoints or info watchpoints with these arguments is about a breakpoint.
func (a Args) Lists(command string, b BreakpointInfo) bool {
	if command == "info watchpoints" && !strings.Contains(b.Type, "watchpoint") {
		return false
	}
	return len(a.Breakpoints) == 0 || slices.Contains(a.Breakpoints, b.Number)
}

// SignalInfo is what one signal does: a row of `info signals`.
type SignalInfo struct {
	Signal  string `json:"signal"`
	Stop    bool   `json:"stop"`
	Print   bool   `json:"print"`
	Pass    bool   `json:"pass"`
	Meaning string `json:"meaning,omitempty"`
}
