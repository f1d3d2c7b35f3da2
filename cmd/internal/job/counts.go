// Counts of collectives that NCCL tells, beside the stacks that a session takes.

package job

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sdm/launch/nccl"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// counts is what is known of a job whose processes NCCL's RAS has named. The zero value is no such job.
type counts struct {
	at      ras
	first   *nccl.Reply // nil: none
	numbers map[nccl.Process]rank.ID
	unseen  rank.Set // at which nobody looks
	runs    bool     // all ranks run on, whatever their states are called
	remark  func(string)
}

// apart is the least time between two questions.
const apart = 200 * time.Millisecond

// counting is a session that asks RAS whenever stacks are taken: before, after, and once more. What it learns is added
// to what the ranks wait for. While ranks are held it does not ask, since they cannot answer.
//
// Goroutines: one relays the events, and one for each call asks. Close waits for all.
type counting struct {
	session.Session
	counts
	stream *session.Stream
	ctx    context.Context // of the questions; it ends with Close
	stop   context.CancelFunc
	ask    func(context.Context) (*nccl.Reply, error)
	pause  func(context.Context, time.Duration)

	relaying, asking sync.WaitGroup

	mu    sync.Mutex
	calls map[protocol.RequestID]*countedCall
	held  rank.Set // ranks that stand
	told  bool     // the user knows that RAS does not answer

	before *nccl.Reply // at the last call of stacks with progress; nil: there was none, or RAS did not answer
}

// countedCall is a call of stacks whose answers wait for RAS.
type countedCall struct {
	answers []session.Event
	done    chan struct{} // closed when all answers are there
}

// over returns a session over another one.
func (c counts) over(s session.Session) session.Session {
	if c.first == nil {
		return s
	}
	n := &counting{Session: s, counts: c, stream: session.NewStream(), calls: map[protocol.RequestID]*countedCall{}}
	n.ask, n.pause = n.at.askJob, pause
	n.ctx, n.stop = context.WithCancel(context.Background())
	n.relaying.Go(n.relay)
	return n
}

// pause returns after a time, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Events returns the stream.
func (n *counting) Events() <-chan session.Event { return n.stream.Events() }

// Do starts a call; see session.Session.
func (n *counting) Do(ctx context.Context, c session.Call) (protocol.RequestID, error) {
	n.mu.Lock() // no answer is relayed before the number is known
	defer n.mu.Unlock()
	id, err := n.Session.Do(ctx, c)
	if err != nil || c.Command != "stacks" || !n.held.IsEmpty() || n.ctx.Err() != nil {
		return id, err
	}
	call := &countedCall{done: make(chan struct{})}
	n.calls[id] = call
	first := n.first
	n.first = nil
	if c.Args.Progress {
		n.asking.Go(func() { n.compare(id, call) })
	} else {
		n.asking.Go(func() { n.answer(id, call, first) })
	}
	return id, nil
}

// Close ends the session; see session.Session.
func (n *counting) Close(ctx context.Context) error {
	n.stop()
	err := n.Session.Close(ctx)
	n.relaying.Wait()
	return err
}

// relay passes the events on, except answers that wait.
func (n *counting) relay() {
	for e := range n.Session.Events() {
		n.mu.Lock()
		if call := n.calls[e.ID]; e.IsAnswer() && call != nil {
			call.answers = append(call.answers, e)
			if e.Done != nil {
				close(call.done)
			}
		} else {
			n.note(e)
			n.stream.Push(e)
		}
		n.mu.Unlock()
	}
	n.stop()
	n.asking.Wait()
	n.stream.End(context.Background())
}

// note notes which ranks stand.
func (n *counting) note(e session.Event) {
	switch e.Group.Kind {
	case protocol.KindStopped:
		if n.runs {
			break
		}
		n.held = n.held.Union(e.Group.Ranks)
	case protocol.KindRunning, protocol.KindExited, protocol.KindSignalled:
		n.held = n.held.Minus(e.Group.Ranks)
	}
}

// answer asks RAS, and gives the answers to a call with what it has told. first is an answer of RAS that is there
// already, or nil.
func (n *counting) answer(id protocol.RequestID, call *countedCall, first *nccl.Reply) {
	var replies []*nccl.Reply
	var bad error
	look := func() {
		if bad == nil && n.ctx.Err() == nil {
			var r *nccl.Reply
			if r, bad = n.ask(n.ctx); bad == nil {
				replies = append(replies, r)
			}
		}
	}
	if first != nil {
		replies = append(replies, first)
	} else {
		look()
	}
	n.pause(n.ctx, apart)
	n.await(call)
	look()
	n.pause(n.ctx, apart)
	look()

	n.mu.Lock()
	defer n.mu.Unlock()
	if len(replies) == 3 {
		behind := nccl.Behind(replies, n.numbers)
		for i := range call.answers {
			g := &call.answers[i].Group
			g.Waits = g.Waits.WithCounts(behind, n.unseen)
		}
	}
	n.give(id, call, bad)
}

// await waits until all answers to a call are there, or the session is over.
func (n *counting) await(call *countedCall) {
	select {
	case <-call.done:
	case <-n.ctx.Done():
	}
}

// give gives the answers to a call. bad is why RAS did not answer, or nil. The lock must be held.
func (n *counting) give(id protocol.RequestID, call *countedCall, bad error) {
	if bad != nil && n.ctx.Err() == nil && !n.told {
		n.told = true
		n.remark("who is behind in which communicator is not known: " + bad.Error())
	}
	delete(n.calls, id) // what comes now passes
	n.stream.Push(call.answers...)
}

// compare asks RAS, and gives the answers to a call of stacks with progress: it is none that a rank polls which has
// waited for the same collective since the call before.
func (n *counting) compare(id protocol.RequestID, call *countedCall) {
	n.await(call)
	r, bad := n.ask(n.ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if bad == nil && n.before != nil {
		var in rank.Set
		for _, c := range nccl.Behind([]*nccl.Reply{n.before, r}, n.numbers) {
			in = in.Union(c.In)
		}
		for i := range call.answers {
			g := &call.answers[i].Group
			g.Columns = slices.Clone(g.Columns)
			for k := range g.Columns {
				if g.Columns[k].Name == protocol.Progress {
					g.Columns[k] = withoutPolls(g.Columns[k], in)
				}
			}
		}
	}
	n.before = r
	n.give(id, call, bad)
}

// withoutPolls returns a column of progress in which the stacks of some ranks do not count.
func withoutPolls(c column.Column, in rank.Set) column.Column {
	ranks := map[string]rank.Set{}
	for _, v := range c.Values() {
		words := slices.DeleteFunc(strings.Split(v.Value, ","), func(w string) bool { return w == protocol.ProgressStack })
		other := strings.Join(words, ",")
		if other == "" {
			other = protocol.ProgressNone
		}
		ranks[v.Value] = ranks[v.Value].Union(v.Ranks.Minus(in))
		ranks[other] = ranks[other].Union(v.Ranks.Intersect(in))
	}
	if !c.Complete() {
		return c
	}
	var values []column.ValueCount
	for value, some := range ranks {
		if !some.IsEmpty() {
			values = append(values, column.ValueCount{Value: value, Ranks: some})
		}
	}
	return column.OfValues(c.Name, values, c.Limit())
}
