// A panic costs the ranks of one gdb.

package gdb

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// report is what a person is asked for when a promise inside sdm was broken.
const report = "please report it, with the stack that the log of the server has"

// guard calls a debugger or a machine of a gdb. Should that panic, then what is known of the ranks
// of this gdb is worth nothing any more, and they are given up; all others go on.
func (l *loop) guard(k *keeper, do func()) {
	defer func() {
		if why := recover(); why != nil {
			l.giveUp(k, why, debug.Stack())
		}
	}()
	do()
}

// giveUp puts machines that know nothing but that their ranks are lost in the places of those of a gdb, and
// has that end: it lets go of processes that were there before.
func (l *loop) giveUp(k *keeper, why any, stack []byte) {
	k.broken, k.unborn = true, nil
	cause := fmt.Sprintf("a defect of sdm: %v", why)
	broken := k.debugger
	k.debugger = newDebugger(len(k.slots))
	k.debugger.gone = broken.gone
	var ranks []rank.ID
	for _, s := range k.slots {
		ranks = append(ranks, s.machine.target.Rank)
		out := s.machine.out // before it happened
		l.said = append(l.said, out.said...)
		for _, g := range out.signals {
			l.signal(s, g)
		}
		s.machine = s.machine.heir()
		k.debugger.add(s.machine)
	}
	k.debugger.bytes = nil
	k.debugger.calls.drop()
	for _, s := range k.slots {
		s.machine.givenUp(l.now(), cause)
	}
	k.debugger.leave(l.now()) // also where all ranks had ended already
	l.touch(k)
	l.log().Error("a defect of sdm; its ranks are given up: "+report, "ranks", rank.Of(ranks...), "panic", why, "stack", string(stack))
}

func (l *loop) log() *slog.Logger {
	if l.e.cfg.Log != nil {
		return l.e.cfg.Log
	}
	return slog.New(slog.DiscardHandler)
}

// heir is a machine that has of another one what a panic cannot have spoilt: whose it is, what state was told,
// and who waits for an answer.
func (m *machine) heir() *machine {
	h := newMachine(m.target, m.source)
	h.state, h.child = m.state, m.child
	for _, q := range m.open {
		if !q.answered {
			h.open = append(h.open, &request{command: q.command, id: q.id, began: q.began})
		}
	}
	return h
}

// givenUp ends a machine that is to be nothing but over.
func (m *machine) givenUp(now time.Duration, cause string) {
	m.now = now
	for len(m.open) > 0 {
		m.fail(m.open[0], &protocol.Fault{Kind: protocol.FaultInternal, Message: cause, Hint: report})
	}
	m.event(protocol.KindLost, protocol.Missing{Cause: cause + " (" + report + ")"})
}
