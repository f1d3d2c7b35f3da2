// Keys and codes of libpmix, with the names of its headers.

package pmix

import "fmt"

// Key is the key of an info: the text for which libpmix's headers have a name. A test of sdm-pmix
// compares the keys with the headers.
type Key string

// maxKey is the limit of a key in bytes (PMIX_MAX_KEYLEN).
const maxKey = 511

// The keys that sdm uses, with libpmix's names.
const (
	ServerURI         Key = "pmix.srvr.uri"        // PMIX_SERVER_URI
	DoNotConnect      Key = "pmix.tool.nocon"      // PMIX_TOOL_DO_NOT_CONNECT
	ToolIsLauncher    Key = "pmix.tool.launcher"   // PMIX_LAUNCHER
	MyServerURI       Key = "pmix.mysrvr.uri"      // PMIX_MYSERVER_URI
	SpawnTool         Key = "pmix.spwn.tool"       // PMIX_SPAWN_TOOL
	LaunchDirectives  Key = "pmix.lnch.dirs"       // PMIX_LAUNCH_DIRECTIVES
	NotifyJobEvents   Key = "pmix.note.jev"        // PMIX_NOTIFY_JOB_EVENTS
	WaitForConnection Key = "pmix.wait.conn"       // PMIX_WAIT_FOR_CONNECTION
	Timeout           Key = "pmix.timeout"         // PMIX_TIMEOUT
	Nspace            Key = "pmix.nspace"          // PMIX_NSPACE
	StopOnExec        Key = "pmix.dbg.exec"        // PMIX_DEBUG_STOP_ON_EXEC
	StopInInit        Key = "pmix.dbg.init"        // PMIX_DEBUG_STOP_IN_INIT
	StopInApp         Key = "pmix.dbg.notify"      // PMIX_DEBUG_STOP_IN_APP
	DebuggerDaemons   Key = "pmix.debugger"        // PMIX_DEBUGGER_DAEMONS
	DebugTarget       Key = "pmix.dbg.tgt"         // PMIX_DEBUG_TARGET
	DaemonsPerNode    Key = "pmix.dbg.dpnd"        // PMIX_DEBUG_DAEMONS_PER_NODE
	MapBy             Key = "pmix.mapby"           // PMIX_MAPBY
	RankBy            Key = "pmix.rankby"          // PMIX_RANKBY
	BindTo            Key = "pmix.bindto"          // PMIX_BINDTO
	Hosts             Key = "pmix.host"            // PMIX_HOST
	ForwardStdout     Key = "pmix.fwd.stdout"      // PMIX_FWD_STDOUT
	ForwardStderr     Key = "pmix.fwd.stderr"      // PMIX_FWD_STDERR
	StdinTarget       Key = "pmix.stdin"           // PMIX_STDIN_TGT
	StreamComplete    Key = "pmix.iof.cmp"         // PMIX_IOF_COMPLETE
	NotifyCompletion  Key = "pmix.notecomp"        // PMIX_NOTIFY_COMPLETION
	SetupAppEnvars    Key = "pmix.setup.env"       // PMIX_SETUP_APP_ENVARS
	QuerySpawnSupport Key = "pmix.qry.spawn"       // PMIX_QUERY_SPAWN_SUPPORT
	QueryDebugSupport Key = "pmix.qry.debug"       // PMIX_QUERY_DEBUG_SUPPORT
	QueryNamespaces   Key = "pmix.qry.ns"          // PMIX_QUERY_NAMESPACES
	QueryTable        Key = "pmix.qry.ptable"      // PMIX_QUERY_PROC_TABLE
	QueryLocalTable   Key = "pmix.qry.lptable"     // PMIX_QUERY_LOCAL_PROC_TABLE
	AllocNodes        Key = "pmix.alloc.nnodes"    // PMIX_ALLOC_NUM_NODES
	AllocTime         Key = "pmix.alloc.time"      // PMIX_ALLOC_TIME
	CustomRange       Key = "pmix.evrange"         // PMIX_EVENT_CUSTOM_RANGE
	NonDefault        Key = "pmix.evnondef"        // PMIX_EVENT_NON_DEFAULT
	AffectedProc      Key = "pmix.evproc"          // PMIX_EVENT_AFFECTED_PROC
	JobTermStatus     Key = "pmix.job.term.status" // PMIX_JOB_TERM_STATUS
	ExitCode          Key = "pmix.exit.code"       // PMIX_EXIT_CODE
	EventText         Key = "pmix.evtext"          // PMIX_EVENT_TEXT_MESSAGE
	NodeName          Key = "pmix.hname"           // PMIX_HOSTNAME
	LogSyslog         Key = "pmix.log.syslog"      // PMIX_LOG_SYSLOG
	ControlKill       Key = "pmix.jctrl.kill"      // PMIX_JOB_CTRL_KILL
	ControlSignal     Key = "pmix.jctrl.sig"       // PMIX_JOB_CTRL_SIGNAL
	SetEnvar          Key = "pmix.envar.set"       // PMIX_SET_ENVAR
	UnsetEnvar        Key = "pmix.envar.unset"     // PMIX_UNSET_ENVAR
	AddEnvar          Key = "pmix.envar.add"       // PMIX_ADD_ENVAR
	PrependEnvar      Key = "pmix.envar.prepnd"    // PMIX_PREPEND_ENVAR
	AppendEnvar       Key = "pmix.envar.appnd"     // PMIX_APPEND_ENVAR
)

// Code is a status or an event of libpmix. Zero is success.
type Code int

// The codes that sdm distinguishes, with libpmix's names. A test of sdm-pmix compares them with the
// headers.
const (
	Success            Code = 0
	DebuggerRelease    Code = -3    // PMIX_DEBUGGER_RELEASE
	ErrTimeout         Code = -24   // PMIX_ERR_TIMEOUT
	ErrUnreach         Code = -25   // PMIX_ERR_UNREACH
	ErrGeneral         Code = -1    // PMIX_ERROR
	ErrBadParam        Code = -27   // PMIX_ERR_BAD_PARAM
	ErrNotFound        Code = -46   // PMIX_ERR_NOT_FOUND
	ErrNotSupported    Code = -47   // PMIX_ERR_NOT_SUPPORTED
	ErrPartialSuccess  Code = -52   // PMIX_ERR_PARTIAL_SUCCESS
	ReadyForDebug      Code = -58   // PMIX_READY_FOR_DEBUG
	LostConnection     Code = -61   // PMIX_ERR_LOST_CONNECTION
	PartialSuccess     Code = -104  // PMIX_QUERY_PARTIAL_SUCCESS
	JobEnd             Code = -145  // PMIX_EVENT_JOB_END
	LauncherReady      Code = -155  // PMIX_LAUNCHER_READY
	OperationSucceeded Code = -157  // PMIX_OPERATION_SUCCEEDED
	IOFComplete        Code = -173  // PMIX_ERR_IOF_COMPLETE
	LaunchComplete     Code = -174  // PMIX_LAUNCH_COMPLETE
	FailedToMap        Code = -179  // PMIX_ERR_JOB_FAILED_TO_MAP
	JobCanceled        Code = -180  // PMIX_ERR_JOB_CANCELED
	FailedToLaunch     Code = -181  // PMIX_ERR_JOB_FAILED_TO_LAUNCH
	JobStart           Code = -191  // PMIX_EVENT_JOB_START
	ProcTerminated     Code = -201  // PMIX_EVENT_PROC_TERMINATED
	SystemFirst        Code = -230  // PMIX_EVENT_SYS_BASE
	NodeDown           Code = -231  // PMIX_EVENT_NODE_DOWN
	SystemLast         Code = -330  // PMIX_EVENT_SYS_OTHER
	External           Code = -3000 // PMIX_EXTERNAL_ERR_BASE
)

// Events of sdm. The codes below External are for programs; libpmix names none for these.
const (
	DebuggerAttached Code = External - 1
	DebuggerDetached Code = External - 2
)

// Events are the events for which sdm-pmix registers. It is read only.
var Events = []Code{ReadyForDebug, LauncherReady, LaunchComplete, JobStart, JobEnd, ProcTerminated, LostConnection,
	JobCanceled, DebuggerAttached, DebuggerDetached}

// isGood reports whether a status means that a call has done something.
func (c Code) isGood() bool {
	switch c {
	case Success, OperationSucceeded, PartialSuccess, ErrPartialSuccess, IOFComplete:
		return true
	}
	return false
}

// Failure is the error of a call that the server or libpmix refuses.
type Failure struct {
	Call Call
	Key  Key // of a query; "": none
	Code Code
	Text string // libpmix's name of Code
}

func (f *Failure) Error() string {
	what := string(f.Call)
	if f.Key != "" {
		what += " " + string(f.Key)
	}
	return fmt.Sprintf("PMIx %s: %s (%d)", what, f.Text, f.Code)
}
