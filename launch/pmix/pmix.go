// Package pmix controls jobs by PMIx servers, such as PRRTE's prte.
//
// The library libpmix is not part of this process: it is large, it needs C, and a server can crash
// it. The program sdm-pmix links it and makes its calls. This package starts sdm-pmix, checks what
// it says, and bounds the time of each call. The end of sdm-pmix is an error of the calls that
// wait for it, and nothing else.
//
// # Protocol
//
// Each message is a JSON object on a line of its own of at most MaxLine bytes. Sdm-pmix reads
// requests from descriptor RequestFD and writes messages to descriptor MessageFD. Its standard
// output and standard error receive what the server forwards from jobs; messages of libpmix go to
// standard error, too.
//
//	program     says first: {"hello":1,"library":"4.2.2"}
//	request     {"id":7,"call":"query","key":"pmix.qry.ptable","info":[...]}
//	reply       {"id":7,"status":0,"text":"SUCCESS","info":[...]}
//	event       {"event":-58,"text":"READY FOR DEBUG","source":{...},"info":[...]}
//
// Requests have different numbers. Sdm-pmix answers each once; it may answer in any order. Events
// come at any time after connect. Calls lists the calls. Keep is no call of libpmix: it says what
// sdm-pmix does, if sdm is killed, with a job that was not started by spawn. An info is a key of
// libpmix and a typed Value. Sdm-pmix ends when its requests end. If that happens before finalize,
// sdm was killed: sdm-pmix then kills the jobs that it has spawned, or releases them if daemons
// were spawned.
//
// Sources: PMIx Standard 4.1; the source documents on debugging (docs/seeds.md). What real
// servers do differently is noted at the code that depends on it; it was seen on PRRTE 3.0.8 with
// libpmix 5.0.7, and on PRRTE 5.0.0rc1 with libpmix 7.0.0rc1.
package pmix

// Descriptors of sdm-pmix.
const (
	RequestFD = 3
	MessageFD = 4
)

// Revision is the revision of the protocol, the value of hello.
const Revision = 1

// MaxLine is the limit of a message in bytes. The largest is a table of processes, some 200 bytes
// for each rank.
const MaxLine = 64 << 20

// Call is the name of a call.
type Call string

// The calls, and the functions of libpmix that sdm-pmix calls for them.
const (
	CallConnect  Call = "connect"  // PMIx_tool_init, PMIx_Register_event_handler
	CallFollow   Call = "follow"   // PMIx_tool_set_server, PMIx_Register_event_handler
	CallQuery    Call = "query"    // PMIx_Query_info
	CallGet      Call = "get"      // PMIx_Get
	CallSpawn    Call = "spawn"    // PMIx_Spawn
	CallNotify   Call = "notify"   // PMIx_Notify_event to the targets, or to all who have asked for the event
	CallPush     Call = "push"     // PMIx_IOF_push, with a callback
	CallControl  Call = "control"  // PMIx_Job_control
	CallLog      Call = "log"      // PMIx_Log
	CallKeep     Call = "keep"     // none: what to do if sdm is killed; end: kill the targets, else release them
	CallFinalize Call = "finalize" // PMIx_Deregister_event_handler, PMIx_tool_finalize
)

// Shape says which fields of a request a call reads, and which fields of its reply are set on
// success.
type Shape struct {
	Call    Call
	Reads   []string
	Replies []string
}

// Calls lists all calls. It is read only.
var Calls = []Shape{
	{CallConnect, []string{"info"}, []string{"proc"}},
	{CallFollow, []string{"proc", "info"}, nil},
	{CallQuery, []string{"key", "info"}, []string{"info"}},
	{CallGet, []string{"key", "proc", "info"}, []string{"info"}},
	{CallSpawn, []string{"apps", "info"}, []string{"proc"}},
	{CallNotify, []string{"event", "targets", "info"}, nil},
	{CallPush, []string{"targets", "data", "end"}, nil},
	{CallControl, []string{"targets", "info"}, []string{"info"}},
	{CallLog, []string{"info"}, nil},
	{CallKeep, []string{"targets", "end"}, nil},
	{CallFinalize, nil, nil},
}
