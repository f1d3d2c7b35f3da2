// A gdb that does not start with the environment of the ranks.

package gdb

import (
	"sdm/backend/mi"
	"sdm/protocol"
)

// environment is that for a gdb; nil is ours as it is now, which may be like that of a rank.
func (l *loop) environment(k *keeper) []string {
	if k.plain = l.plain && l.e.cfg.OwnEnvironment != nil; k.plain {
		return l.e.cfg.OwnEnvironment()
	}
	return nil
}

// startsPlain starts a gdb again that has ended before it said a word, with the environment that we had before it was
// made like that of a rank; so do all that follow. It has not done anything yet.
func (l *loop) startsPlain(k *keeper, how demise) bool {
	cfg := l.e.cfg
	if l.closing || k.first == nil || k.plain || k.debugger.birth.speaks || how.crashed || cfg.OwnEnvironment == nil || cfg.OwnEnvironment() == nil {
		return false
	}
	l.plain = true
	k.unborn, k.heldUp = k.first, false
	k.parser = mi.Parser{Want: wanted}
	for _, m := range k.debugger.machines {
		m.event(protocol.KindNote, protocol.Note{Text: "gdb does not start with the environment of the ranks (" + how.cause + "); it gets that of its server"})
	}
	l.startGDB(k, k.slots[0].machine.target.Held)
	l.touch(k)
	return true
}
