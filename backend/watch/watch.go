// Package watch provides a back end whose ranks have no debugger until a command needs one. Until
// then a rank is watched: its process is known and nothing is done to it. Stacks of watched ranks
// are read by one back end; the first other command has another one attach to the rank.
package watch

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Open makes a back end with a sink.
type Open func(backend.Sink) (backend.Backend, error)

// Backend is a back end over two others: a looker, which answers stacks of running processes, and
// a debugger, which is made when it is needed first. A goroutine, which New starts and Close waits
// for, carries out in order what is asked and what the two report.
type Backend struct {
	sink   backend.Sink
	looker backend.Backend
	open   Open
	jobs   jobs

	// Used by the goroutine only.
	debugger backend.Backend // nil: not needed yet
	ranks    map[rank.ID]*watched
	attaches protocol.RequestID // number of the last attach of ours
	closed   bool
}

// watched is a rank that was attached to while it ran.
type watched struct {
	target  backend.Target
	attach  protocol.RequestID // the attach under way; 0: none
	waiting []backend.Request  // carried out when the rank has stopped
	taken   bool               // the debugger has the rank
	over    bool               // detached
}

// ours begins the numbers of attaches that the session does not know. No request of a session has
// such a number.
const ours protocol.RequestID = 1 << 63

var _ backend.Backend = (*Backend)(nil)

// New returns a back end without ranks. look makes the looker, and open the debugger.
func New(look, open Open, sink backend.Sink) (*Backend, error) {
	b := &Backend{sink: sink, open: open, ranks: map[rank.ID]*watched{}, attaches: ours}
	var err error
	if b.looker, err = look(quiet{sink}); err != nil {
		return nil, err
	}
	b.jobs.start()
	return b, nil
}

// quiet passes the answers of the looker, and keeps its events: the states of its ranks are not
// those of the session.
type quiet struct{ backend.Sink }

func (quiet) Event(...protocol.Group) {}

// hidden are the answers of the looker to our attach.
func (q quiet) Reply(id protocol.RequestID, groups ...protocol.Group) {
	if id < ours {
		q.Sink.Reply(id, groups...)
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
			b.ranks[t.Rank] = &watched{target: t}
			b.looker.Attach(ours, []backend.Target{t}, "", 0)
			one := rank.Range(t.Rank, t.Rank)
			b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: one, Body: []byte("{}")})
			b.sink.Event(protocol.Group{Kind: protocol.KindWatched, Ranks: one, Body: []byte("{}")})
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
		case w.over:
			f := backend.Detached.Refuse(protocol.NeedAlive)
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

// leave ends the watching of ranks.
func (b *Backend) leave(id protocol.RequestID, ranks rank.Set) {
	for r := range ranks.All() {
		b.ranks[r].over = true
	}
	b.sink.Event(protocol.Group{Kind: protocol.KindDetached, Ranks: ranks, Body: []byte("{}")})
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte("{}")})
}

// take has the debugger attach to watched ranks. The request is carried out when they have stopped.
func (b *Backend) take(q backend.Request, ranks rank.Set) {
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

// refused answers the requests that wait for ranks to which the debugger could not attach. They
// stay watched.
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
			answer := part
			var f protocol.Fault
			if json.Unmarshal(g.Body, &f) == nil {
				f.Op = q.Command.Name
				answer.Body = canonical.JSON(f)
			}
			b.sink.Reply(q.ID, answer)
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
		}
	})
}

// taken carries out the requests that wait for ranks which have stopped, or ended.
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

// jobs is a queue of functions that one goroutine calls in order. Adding never blocks: the debugger
// reports more while the goroutine is in a call of it. It holds what a session has outstanding.
type jobs struct {
	mu     sync.Mutex
	more   sync.Cond
	list   []func()
	closed bool
	over   chan struct{} // closed when the goroutine has ended
}

func (j *jobs) start() {
	j.more.L = &j.mu
	j.over = make(chan struct{})
	go func() {
		defer close(j.over)
		for do := j.next(); do != nil; do = j.next() {
			do()
		}
	}()
}

// next waits for a function; nil: the queue is closed and empty.
func (j *jobs) next() func() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.list) == 0 && !j.closed {
		j.more.Wait()
	}
	if len(j.list) == 0 {
		return nil
	}
	do := j.list[0]
	j.list = j.list[1:]
	return do
}

// add adds a function; after end it does nothing.
func (j *jobs) add(do func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.list = append(j.list, do)
		j.more.Signal()
	}
}

// end lets the goroutine carry out what is in the queue, and waits for it.
func (j *jobs) end() {
	j.mu.Lock()
	j.closed = true
	j.more.Signal()
	j.mu.Unlock()
	<-j.over
}
