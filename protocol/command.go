package protocol

import (
	"strconv"

	"sdm/protocol/rank"
)

// Command is the body of a wire Command message: what the ranks of the request
// are asked to do. Ranks, wait and id stand in the envelope.
type Command struct {
	Name string `json:"command"`
	Args Args   `json:"args"`
}

// Args are the arguments of all commands in one flat struct; the table
// Commands says which of them a command reads. One struct keeps the JSON form,
// the JSON-RPC params and the Go call the same thing. The zero value of a field
// is "not given".
type Args struct {
	Expr        string    `json:"expr,omitempty"`        // print and what else evaluates; names for info registers
	Location    string    `json:"location,omitempty"`    // break, until, list: FILE:LINE, FUNCTION, *ADDRESS, LINE
	Condition   string    `json:"condition,omitempty"`   // break
	Temporary   bool      `json:"temporary,omitempty"`   // break, catch
	Hardware    bool      `json:"hardware,omitempty"`    // break
	Pending     bool      `json:"pending,omitempty"`     // break: may wait for a library that is not loaded yet
	Access      string    `json:"access,omitempty"`      // watch: "write" (default), "read" or "access" (both)
	Event       string    `json:"event,omitempty"`       // catch: "throw", "syscall write", ...
	Threads     string    `json:"threads,omitempty"`     // thread apply: "all", or numbers and ranges, "1,3-4"
	Apply       string    `json:"apply,omitempty"`       // thread apply: the command
	File        string    `json:"file,omitempty"`        // dump memory: a path on the host of the rank; %r is its number
	From        string    `json:"from,omitempty"`        // dump memory, frame: an expression
	To          string    `json:"to,omitempty"`          // dump memory: an expression, behind the last byte; list: the last line
	Compare     bool      `json:"compare,omitempty"`     // print, from the master for stat and diff: of a reference the value alone
	Tolerance   float64   `json:"tolerance,omitempty"`   // diff: numbers are the same that differ by at most this, times the greater magnitude where that is above 1
	Stat        bool      `json:"stat,omitempty"`        // print, from the master for stat: of an array of numbers its statistics
	Exprs       []string  `json:"exprs,omitempty"`       // log
	Functions   []string  `json:"functions,omitempty"`   // rbreak, from the master: what the ranks have found; Breakpoint is the number of the first
	Lines       []string  `json:"lines,omitempty"`       // commands: lines for gdb, but for silent, print and continue, and those of FrontEndLine
	Breakpoint  int       `json:"breakpoint,omitempty"`  // break: the number, chosen by the master
	Breakpoints []int     `json:"breakpoints,omitempty"` // delete, enable, disable, info breakpoints; empty is all; condition, ignore: one; of commands empty is the last
	Places      []Site    `json:"places,omitempty"`      // enable, disable: of breakpoints that have several, beside or in place of breakpoints
	Then        string    `json:"then,omitempty"`        // enable: what becomes of it when it is reached: "disable" (after count times), "delete"; "" is nothing
	Count       int       `json:"count,omitempty"`       // next, step, continue (ignore), enable, up, down, backtrace (limit; below 0 the outermost), list (lines); 0 is 1, 10, or no limit
	Frame       *int      `json:"frame,omitempty"`       // frame; a level
	Thread      int       `json:"thread,omitempty"`      // any inspecting command; 0 is the current one
	By          string    `json:"by,omitempty"`          // stacks: "function", "line" (default) or "address"
	Samples     int       `json:"samples,omitempty"`     // stacks: how many, in time; 0 is one of stopped ranks as they stand
	Every       string    `json:"every,omitempty"`       // stacks: the time between samples, as Go writes durations; "" is 1s
	AllThreads  bool      `json:"all_threads,omitempty"` // stacks: helper threads of MPI and other runtimes as well, frame by frame
	Full        bool      `json:"full,omitempty"`        // backtrace: with locals
	Text        string    `json:"text,omitempty"`        // gdb, mi: the command line as it is
	Data        []byte    `json:"data,omitempty"`        // send: bytes for standard input
	EOF         bool      `json:"eof,omitempty"`         // send: then end of file
	Of          RequestID `json:"of,omitempty"`          // expand: the request whose answers are wanted in full
	Hash        uint32    `json:"hash,omitempty"`        // expand, from the master: part the results by whose value has this Hash (column.Hash)
	Spans       []Span    `json:"spans,omitempty"`       // hash: runs of elements, MostSpans at most, or MostValues single ones; empty is all
	Limit       int       `json:"limit,omitempty"`       // distinct values a column may keep; 0 is column.DefaultLimit, -1 all
	First       int       `json:"first,omitempty"`       // list: first line; 0 is around the current one
	Last        int       `json:"last,omitempty"`        // list: last line
	Name        string    `json:"name,omitempty"`        // group: the name; frame: of a function
	Set         string    `json:"set,omitempty"`         // group, focus: the text of a rank set
	Job         *Job      `json:"job,omitempty"`         // launch
	Pids        []Pid     `json:"pids,omitempty"`        // attach
	Within      string    `json:"within,omitempty"`      // launch, attach: how long gdbs may take until they control the ranks, as Go writes durations; "" leaves it to the servers
	Own         bool      `json:"own,omitempty"`         // attach: the session has started the job: where the master is lost, the ranks end as started ones do
	JobID       string    `json:"jobid,omitempty"`       // attach: in place of pids, the starter's name of the job
	Cores       []Core    `json:"cores,omitempty"`       // core
	Piece       *Piece    `json:"piece,omitempty"`       // stage
	Arguments   []string  `json:"arguments,omitempty"`   // run: in place of those that the ranks were started with
	Before      []Given   `json:"before,omitempty"`      // launch, attach, run, from the master: what the ranks are told before they run
	Size        int       `json:"size,omitempty"`        // launch, attach, run, core, from the master: how many ranks there are
	Format      string    `json:"format,omitempty"`      // print, display, x, disassemble: gdb's letters without the slash
	Signal      string    `json:"signal,omitempty"`      // signal, handle, info signals: "SIGUSR1", a number; signal: "0" is none
	Actions     []string  `json:"actions,omitempty"`     // handle: "nostop", "noprint", "pass", ...
	Display     int       `json:"display,omitempty"`     // display: the number, chosen by the master
	Displays    []int     `json:"displays,omitempty"`    // undisplay; empty is all
}

// Pid says which process a rank is, for attach.
type Pid struct {
	Rank rank.ID `json:"rank"`
	PID  int     `json:"pid"`
}

// Site is one of the places of a breakpoint, "1.2" for people.
type Site struct {
	Breakpoint int `json:"breakpoint"`
	Number     int `json:"number"` // from 1, in the order of BreakpointInfo.Places
}

// String gives "1.2".
func (p Site) String() string {
	return strconv.Itoa(p.Breakpoint) + "." + strconv.Itoa(p.Number)
}

// Apart gives the arguments of a command that changes breakpoints once for each
// that they name, or for each place; those for all breakpoints stay as they are.
func (a Args) Apart() []Args {
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

// ChangesOnly tells whether they are those of one command for the breakpoint of a number, or for a
// place of it, as Apart gives them.
func (a Args) ChangesOnly(breakpoint int) bool {
	switch {
	case len(a.Breakpoints) == 1 && len(a.Places) == 0:
		return a.Breakpoints[0] == breakpoint
	case len(a.Breakpoints) == 0 && len(a.Places) == 1:
		return a.Places[0].Breakpoint == breakpoint
	}
	return false
}

// Given is a command that was given for ranks before they start.
type Given struct {
	Ranks   rank.Set `json:"ranks"`
	Command Command  `json:"given"`
}

// Core says which core file a rank is, for core. Paths are on the host of the rank.
type Core struct {
	Rank    rank.ID `json:"rank"`
	File    string  `json:"file"`
	Program string  `json:"program"` // that left it
}

// Piece is a part of an archive that is brought to the nodes, for stage. All but At
// and Data is the same in each piece of one archive.
type Piece struct {
	Dir      string `json:"dir"`      // on each node, where it is unpacked
	Hash     string `json:"hash"`     // SHA-256 of the archive, in hexadecimal
	Packed   int64  `json:"packed"`   // bytes of the archive
	Unpacked int64  `json:"unpacked"` // bytes of disk that its files take
	At       int64  `json:"at"`       // bytes before this piece
	Data     []byte `json:"data"`
}

// MaxPiece bounds the data of a Piece, in bytes: small enough to pass between the
// answers of other commands, large enough that a way down the tree and up again is no
// matter.
const MaxPiece = 1 << 20

// MaxText bounds each text of a command, in bytes: gdb reads a longer expression for minutes, and nobody means one.
const MaxText = 1 << 20

// MostFunctions bounds the breakpoints that one rbreak sets.
const MostFunctions = 200

// TooManyFunctions refuses an rbreak that is for more than anybody means.
func TooManyFunctions(regex string) *Fault {
	return &Fault{
		Kind: FaultUsage, Message: "more than " + strconv.Itoa(MostFunctions) + " functions fit " + strconv.Quote(regex) + ": none gets a breakpoint",
		Hint: "say more of the name, as in rbreak ^solve_, or the file, as in rbreak solve.c:REGEX",
	}
}

// Place says who carries out a command.
type Place uint8

const (
	AtTarget Place = iota // the back end of each rank, through the tree
	AtServer              // the server of each rank, through the tree
	AtMaster              // the master, from its own tables
)

// Need is the state that a rank must be in for a command.
type Need uint8

const (
	NeedNothing Need = iota
	NeedStopped      // a running rank answers a FaultState "is running"
	NeedRunning
	NeedAlive // running or stopped
	NeedNew   // not started yet
)

// CommandInfo is one row of the table of commands.
type CommandInfo struct {
	Name    string
	Args    []string // JSON names of the fields of Args that it reads
	Place   Place
	Need    Need
	Resumes bool   // ranks run after it; scripts wait until they have stopped or ended
	Help    string // one line, for help text and documentation
}

// Commands is the table of all commands that cross a session, by name. It is
// never written.
var Commands = []CommandInfo{
	{"launch", []string{"job", "within"}, AtServer, NeedNew, false, "start the program on the ranks, held, then run to stop_at"},
	{"attach", []string{"pids", "own", "jobid", "within"}, AtServer, NeedNew, false, "take control of running processes"},
	{"run", []string{"arguments", "location"}, AtServer, NeedNothing, true, "start the program again on ranks that were launched; with a location they stop there first"},
	{"core", []string{"cores"}, AtServer, NeedNew, false, "open core files, one rank each"},
	{"stage", []string{"piece"}, AtServer, NeedNothing, false, "take a piece of an archive that holds a gdb; with the last one it is unpacked and used from then on"},
	{"break", []string{"location", "condition", "temporary", "hardware", "pending"}, AtTarget, NeedAlive, false, "set a breakpoint"},
	{"watch", []string{"expr", "access", "condition"}, AtTarget, NeedStopped, false, "stop when the value of an expression changes, or is read"},
	{"catch", []string{"event", "condition", "temporary"}, AtTarget, NeedAlive, false, "stop at an event: an exception, a system call, a fork, a library"},
	{"log", []string{"location", "exprs", "condition"}, AtTarget, NeedAlive, false, "tell the values of expressions at a place without stopping"},
	{"barrier", []string{"location", "condition"}, AtTarget, NeedStopped, true, "run to a location and hold there"},
	{"condition", []string{"breakpoints", "condition"}, AtTarget, NeedAlive, false, "change the condition of a breakpoint; without one, it stops always"},
	{"rbreak", []string{"expr", "functions"}, AtTarget, NeedAlive, false, "set a breakpoint at each function whose name fits a regular expression"},
	{"clear", []string{"location"}, AtTarget, NeedAlive, false, "delete the breakpoints at a location"},
	{"ignore", []string{"breakpoints", "count"}, AtTarget, NeedAlive, false, "pass a breakpoint for the next so many times"},
	{"commands", []string{"breakpoints", "lines"}, AtTarget, NeedAlive, false, "say what is carried out when a breakpoint is reached"},
	{"delete", []string{"breakpoints"}, AtTarget, NeedAlive, false, "delete breakpoints (all, if none is named)"},
	{"enable", []string{"breakpoints", "places", "then", "count"}, AtTarget, NeedAlive, false, "enable breakpoints"},
	{"disable", []string{"breakpoints", "places"}, AtTarget, NeedAlive, false, "disable breakpoints"},
	{"info breakpoints", []string{"breakpoints"}, AtTarget, NeedAlive, false, "list breakpoints (all, if none is named)"},
	{"info watchpoints", []string{"breakpoints"}, AtTarget, NeedAlive, false, "list watchpoints (all, if none is named)"},
	{"continue", []string{"count"}, AtTarget, NeedStopped, true, "let the ranks run"},
	{"next", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one line, over calls"},
	{"step", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one line, into calls"},
	{"finish", []string{"thread"}, AtTarget, NeedStopped, true, "run until the current frame returns"},
	{"until", []string{"location", "thread"}, AtTarget, NeedStopped, true, "run until a line beyond the current one, or a location"},
	{"reverse-continue", []string{"thread"}, AtTarget, NeedStopped, true, "run backwards"},
	{"reverse-next", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one line backwards, over calls"},
	{"reverse-step", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one line backwards, into calls"},
	{"reverse-finish", []string{"thread"}, AtTarget, NeedStopped, true, "run backwards to the call of the current function"},
	{"reverse-nexti", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one instruction backwards, over calls"},
	{"reverse-stepi", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one instruction backwards, into calls"},
	{"interrupt", nil, AtTarget, NeedAlive, false, "stop running ranks"},
	{"kill", nil, AtTarget, NeedAlive, false, "kill the ranks"},
	{"detach", nil, AtTarget, NeedAlive, false, "let the ranks go; they run on"},
	{"print", []string{"expr", "format", "first", "last", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "evaluate an expression; first and last: these elements of it"},
	{"stat", []string{"expr", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "statistics of an expression over the ranks"},
	{"diff", []string{"expr", "tolerance", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "evaluate an expression and tell who differs from the majority"},
	{"hash", []string{"expr", "spans", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "give hashes of the blocks of an array; of spans of one element the values"},
	{"backtrace", []string{"count", "full", "thread"}, AtTarget, NeedStopped, false, "show the stack"},
	{"stacks", []string{"by", "samples", "every", "all_threads"}, AtTarget, NeedStopped, false, "show the merged stack tree of all threads"},
	{"frame", []string{"frame", "name", "from", "thread"}, AtTarget, NeedStopped, false, "select and show a frame: a level, the innermost of a function (name), or that at an address (from)"},
	{"up", []string{"count", "thread"}, AtTarget, NeedStopped, false, "select the frame that called this one"},
	{"down", []string{"count", "thread"}, AtTarget, NeedStopped, false, "select the frame that this one called"},
	{"info locals", []string{"limit", "thread", "frame"}, AtTarget, NeedStopped, false, "show local variables"},
	{"info args", []string{"limit", "thread", "frame"}, AtTarget, NeedStopped, false, "show arguments"},
	{"info threads", []string{"threads", "expr"}, AtTarget, NeedStopped, false, "show threads"},
	{"list", []string{"location", "to", "first", "last", "count"}, AtTarget, NeedStopped, false, "show source lines"},
	{"stepi", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one instruction, into calls"},
	{"nexti", []string{"count", "thread"}, AtTarget, NeedStopped, true, "step one instruction, over calls"},
	{"advance", []string{"location", "thread"}, AtTarget, NeedStopped, true, "run until a location, in any frame"},
	{"jump", []string{"location", "thread"}, AtTarget, NeedStopped, true, "go on at a location"},
	{"signal", []string{"signal", "thread"}, AtTarget, NeedStopped, true, "go on with a signal, 0 for none"},
	{"handle", []string{"signal", "actions"}, AtTarget, NeedAlive, false, "say what a signal does"},
	{"info signals", []string{"signal"}, AtTarget, NeedAlive, false, "show what signals do"},
	{"set variable", []string{"expr", "thread", "frame"}, AtTarget, NeedStopped, false, "carry out an assignment, without a word"},
	{"call", []string{"expr", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "evaluate an expression; one without a value answers nothing"},
	{"ptype", []string{"expr", "format", "thread", "frame"}, AtTarget, NeedAlive, false, "show the definition of a type"},
	{"whatis", []string{"expr", "thread", "frame"}, AtTarget, NeedAlive, false, "show the type of an expression"},
	{"display", []string{"expr", "format"}, AtTarget, NeedAlive, false, "evaluate an expression now and at every stop; without one, all of them now"},
	{"undisplay", []string{"displays"}, AtTarget, NeedAlive, false, "end the display of expressions (all, if none is named)"},
	{"info display", nil, AtTarget, NeedAlive, false, "list the displayed expressions"},
	{"x", []string{"expr", "format", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "show memory"},
	{"info registers", []string{"expr", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "show registers (all general ones, if none is named)"},
	{"disassemble", []string{"expr", "format", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "show instructions"},
	{"thread", []string{"thread"}, AtTarget, NeedStopped, false, "select a thread and show where it is"},
	{"thread apply", []string{"threads", "apply"}, AtTarget, NeedStopped, false, "give a command that looks, with its own arguments, to several threads"},
	{"dump memory", []string{"file", "from", "to", "thread", "frame"}, AtTarget, NeedStopped, false, "write memory to a file for each rank, on its host"},
	{"memory read", []string{"expr", "count", "limit", "thread", "frame"}, AtTarget, NeedStopped, false, "give bytes of memory, in hexadecimal"},
	{"memory write", []string{"expr", "data", "thread", "frame"}, AtTarget, NeedStopped, false, "write bytes to memory"},
	{"info sharedlibrary", []string{"expr"}, AtTarget, NeedAlive, false, "show the loaded libraries"},
	{"sharedlibrary", []string{"expr", "limit"}, AtTarget, NeedStopped, false, "read the separate debug files of libraries (all, if no part of a name is given)"},
	{"gdb", []string{"text"}, AtTarget, NeedNothing, false, "hand a command line to gdb"},
	{"mi", []string{"text"}, AtTarget, NeedNothing, false, "hand a GDB/MI command to gdb"},
	{"send", []string{"data", "eof"}, AtServer, NeedNothing, false, "write to standard input of the ranks"},
	{"expand", []string{"of", "limit", "hash"}, AtServer, NeedNothing, false, "show an earlier answer in full"},
	{"info hosts", nil, AtServer, NeedNothing, false, "show the hosts, their servers, gdbs and ranks"},
	{"usage", []string{"limit"}, AtServer, NeedNothing, false, "show memory and processor time of the ranks"},
	{"ranks", nil, AtMaster, NeedNothing, false, "show the state of the ranks"},
	{"focus", []string{"set"}, AtMaster, NeedNothing, false, "check a rank set and give it in canonical form"},
	{"group", []string{"name", "set"}, AtMaster, NeedNothing, false, "name a rank set"},
	{"groups", nil, AtMaster, NeedNothing, false, "show named rank sets"},
	{"quit", nil, AtServer, NeedNothing, false, "end the session: kill what we started, detach from the rest"},
}

// LookupCommand finds a command by its full name.
func LookupCommand(name string) (CommandInfo, bool) {
	i, ok := commandsByName[name]
	if !ok {
		return CommandInfo{}, false
	}
	return Commands[i], true
}

// commandsByName are places in Commands: every rank of a node looks a few times
// for each of its commands.
var commandsByName = func() map[string]int {
	m := make(map[string]int, len(Commands))
	for i, c := range Commands {
		m[c.Name] = i
	}
	return m
}()
