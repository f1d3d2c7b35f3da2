// The work of the holder of the vertex lock.

package overlay

import (
	"sdm/protocol/wire"
	"sdm/tree"
)

// flushAfter is the number of entries after which links are flushed.
const flushAfter = 256

// maxRounds is the number of times that a reader takes the entries of the inbox before
// it returns to its link.
const maxRounds = 16

// submit adds entries and processes them, unless another goroutine holds the vertex
// lock and will do so. After the end it closes the links of the entries. Goroutines
// of the loop call it: functions of LoopConfig may be called.
func (l *Loop) submit(entries ...entry) {
	if len(entries) == 0 {
		return
	}
	got, ok := l.inbox.add(entries...)
	switch {
	case !ok:
		discard(entries)
	case got:
		l.processInbox()
	}
}

func discard(entries []entry) {
	for _, e := range entries {
		if e.link != nil {
			e.link.Close()
		}
	}
}

// leave adds entries for the holder of the vertex lock or for Run. It never processes
// them itself, so the caller may hold any lock. After the end it closes their links.
func (l *Loop) leave(entries ...entry) {
	unseen, ok := l.inbox.leave(entries...)
	switch {
	case !ok:
		discard(entries)
	case unseen:
		l.wakeRun()
	}
}

// wakeRun makes Run look at the inbox.
func (l *Loop) wakeRun() {
	select {
	case l.kick <- struct{}{}:
	default: // Run will look already
	}
}

// work processes the inbox, unless another goroutine holds the vertex lock. Run calls it.
func (l *Loop) work() {
	if l.inbox.grab() {
		l.processInbox()
	}
}

// processInbox processes entries until the inbox is empty, or maxRounds times; then
// Run continues. Links are flushed when the inbox is empty, with one write for each,
// or after flushAfter entries.
func (l *Loop) processInbox() {
	unflushed := 0
	for range maxRounds {
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
		l.wakeRun()
	}
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

// step processes one input of the vertex and its outputs. Inputs that arise from
// its outputs are processed afterwards, because a step invalidates the previous
// outputs.
func (l *Loop) step(in tree.Input) {
	l.steps = append(l.steps, in)
	if len(l.steps) > 1 {
		return // the outer call of step processes it
	}
	for i := 0; i < len(l.steps); i++ {
		outs := l.cfg.Node.Step(l.now(), l.steps[i])
		for _, out := range outs {
			l.apply(out)
		}
		clear(outs) // they may hold a large answer, and the next step may come much later
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
		if l.cfg.Deliver != nil {
			l.cfg.Deliver(out)
		}
	case tree.DeliverInit:
		if l.cfg.Init != nil {
			l.cfg.Init(out)
		}
	case tree.DeliverQuit:
		if out.Cause != "" && l.cfg.GivenUp != nil {
			l.cfg.GivenUp(out.Cause)
		}
		l.quit(out.MasterLost)
	case tree.Epoch:
		if l.cfg.Epoch != nil {
			l.cfg.Epoch(out.Epoch)
		}
	case tree.PauseOutput:
		l.upper.pauseOutput(out.On)
	case tree.Disconnect:
		l.disconnect(out.Child)
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

// flush flushes the links that packets were put to, in the order of the first put.
func (l *Loop) flush() {
	for _, n := range l.dirty {
		n.dirty = false
		if !n.gone {
			n.out.flush()
		}
	}
	clear(l.dirty)
	l.dirty = l.dirty[:0]
	l.upper.update()
}
