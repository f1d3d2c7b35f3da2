// Package lazy provides a back end whose ranks have no debugger until a command needs one. Until
// then a rank is watched: its process is known and nothing is done to it. A back end without a debugger, the
// looker, reads the stacks of watched ranks; the first other command makes the debugger, another back end,
// attach to the rank.
package lazy

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Open makes a back end with a sink.
type Open func(backend.Sink) (backend.Backend, error)

// Backend is a back end over two others: a looker, which answers stacks of running processes, and a debugger,
// which is made when it is needed for the first time. A goroutine, which New starts and Close waits for, handles
// requests and the reports of the two in order.
type Backend struct {
	sink   backend.Sink
	looker backend.Backend
	open   Open
	jobs   jobs

	// Used by the goroutine only.
	debugger backend.Backend // nil: not needed yet
	ranks    map[rank.ID]*watched
	attaches protocol.RequestID // number of the last attach that this back end has requested
	closed   bool
}

// watched is a rank whose process ran when it was attached to.
type watched struct {
	target  backend.Target
	attach  protocol.RequestID // the attach under way; 0: none
	end     *protocol.Group    // report of its end during the attach; nil: none
	waiting []backend.Request  // to be carried out when the rank has stopped
	taken   bool               // the debugger has the rank
	state   backend.State      // Running, until the rank ends or is detached from
}

// ours is the least number of attaches that this back end requests itself. The session does not know them, and
// its requests have lower numbers.
const ours protocol.RequestID = 1 << 63

var _ backend.Backend = (*Backend)(nil)

// New returns a back end without ranks. look makes the looker, and open the debugger.
func New(look, open Open, sink backend.Sink) (*Backend, error) {
	b := &Backend{sink: sink, open: open, ranks: map[rank.ID]*watched{}, attaches: ours}
	b.jobs.start()
	var err error
	if b.looker, err = look(lookerSink{b}); err != nil {
		b.jobs.end()
		return nil, err
	}
	return b, nil
}

// lookerSink is what the looker reports to. Its methods do not block.
type lookerSink struct{ b *Backend }

// Event implements backend.Sink. Only ends of ranks are passed on: to the session the ranks are not in the states
// that the looker reports.
func (s lookerSink) Event(groups ...protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindExited || g.Kind == protocol.KindSignalled {
			s.b.jobs.add(func() { s.b.ended(g) })
		}
	}
}

// Reply implements backend.Sink. Answers to attaches from ours on are dropped.
func (s lookerSink) Reply(id protocol.RequestID, groups ...protocol.Group) {
	if id >= ours {
		return
	}
	for i := range groups {
		groups[i] = hinted(groups[i], "backtrace has gdb try")
	}
	s.b.sink.Reply(id, groups...)
}

// hinted returns a group with a hint to use the other back end, if the group is a fault without a hint that is
// not due to the state of the rank.
func hinted(g protocol.Group, hint string) protocol.Group {
	var f protocol.Fault
	if g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil && f.Kind != protocol.FaultState && f.Hint == "" {
		f.Hint = hint
		g.Body = canonical.JSON(f)
	}
	return g
}

// ended reports the end of watched ranks. The debugger reports the end of ranks that it has. The end of a rank to
// which it is attaching is kept, and reported if the attach fails.
func (b *Backend) ended(g protocol.Group) {
	for r := range g.Ranks.All() {
		w := b.ranks[r]
		if w == nil || w.taken || w.state.IsOver() {
			continue
		}
		if w.attach != 0 {
			w.end = &g
			continue
		}
		b.over(r, g)
	}
}

// over reports the end of one watched rank.
func (b *Backend) over(r rank.ID, g protocol.Group) {
	w := b.ranks[r]
	w.state, _ = w.state.After(g.Kind)
	if part, ok := g.Narrow(rank.Range(r, r)); ok {
		b.sink.Event(part)
	}
}

// Attach implements backend.Backend. A process that runs is only watched.
func (b *Backend) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, wait time.Duration) {
	targets = slices.Clone(targets)
	b.jobs.add(func() {
		var held []backend.Target
		for _, t := range targets {
			if t.Held || t.Core != "" {
				held = append(held, t)
				continue
			}
			one := rank.Range(t.Rank, t.Rank)
			if w := b.ranks[t.Rank]; w != nil && !w.state.IsOver() {
				f := w.state.Refuse(protocol.NeedNew)
				f.Op = "attach"
				b.fail(id, one, f)
				continue
			}
			b.ranks[t.Rank] = &watched{target: t, state: backend.Running}
			b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: one, Body: []byte("{}")})
			b.sink.Event(protocol.Group{Kind: protocol.KindWatched, Ranks: one, Body: []byte("{}")})
			b.looker.Attach(ours, []backend.Target{t}, "", 0)
		}
		if len(held) > 0 && b.need(id, "attach", ranksOf(held)) {
			b.debugger.Attach(id, held, stopAt, wait)
		}
	})
}

func ranksOf(targets []backend.Target) rank.Set {
	var ids []rank.ID
	for _, t := range targets {
		ids = append(ids, t.Rank)
	}
	return rank.Of(ids...)
}

// need makes the debugger. If that fails, the ranks get a fault as their answer.
func (b *Backend) need(id protocol.RequestID, op string, ranks rank.Set) bool {
	if b.debugger != nil {
		return true
	}
	d, err := b.open(debuggerSink{b})
	if err != nil {
		b.fail(id, ranks, &protocol.Fault{Kind: protocol.FaultEngine, Op: op, Message: err.Error()})
		return false
	}
	b.debugger = d
	return true
}

// fail answers with a fault.
func (b *Backend) fail(id protocol.RequestID, ranks rank.Set, f *protocol.Fault) {
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)})
}

// Do implements backend.Backend.
func (b *Backend) Do(q backend.Request) { b.jobs.add(func() { b.do(q) }) }

func (b *Backend) do(q backend.Request) {
	var look, leave, take, pass rank.Set
	for r := range q.Ranks.All() {
		one := rank.Range(r, r)
		w := b.ranks[r]
		switch {
		case w == nil || w.taken:
			pass = pass.Union(one)
		case w.state.IsOver():
			f := w.state.Refuse(protocol.NeedAlive)
			f.Op = q.Command.Name
			b.fail(q.ID, one, f)
		case w.attach != 0:
			w.waiting = append(w.waiting, q)
		case q.Command.Name == "stacks":
			look = look.Union(one)
		case q.Command.Name == "detach":
			leave = leave.Union(one)
		default:
			take = take.Union(one)
		}
	}
	if !look.IsEmpty() {
		b.looker.Do(with(q, look))
	}
	if !leave.IsEmpty() {
		b.leave(q.ID, leave)
	}
	if !take.IsEmpty() {
		b.take(q, take)
	}
	if !pass.IsEmpty() {
		b.pass(q, pass)
	}
}

// with returns a request for some ranks only.
func with(q backend.Request, ranks rank.Set) backend.Request {
	q.Ranks = ranks
	return q
}

// pass has the debugger carry out a request for ranks that it has, or that are unknown.
func (b *Backend) pass(q backend.Request, ranks rank.Set) {
	if b.debugger == nil {
		f := backend.NotStarted()
		f.Op = q.Command.Name
		b.fail(q.ID, ranks, f)
		return
	}
	b.debugger.Do(with(q, ranks))
}

// leave detaches watched ranks: it ends the watching.
func (b *Backend) leave(id protocol.RequestID, ranks rank.Set) {
	for r := range ranks.All() {
		b.ranks[r].state = backend.Detached
	}
	b.sink.Event(protocol.Group{Kind: protocol.KindDetached, Ranks: ranks, Body: []byte("{}")})
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte("{}")})
}

// knower is a looker that can tell whether a rank has ended, even if it has not reported the end yet. The process
// ID of such a rank may already belong to another process.
type knower interface{ Over(rank.ID) bool }

// present returns the ranks that have not ended, and answers with a fault for the others.
func (b *Backend) present(q backend.Request, ranks rank.Set) rank.Set {
	k, ok := b.looker.(knower)
	if !ok {
		return ranks
	}
	for r := range ranks.All() {
		if one := rank.Range(r, r); k.Over(r) {
			f := backend.Exited.Refuse(protocol.NeedAlive)
			f.Op = q.Command.Name
			b.fail(q.ID, one, f)
			ranks = ranks.Minus(one)
		}
	}
	return ranks
}

// take has the debugger attach to watched ranks. The request is carried out when they have stopped.
func (b *Backend) take(q backend.Request, ranks rank.Set) {
	if ranks = b.present(q, ranks); ranks.IsEmpty() {
		return
	}
	if !b.need(q.ID, q.Command.Name, ranks) {
		return
	}
	b.attaches++
	var targets []backend.Target
	for r := range ranks.All() {
		w := b.ranks[r]
		w.attach, w.waiting = b.attaches, []backend.Request{q}
		targets = append(targets, w.target)
	}
	b.debugger.Attach(b.attaches, targets, "", q.Wait)
}

// debuggerSink is what the debugger reports to. Its methods do not block.
type debuggerSink struct{ b *Backend }

// Reply implements backend.Sink.
func (s debuggerSink) Reply(id protocol.RequestID, groups ...protocol.Group) {
	if id < ours {
		s.b.jobs.add(func() { s.b.sink.Reply(id, groups...) })
		return
	}
	s.b.jobs.add(func() {
		for _, g := range groups {
			if g.Kind == protocol.KindFault {
				s.b.refused(id, g)
			}
		}
	})
}

// refused answers the requests that wait for ranks to which the debugger could not attach. The ranks stay watched.
func (b *Backend) refused(id protocol.RequestID, g protocol.Group) {
	for r := range g.Ranks.All() {
		w := b.ranks[r]
		if w == nil || w.attach != id {
			continue
		}
		waiting := w.waiting
		w.attach, w.waiting = 0, nil
		part, _ := g.Narrow(rank.Range(r, r))
		for _, q := range waiting {
			answer := hinted(part, "stacks reads it without gdb")
			var f protocol.Fault
			if json.Unmarshal(answer.Body, &f) == nil {
				f.Op = q.Command.Name
				answer.Body = canonical.JSON(f)
			}
			b.sink.Reply(q.ID, answer)
		}
		if w.end != nil {
			b.over(r, *w.end)
		}
	}
}

// Event implements backend.Sink.
func (s debuggerSink) Event(groups ...protocol.Group) {
	s.b.jobs.add(func() {
		s.b.sink.Event(groups...)
		for _, g := range groups {
			if g.Kind == protocol.KindStopped || g.Kind.IsEnd() {
				s.b.taken(g.Ranks)
			}
			if g.Kind.IsEnd() {
				s.b.released(g)
			}
		}
	})
}

// taken records that the debugger has ranks, which have stopped or ended, and carries out the requests that wait
// for them.
func (b *Backend) taken(ranks rank.Set) {
	for r := range ranks.All() {
		w := b.ranks[r]
		if w == nil || w.attach == 0 || b.closed {
			continue
		}
		waiting := w.waiting
		w.attach, w.waiting, w.taken = 0, nil, true
		for _, q := range waiting {
			b.debugger.Do(with(q, rank.Range(r, r)))
		}
	}
}

// released records the end of ranks that the debugger has. Other processes may be attached to in their place.
func (b *Backend) released(g protocol.Group) {
	for r := range g.Ranks.All() {
		if w := b.ranks[r]; w != nil && w.taken {
			w.state, _ = w.state.After(g.Kind)
		}
	}
}

// Ended implements backend.Backend.
func (b *Backend) Ended(r rank.ID, exit protocol.Exit) {
	b.jobs.add(func() {
		if b.debugger != nil {
			b.debugger.Ended(r, exit)
		}
	})
}

// Close implements backend.Backend. Watched ranks run on.
func (b *Backend) Close(ctx context.Context) error {
	err := b.looker.Close(ctx)
	b.jobs.add(func() {
		b.closed = true
		if b.debugger == nil {
			return
		}
		if e := b.debugger.Close(ctx); e != nil {
			err = e
		}
	})
	b.jobs.end()
	return err
}
