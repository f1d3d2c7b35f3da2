// Compares sdm's names for libpmix's constants with the headers.

//go:build pmix

package main

// #include "bridge.h"
import "C"

import (
	"fmt"

	"sdm/launch/pmix"
)

// named is a name of libpmix's headers, and the constant of sdm that must have its value.
type named[T comparable] struct {
	name       string
	ours, real T
}

// keys and codes are all constants of sdm that come from the headers.
var (
	keys = []named[pmix.Key]{
		{"PMIX_SERVER_URI", pmix.ServerURI, C.PMIX_SERVER_URI},
		{"PMIX_TOOL_DO_NOT_CONNECT", pmix.DoNotConnect, C.PMIX_TOOL_DO_NOT_CONNECT},
		{"PMIX_LAUNCHER", pmix.ToolIsLauncher, C.PMIX_LAUNCHER},
		{"PMIX_MYSERVER_URI", pmix.MyServerURI, C.PMIX_MYSERVER_URI},
		{"PMIX_SPAWN_TOOL", pmix.SpawnTool, C.PMIX_SPAWN_TOOL},
		{"PMIX_LAUNCH_DIRECTIVES", pmix.LaunchDirectives, C.PMIX_LAUNCH_DIRECTIVES},
		{"PMIX_NOTIFY_JOB_EVENTS", pmix.NotifyJobEvents, C.PMIX_NOTIFY_JOB_EVENTS},
		{"PMIX_WAIT_FOR_CONNECTION", pmix.WaitForConnection, C.PMIX_WAIT_FOR_CONNECTION},
		{"PMIX_TIMEOUT", pmix.Timeout, C.PMIX_TIMEOUT},
		{"PMIX_NSPACE", pmix.Nspace, C.PMIX_NSPACE},
		{"PMIX_DEBUG_STOP_ON_EXEC", pmix.StopOnExec, C.PMIX_DEBUG_STOP_ON_EXEC},
		{"PMIX_DEBUG_STOP_IN_INIT", pmix.StopInInit, C.PMIX_DEBUG_STOP_IN_INIT},
		{"PMIX_DEBUG_STOP_IN_APP", pmix.StopInApp, C.PMIX_DEBUG_STOP_IN_APP},
		{"PMIX_DEBUGGER_DAEMONS", pmix.DebuggerDaemons, C.PMIX_DEBUGGER_DAEMONS},
		{"PMIX_DEBUG_TARGET", pmix.DebugTarget, C.PMIX_DEBUG_TARGET},
		{"PMIX_DEBUG_DAEMONS_PER_NODE", pmix.DaemonsPerNode, C.PMIX_DEBUG_DAEMONS_PER_NODE},
		{"PMIX_MAPBY", pmix.MapBy, C.PMIX_MAPBY},
		{"PMIX_RANKBY", pmix.RankBy, C.PMIX_RANKBY},
		{"PMIX_BINDTO", pmix.BindTo, C.PMIX_BINDTO},
		{"PMIX_HOST", pmix.Hosts, C.PMIX_HOST},
		{"PMIX_FWD_STDOUT", pmix.ForwardStdout, C.PMIX_FWD_STDOUT},
		{"PMIX_FWD_STDERR", pmix.ForwardStderr, C.PMIX_FWD_STDERR},
		{"PMIX_STDIN_TGT", pmix.StdinTarget, C.PMIX_STDIN_TGT},
		{"PMIX_IOF_COMPLETE", pmix.StreamComplete, C.PMIX_IOF_COMPLETE},
		{"PMIX_NOTIFY_COMPLETION", pmix.NotifyCompletion, C.PMIX_NOTIFY_COMPLETION},
		{"PMIX_SETUP_APP_ENVARS", pmix.SetupAppEnvars, C.PMIX_SETUP_APP_ENVARS},
		{"PMIX_QUERY_SPAWN_SUPPORT", pmix.QuerySpawnSupport, C.PMIX_QUERY_SPAWN_SUPPORT},
		{"PMIX_QUERY_DEBUG_SUPPORT", pmix.QueryDebugSupport, C.PMIX_QUERY_DEBUG_SUPPORT},
		{"PMIX_QUERY_NAMESPACES", pmix.QueryNamespaces, C.PMIX_QUERY_NAMESPACES},
		{"PMIX_QUERY_PROC_TABLE", pmix.QueryTable, C.PMIX_QUERY_PROC_TABLE},
		{"PMIX_QUERY_LOCAL_PROC_TABLE", pmix.QueryLocalTable, C.PMIX_QUERY_LOCAL_PROC_TABLE},
		{"PMIX_ALLOC_NUM_NODES", pmix.AllocNodes, C.PMIX_ALLOC_NUM_NODES},
		{"PMIX_ALLOC_TIME", pmix.AllocTime, C.PMIX_ALLOC_TIME},
		{"PMIX_EVENT_CUSTOM_RANGE", pmix.CustomRange, C.PMIX_EVENT_CUSTOM_RANGE},
		{"PMIX_EVENT_NON_DEFAULT", pmix.NonDefault, C.PMIX_EVENT_NON_DEFAULT},
		{"PMIX_EVENT_AFFECTED_PROC", pmix.AffectedProc, C.PMIX_EVENT_AFFECTED_PROC},
		{"PMIX_JOB_TERM_STATUS", pmix.JobTermStatus, C.PMIX_JOB_TERM_STATUS},
		{"PMIX_EXIT_CODE", pmix.ExitCode, C.PMIX_EXIT_CODE},
		{"PMIX_EVENT_TEXT_MESSAGE", pmix.EventText, C.PMIX_EVENT_TEXT_MESSAGE},
		{"PMIX_HOSTNAME", pmix.NodeName, C.PMIX_HOSTNAME},
		{"PMIX_LOG_SYSLOG", pmix.LogSyslog, C.PMIX_LOG_SYSLOG},
		{"PMIX_JOB_CTRL_KILL", pmix.ControlKill, C.PMIX_JOB_CTRL_KILL},
		{"PMIX_JOB_CTRL_SIGNAL", pmix.ControlSignal, C.PMIX_JOB_CTRL_SIGNAL},
		{"PMIX_SET_ENVAR", pmix.SetEnvar, C.PMIX_SET_ENVAR},
		{"PMIX_UNSET_ENVAR", pmix.UnsetEnvar, C.PMIX_UNSET_ENVAR},
		{"PMIX_ADD_ENVAR", pmix.AddEnvar, C.PMIX_ADD_ENVAR},
		{"PMIX_PREPEND_ENVAR", pmix.PrependEnvar, C.PMIX_PREPEND_ENVAR},
		{"PMIX_APPEND_ENVAR", pmix.AppendEnvar, C.PMIX_APPEND_ENVAR},
	}
	codes = []named[pmix.Code]{
		{"PMIX_DEBUGGER_RELEASE", pmix.DebuggerRelease, C.PMIX_DEBUGGER_RELEASE},
		{"PMIX_ERR_TIMEOUT", pmix.ErrTimeout, C.PMIX_ERR_TIMEOUT},
		{"PMIX_ERR_UNREACH", pmix.ErrUnreach, C.PMIX_ERR_UNREACH},
		{"PMIX_ERR_BAD_PARAM", pmix.ErrBadParam, C.PMIX_ERR_BAD_PARAM},
		{"PMIX_ERR_NOT_FOUND", pmix.ErrNotFound, C.PMIX_ERR_NOT_FOUND},
		{"PMIX_ERR_NOT_SUPPORTED", pmix.ErrNotSupported, C.PMIX_ERR_NOT_SUPPORTED},
		{"PMIX_ERR_PARTIAL_SUCCESS", pmix.ErrPartialSuccess, C.PMIX_ERR_PARTIAL_SUCCESS},
		{"PMIX_READY_FOR_DEBUG", pmix.ReadyForDebug, C.PMIX_READY_FOR_DEBUG},
		{"PMIX_ERR_LOST_CONNECTION", pmix.LostConnection, C.PMIX_ERR_LOST_CONNECTION},
		{"PMIX_QUERY_PARTIAL_SUCCESS", pmix.PartialSuccess, C.PMIX_QUERY_PARTIAL_SUCCESS},
		{"PMIX_EVENT_JOB_END", pmix.JobEnd, C.PMIX_EVENT_JOB_END},
		{"PMIX_LAUNCHER_READY", pmix.LauncherReady, C.PMIX_LAUNCHER_READY},
		{"PMIX_OPERATION_SUCCEEDED", pmix.OperationSucceeded, C.PMIX_OPERATION_SUCCEEDED},
		{"PMIX_ERR_IOF_COMPLETE", pmix.IOFComplete, C.PMIX_ERR_IOF_COMPLETE},
		{"PMIX_LAUNCH_COMPLETE", pmix.LaunchComplete, C.PMIX_LAUNCH_COMPLETE},
		{"PMIX_ERR_JOB_FAILED_TO_MAP", pmix.FailedToMap, C.PMIX_ERR_JOB_FAILED_TO_MAP},
		{"PMIX_ERR_JOB_CANCELED", pmix.JobCanceled, C.PMIX_ERR_JOB_CANCELED},
		{"PMIX_ERR_JOB_FAILED_TO_LAUNCH", pmix.FailedToLaunch, C.PMIX_ERR_JOB_FAILED_TO_LAUNCH},
		{"PMIX_EVENT_JOB_START", pmix.JobStart, C.PMIX_EVENT_JOB_START},
		{"PMIX_EVENT_PROC_TERMINATED", pmix.ProcTerminated, C.PMIX_EVENT_PROC_TERMINATED},
		{"PMIX_EVENT_SYS_BASE", pmix.SystemFirst, C.PMIX_EVENT_SYS_BASE},
		{"PMIX_EVENT_NODE_DOWN", pmix.NodeDown, C.PMIX_EVENT_NODE_DOWN},
		{"PMIX_EVENT_SYS_OTHER", pmix.SystemLast, C.PMIX_EVENT_SYS_OTHER},
		{"PMIX_EXTERNAL_ERR_BASE", pmix.External, C.PMIX_EXTERNAL_ERR_BASE},
	}
)

// checkNames returns an error if the headers that this program was built with differ from sdm's
// constants.
func checkNames() error {
	for _, k := range keys {
		if k.ours != k.real {
			return fmt.Errorf("%s is %q for libpmix and %q for sdm", k.name, k.real, k.ours)
		}
	}
	for _, c := range codes {
		if c.ours != c.real {
			return fmt.Errorf("%s is %d for libpmix and %d for sdm", c.name, c.real, c.ours)
		}
	}
	return nil
}
