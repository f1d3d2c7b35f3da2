// What the loop does in each turn.

package gdb

import (
	"slices"
	"time"

	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// run is the loop's goroutine.
func (l *loop) run() {
	defer close(l.e.done)
	defer l.e.poll.close()
	var list []ready
	for !l.over() {
		var err error
		list, err = l.e.poll.wait(list)
		if err != nil {
			// a descriptor of the poller was closed elsewhere
			panic("gdb: the poller failed: " + err.Error())
		}
		for _, r := range list {
			l.handle(r)
		}
		l.turn()
	}
	l.endAhead()
	l.forker.close()
	if err := l.indexes.Close(); err != nil {
		l.log().Warn("files of the index cache are left", "err", err)
	}
	l.custody.Close()
	l.hashers.Close()
	l.lookups.close()
	l.sources.Close(l.ctx)
	l.e.mu.Lock()
	l.e.shut, l.e.inbox = true, nil
	l.e.mu.Unlock()
}

// turn executes the queued functions, and passes all answers and events to the sink.
func (l *loop) turn() {
	for _, f := range l.e.take() {
		f(l)
		l.applyOutputs()
	}
	l.tick()
	l.applyOutputs()
	if l.next != l.armed {
		l.armed = l.next
		l.e.poll.until(l.deadline())
	}
	l.sendMessages()
}

func (l *loop) over() bool { return l.closing && len(l.gdbs) == 0 }

func (l *loop) deadline() time.Time {
	if l.next == 0 {
		return time.Time{}
	}
	return l.began.Add(l.next)
}

// handle processes one descriptor that is ready.
func (l *loop) handle(r ready) {
	if r.stream == streamTarget {
		if s := l.entries[r.number]; s != nil && s.target.Gone() {
			l.e.poll.remove(s.target.FD)
			l.guard(s.gdb, func() { s.machine.TargetEnded(l.now()) })
			l.touch(s.gdb)
		}
	} else if k := l.gdbs[r.number]; k != nil {
		l.handleGDB(k, r.stream)
	}
	l.applyOutputs()
}

// maxReads bounds the pieces of a gdb's output, of a page each, that are read before other gdbs have
// their turn.
const maxReads = 16

// handleGDB processes the output or the end of a gdb.
func (l *loop) handleGDB(k *gdbProcess, s stream) {
	switch s {
	case streamOutput:
		for n := 0; n < maxReads && l.readOutput(k) && !k.debugger.Dying(); n++ {
		}
	case streamErrors:
		l.readErrors(k)
	case streamInput:
		if k.process != nil && !k.process.flush() {
			l.e.poll.remove(k.process.stdin)
			k.inputFull = false
		}
	case streamEnd:
		l.processEnded(k)
	}
}

// applyOutputs executes the effects of all touched gdbs.
func (l *loop) applyOutputs() {
	for i := 0; i < len(l.touched); i++ {
		k := l.touched[i]
		k.touched = false
		var moves []*rankEntry
		for _, s := range k.entries {
			out := &s.machine.Out
			if out.Check {
				l.check(k, s)
				out = &s.machine.Out // of its replacement, if the machine panicked
			}
			if out.Follow != 0 {
				l.follow(s, out.Follow)
			}
			if out.Move {
				moves = append(moves, s)
			}
			if out.ClearChildren {
				l.removeFromChildren(k, s)
			}
			for _, g := range out.Signals {
				l.signal(s, g)
			}
			if out.Detached && !l.closing {
				s.halted = false // its gdb has had it since, and has left nothing in it
				l.release(s, false)
			}
			stopped := func(m debugger.Message) bool { return m.Group.Kind == protocol.KindStopped }
			if !l.e.cfg.StandIns && slices.ContainsFunc(out.Messages, stopped) {
				s.learnProgram()
			}
			l.messages = append(l.messages, out.Messages...)
			for _, o := range out.Reads {
				l.read(s, o)
			}
			clear(out.Messages)
			*out = debugger.Effects{Messages: out.Messages[:0], Signals: out.Signals[:0]}
		}
		l.guard(k, func() { l.write(k, k.debugger.Take()) })
		for _, s := range moves {
			l.handOver(k, s)
		}
		d := k.debugger
		if d.Kill && k.process != nil {
			k.process.kill()
		}
		d.Kill = false
		if t := d.Deadline(); t != 0 && (l.next == 0 || t < l.next) {
			l.next = t
		}
	}
	l.touched = l.touched[:0]
}

// check checks the process of a rank that should be running.
func (l *loop) check(k *gdbProcess, s *rankEntry) {
	if s.target.Dead() {
		l.guard(k, func() { s.machine.Missed(l.now()) })
	} else if k.process != nil && k.debugger.Shared() {
		held, cpu := s.target.Stopped(), inferior.CPUTime(k.process.pid)
		l.guard(k, func() { s.machine.Checked(l.now(), held, cpu) })
	}
}

// read executes a memory read of a rank.
func (l *loop) read(s *rankEntry, o *values.MemoryRead) {
	done := func(sums []uint64, err error) {
		l.e.post(func(l *loop) {
			l.guard(s.gdb, func() {
				s.machine.HaveRead(l.now(), o, sums, err)
			})
			l.touch(s.gdb)
		})
	}
	if o.Into != nil {
		l.hashers.Read(o.PID, o.Blocks[0], o.Into, func(err error) { done(nil, err) })
		return
	}
	l.hashers.Start(o.PID, o.Blocks, done)
}

// tick calls the gdbs whose deadlines have passed.
func (l *loop) tick() {
	now := l.now()
	if l.next == 0 || now < l.next {
		return
	}
	l.next = 0
	for _, k := range l.gdbs {
		if d := k.debugger.Deadline(); d != 0 && d <= now {
			l.guard(k, func() { k.debugger.Tick(now) })
		}
		l.touch(k) // for its next deadline
	}
}

// sendMessages passes on answers and events. Consecutive ones for the same request, or events,
// go in one call.
func (l *loop) sendMessages() {
	for i := 0; i < len(l.messages); {
		id := l.messages[i].Request
		var groups []protocol.Group
		for ; i < len(l.messages) && l.messages[i].Request == id; i++ {
			groups = append(groups, l.messages[i].Group)
		}
		if id == 0 {
			l.sink.Event(groups...)
		} else {
			l.sink.Reply(id, groups...)
		}
	}
	clear(l.messages)
	l.messages = l.messages[:0]
}
