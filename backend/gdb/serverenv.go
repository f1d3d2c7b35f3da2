// gdbs that do not start with the environment of the ranks.

package gdb

import (
	"sdm/backend/gdb/debugger"
	"sdm/backend/mi"
	"sdm/protocol"
)

// environmentOf returns the environment for a gdb that is about to start.
func (l *loop) environmentOf(k *gdbProcess) []string {
	env := l.environment()
	k.serverEnv = env != nil
	return env
}

// environment returns the environment for gdbs; nil: this process's, which may be the same as a
// rank's.
func (l *loop) environment() []string {
	if l.serverEnv && l.e.cfg.OwnEnvironment != nil {
		env, _ := l.e.cfg.OwnEnvironment()
		return env
	}
	return nil
}

// restartWithServerEnv restarts a gdb that has ended without output, with Config.OwnEnvironment, and
// reports whether it has. Later gdbs get that environment, too. Such a gdb has not executed any
// command.
func (l *loop) restartWithServerEnv(k *gdbProcess, how debugger.End) bool {
	cfg := l.e.cfg
	if l.closing || k.first == nil || k.serverEnv || k.debugger.Startup.Speaks || how.Crashed ||
		cfg.OwnEnvironment == nil {
		return false
	}
	env, instead := cfg.OwnEnvironment()
	if env == nil {
		return false
	}
	l.serverEnv = true
	k.pendingInput, k.inputFull = k.first, false
	k.parser = mi.Parser{Want: debugger.WantsRecord}
	for _, m := range k.debugger.Machines {
		m.Event(protocol.KindNote, protocol.Note{Text: "gdb does not start with the environment of the ranks (" + how.Cause + "); it is started " + instead})
	}
	l.startGDB(k, k.entries[0].machine.Target.Held)
	l.touch(k)
	return true
}
