// Panics: after one, only the ranks of one gdb are lost.

package gdb

import (
	"log/slog"
	"runtime/debug"

	"sdm/backend/gdb/debugger"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// guard calls a function of a debugger or machine. After a panic the ranks of this gdb
// are given up, since their state is not reliable; other gdbs are not affected.
func (l *loop) guard(k *gdbProcess, do func()) {
	defer func() {
		if why := recover(); why != nil {
			l.giveUp(k, protocol.Defect("", why), debug.Stack())
		}
	}()
	do()
}

// giveUp replaces the machines of a gdb by machines whose ranks are lost, and ends the
// gdb. It detaches from processes that were attached to.
func (l *loop) giveUp(k *gdbProcess, why *protocol.Fault, stack []byte) {
	k.broken, k.pendingInput = true, nil
	broken := k.debugger
	k.debugger = debugger.New(len(k.entries))
	k.debugger.Gone = broken.Gone
	var ranks []rank.ID
	for _, s := range k.entries {
		ranks = append(ranks, s.machine.Target.Rank)
		out := s.machine.Out // from before the panic
		l.messages = append(l.messages, out.Messages...)
		for _, g := range out.Signals {
			l.signal(s, g)
		}
		s.machine = s.machine.Successor()
		k.debugger.Add(s.machine)
	}
	k.debugger.Bytes = nil
	k.debugger.Calls.Drop()
	for _, s := range k.entries {
		s.machine.GiveUp(l.now(), why)
	}
	k.debugger.Leave(l.now()) // also if all ranks had ended already
	l.touch(k)
	l.log().Error(why.Message+"; its ranks are given up: "+protocol.Report, "ranks", rank.Of(ranks...), "stack", string(stack))
}

func (l *loop) log() *slog.Logger { return l.e.cfg.log() }

// log returns the log, which is never nil.
func (c Config) log() *slog.Logger {
	if c.Log != nil {
		return c.Log
	}
	return slog.New(slog.DiscardHandler)
}
