// Codes of the protocol.

package ptp

// Code is the type of a packet: below 100 of a command, from 100 on of an event.
type Code uint32

// The commands. Their arguments are the set of tasks (except for QUIT and START)
// and those listed in Commands.
const (
	Quit             Code = 0
	Start            Code = 1
	LineBreak        Code = 2
	FuncBreak        Code = 3
	DeleteBreak      Code = 4
	EnableBreak      Code = 5
	DisableBreak     Code = 6
	ConditionBreak   Code = 7
	BreakAfter       Code = 8
	Watch            Code = 9
	Go               Code = 10
	Step             Code = 11
	Terminate        Code = 12
	Suspend          Code = 13
	ListFrames       Code = 14
	SetFrame         Code = 15
	Evaluate         Code = 16
	GetType          Code = 17
	ListLocals       Code = 18
	ListArguments    Code = 19
	ListGlobals      Code = 20
	ListThreads      Code = 21
	SelectThread     Code = 22
	StackDepth       Code = 23
	ReadMemory       Code = 24
	WriteMemory      Code = 25
	ListSignals      Code = 26
	SignalInfo       Code = 27
	HandleSignal     Code = 28
	DataEvaluate     Code = 29
	EvaluatePartial  Code = 30
	DeletePartial    Code = 31
	startOfDebugging      = 100
)

// The events. Their first argument is the set of tasks.
const (
	EventExit         Code = startOfDebugging + 2
	EventBreak        Code = startOfDebugging + 4
	EventFrames       Code = startOfDebugging + 5
	EventData         Code = startOfDebugging + 6
	EventType         Code = startOfDebugging + 7
	EventVars         Code = startOfDebugging + 8
	EventArgs         Code = startOfDebugging + 9
	EventOutput       Code = startOfDebugging + 10
	EventOK           Code = startOfDebugging + 11
	EventError        Code = startOfDebugging + 12
	EventSuspend      Code = startOfDebugging + 13
	EventThreads      Code = startOfDebugging + 14
	EventThreadSelect Code = startOfDebugging + 15
	EventDepth        Code = startOfDebugging + 16
	EventMemory       Code = startOfDebugging + 17
	EventSignals      Code = startOfDebugging + 19
)

// Reasons of EventExit and EventSuspend, their second argument.
const (
	ExitNormal = "0"
	ExitSignal = "1"

	SuspendBreak     = "0"
	SuspendSignal    = "1"
	SuspendStep      = "2"
	SuspendInterrupt = "3"
)

// ErrorCode is the second argument of EventError. Eclipse ends the debugging of the
// tasks for 4, 5, 26 and 33, ignores 39, and shows all others.
type ErrorCode int

// The codes that the master sends.
const (
	NotImplemented  ErrorCode = 1
	BadCommand      ErrorCode = 3
	NoBackend       ErrorCode = 5
	InProgress      ErrorCode = 6
	NoSession       ErrorCode = 8
	NoFile          ErrorCode = 12 // a breakpoint cannot be set, for any reason
	NoBreakpoint    ErrorCode = 13
	IsRunning       ErrorCode = 18
	NotRunning      ErrorCode = 19
	NoDirectory     ErrorCode = 26 // the program cannot be started
	BadTasks        ErrorCode = 36
	Unknown         ErrorCode = 37
	UnknownVariable ErrorCode = 39
)

// CommandInfo is a row of the table of commands.
type CommandInfo struct {
	Name string
	Args []string // after the set of tasks
	Rest string   // may follow them, any number of times
	// NoSet: the command is for all tasks and has no set argument.
	NoSet bool
}

// Commands is the table of commands, by code. It is never modified.
var Commands = []CommandInfo{
	Quit:            {Name: "QUIT", NoSet: true},
	Start:           {Name: "START SESSION", Args: []string{"program", "path", "directory"}, Rest: "argument", NoSet: true},
	LineBreak:       {Name: "SET LINE BREAKPOINT", Args: []string{"id", "temporary", "hardware", "file", "line", "condition", "ignore", "thread"}},
	FuncBreak:       {Name: "SET FUNC BREAKPOINT", Args: []string{"id", "temporary", "hardware", "file", "function", "condition", "ignore", "thread"}},
	DeleteBreak:     {Name: "DELETE BP", Args: []string{"id"}},
	EnableBreak:     {Name: "ENABLE BP", Args: []string{"id"}},
	DisableBreak:    {Name: "DISABLE BP", Args: []string{"id"}},
	ConditionBreak:  {Name: "CONDITION BP", Args: []string{"id", "condition"}},
	BreakAfter:      {Name: "BREAKPOINT AFTER", Args: []string{"id", "ignore"}},
	Watch:           {Name: "SET WATCHPOINT", Args: []string{"id", "expression", "access", "read", "condition", "ignore"}},
	Go:              {Name: "GO"},
	Step:            {Name: "STEP", Args: []string{"count", "type"}},
	Terminate:       {Name: "TERMINATE"},
	Suspend:         {Name: "SUSPEND"},
	ListFrames:      {Name: "LIST STACKFRAMES", Args: []string{"low", "high"}},
	SetFrame:        {Name: "SET CURRENT STACKFRAME", Args: []string{"level"}},
	Evaluate:        {Name: "EVALUATE EXPRESSION", Args: []string{"expression"}},
	GetType:         {Name: "GET TYPE", Args: []string{"expression"}},
	ListLocals:      {Name: "LIST LOCALS"},
	ListArguments:   {Name: "LIST ARGUMENTS", Args: []string{"low", "high"}},
	ListGlobals:     {Name: "LIST GLOBALS"},
	ListThreads:     {Name: "LIST THREADS"},
	SelectThread:    {Name: "SELECT THREAD", Args: []string{"thread"}},
	StackDepth:      {Name: "STACK DEPTH"},
	ReadMemory:      {Name: "READ MEMORY", Args: []string{"offset", "address", "format", "size", "rows", "columns", "character"}},
	WriteMemory:     {Name: "WRITE MEMORY", Args: []string{"offset", "address", "format", "size", "value"}},
	ListSignals:     {Name: "LIST SIGNALS", Args: []string{"name"}},
	SignalInfo:      {Name: "SIGNAL INFO", Rest: "argument"},
	HandleSignal:    {Name: "CLI HANDLE", Args: []string{"text"}},
	DataEvaluate:    {Name: "DATA EVALUATE", Rest: "argument"},
	EvaluatePartial: {Name: "EVALUATE PARTIAL EXPR", Args: []string{"expression", "name", "children", "express"}},
	DeletePartial:   {Name: "DELETE PARTIAL EXPR", Args: []string{"name"}},
}

// LookupCommand returns the command with a code.
func LookupCommand(c Code) (CommandInfo, bool) {
	if uint64(c) >= uint64(len(Commands)) {
		return CommandInfo{}, false
	}
	return Commands[c], true
}
