// What the holder of the baton does.

package overlay

import (
	"sdm/protocol/wire"
	"sdm/tree"
)

// flushAfter bounds how long packets wait for others before links are flushed,
// in entries.
const flushAfter = 256

// maxRounds bounds how long a reader works for others before it goes back to
// its link, in looks at the inbox.
const maxRounds = 16

// worker says who holds the baton.
type worker int

const (
	insider  worker = iota // a goroutine of the loop
	outsider               // a caller of Post, who may hold locks of his own
)

// bring adds entries and works on them unless somebody is at work, who will then
// see them. After the end it closes what they would have attached.
func (l *Loop) bring(who worker, entries ...entry) {
	if len(entries) == 0 {
		return
	}
	got, ok := l.inbox.add(entries...)
	switch {
	case !ok:
		discard(entries)
	case got && who == insider:
		l.turn()
	case got:
		l.help()
	}
}

func discard(entries []entry) {
	for _, e := range entries {
		if e.link != nil {
			e.link.Close()
		}
	}
}

// leave adds something to do for whoever works, or for Run. The caller may be in
// the middle of anything.
func (l *Loop) leave(do func()) {
	if l.inbox.leave(entry{do: do}) {
		l.poke()
	}
}

// poke makes Run look at the inbox.
func (l *Loop) poke() {
	select {
	case l.kick <- struct{}{}:
	default: // it will
	}
}

// work is Run's turn.
func (l *Loop) work() {
	if l.inbox.grab() {
		l.turn()
	}
}

// turn works with the baton until the inbox is empty, or for a bounded time:
// then Run goes on. Links are flushed when the inbox is empty, one write for
// each, or after flushAfter entries.
func (l *Loop) turn() {
	l.who = insider
	unflushed := 0
	for range maxRounds {
		l.callOwed()
		entries := l.inbox.take()
		if len(entries) == 0 {
			l.flush()
			unflushed = 0
			if l.inbox.yieldIfEmpty() {
				return
			}
			continue
		}
		unflushed += l.process(entries)
		if unflushed >= flushAfter {
			l.flush()
			unflushed = 0
		}
	}
	l.flush()
	if l.inbox.yield() {
		l.poke()
	}
}

// help is what a caller of Post does: one look at the inbox, and the writing. No
// write waits and none calls the owner, so the locks that the caller may hold do
// not matter; waking Run for it would cost a change of threads for each answer
// (20 µs of 100 for a print on one rank). Calls of the owner are left to Run.
func (l *Loop) help() {
	l.who = outsider
	l.process(l.inbox.take())
	l.flush()
	left := len(l.owed) > 0
	if l.inbox.yield() || left {
		l.poke()
	}
}

// mayCall tells whether a function of the owner may be called now. A caller of
// Post may hold the very lock that the function wants: then, and behind such a
// call, it is owed to the owner until an insider works.
func (l *Loop) mayCall() bool { return l.who == insider && len(l.owed) == 0 }

// call calls a function of the owner, or owes it to him.
func (l *Loop) call(function func()) {
	if l.mayCall() {
		function()
	} else {
		l.owe(function)
	}
}

func (l *Loop) owe(call func()) { l.owed = append(l.owed, call) }

func (l *Loop) callOwed() {
	for i := 0; i < len(l.owed); i++ {
		l.owed[i]()
	}
	clear(l.owed)
	l.owed = l.owed[:0]
}

func (l *Loop) process(entries []entry) int {
	for i := range entries {
		switch e := &entries[i]; {
		case e.from != nil:
			l.receive(e.from, &e.msg)
		case e.do != nil:
			e.do()
		case e.in != nil:
			l.step(e.in)
		}
	}
	clear(entries)
	return len(entries)
}

// step is one input of the vertex, and what follows from it. Inputs that arise
// from its outputs come after them, as a step ends the life of the outputs before.
func (l *Loop) step(in tree.Input) {
	l.steps = append(l.steps, in)
	if len(l.steps) > 1 {
		return // the call that is at work does it
	}
	for i := 0; i < len(l.steps); i++ {
		outs := l.cfg.Node.Step(l.now(), l.steps[i])
		for _, out := range outs {
			l.apply(out)
		}
		clear(outs) // they may hold a large answer, and the next step may be far
	}
	clear(l.steps)
	l.steps = l.steps[:0]
}

func (l *Loop) apply(out tree.Output) {
	switch out := out.(type) {
	case tree.ToParent:
		l.out = out.Msg
		l.toParent(&l.out)
		l.out = wire.Message{}
	case tree.ToChild:
		if n := l.children[out.Child]; n != nil {
			if out.Msg.Kind == wire.Ping && n.isBusy() {
				l.step(tree.ChildAlive{Child: out.Child})
			}
			l.out = out.Msg
			l.put(n, &l.out)
			l.out = wire.Message{}
		}
	case tree.Connect:
		l.connect(out)
	case tree.Deliver:
		l.deliver(out)
	case tree.DeliverInit:
		if l.cfg.Init == nil {
		} else if l.mayCall() {
			l.cfg.Init(out)
		} else {
			l.owe(func() { l.cfg.Init(out) })
		}
	case tree.DeliverQuit:
		if out.Cause != "" && l.cfg.GivenUp != nil {
			l.call(func() { l.cfg.GivenUp(out.Cause) })
		}
		l.quit(out.Deserted)
	case tree.Epoch:
		if l.cfg.Epoch != nil {
			l.call(func() { l.cfg.Epoch(out.Epoch) })
		}
	case tree.Hold:
		l.upper.hold(out.On)
	case tree.Drop:
		l.drop(out.Child)
	case tree.LeaveParent:
		if l.parent != nil {
			l.parent.silent = true
			l.lose(l.parent, out.Cause)
		}
	case tree.Wake:
		l.wake = out.At
		l.arm()
	}
}

func (l *Loop) deliver(out tree.Deliver) {
	switch {
	case l.cfg.Deliver == nil:
	case l.mayCall():
		l.cfg.Deliver(out)
	default:
		l.owe(func() { l.cfg.Deliver(out) })
	}
}

// flush offers what was put to the links, in the order of the first put.
func (l *Loop) flush() {
	for _, n := range l.dirty {
		n.dirty = false
		if !n.gone {
			n.way.flush()
		}
	}
	clear(l.dirty)
	l.dirty = l.dirty[:0]
	l.upper.look()
}
