// Package talk asks a session and waits for the answers, for front ends without a loop of their own: each question
// takes so long as its context, and what happens besides is kept.
package talk

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Talk is one front end's talk with a session. All methods may be called from any goroutine.
//
// Goroutine: New starts one that reads the events of the session, and ends with them.
type Talk struct {
	session session.Session
	over    chan struct{} // closed when the events have ended

	mu      sync.Mutex
	states  *session.States
	answers map[protocol.RequestID]*Answer
	order   []protocol.RequestID // of answers, the oldest first
	kept    []session.Event
	bytes   int           // of the bodies in kept
	first   uint64        // number of kept[0]
	cursor  uint64        // of the last event of a session that several share
	changed chan struct{} // closed at the next event
}

// Answer is what a call has been answered so far.
type Answer struct {
	ID      protocol.RequestID
	Command string
	Groups  []protocol.Group
	bytes   int // of the bodies of Groups
	// Left are the groups that were not kept, since the others are too large together.
	Left int
	// Done is complete; nil: some ranks have not answered yet, and Await goes on.
	Done *session.Done
}

// Results returns the ranks with results.
func (a Answer) Results() rank.Set { return protocol.RanksOf(a.Groups, protocol.KindResult) }

// Bounds of what is kept: events with the bytes of their bodies, and answers.
const (
	maxKept      = 4096
	maxKeptBytes = 1 << 20
	maxAnswers   = 64
	maxAnswer    = 16 << 20 // bytes of the bodies of an answer
)

// New begins to talk with a session with these ranks. Nobody else may read its events.
func New(s session.Session, all rank.Set) *Talk {
	t := &Talk{session: s, over: make(chan struct{}), states: session.NewStates(all), first: 1,
		answers: map[protocol.RequestID]*Answer{}, changed: make(chan struct{})}
	go func() {
		for e := range s.Events() {
			t.take(e)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		close(t.over)
		t.wake()
	}()
	return t
}

// ErrOver is the error of a question when the session has ended.
var ErrOver = errors.New("the session has ended")

// take processes an event.
func (t *Talk) take(e session.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.wake()
	switch {
	case !e.IsAnswer():
		t.states.Feed(e)
		t.cursor = max(t.cursor, e.Cursor)
		t.keep(e)
	case e.Late:
	case e.Done != nil:
		a := t.answer(e.ID)
		a.Done = e.Done
	default:
		t.answer(e.ID).add(e.Group)
	}
}

// add adds a group, unless there is too much already.
func (a *Answer) add(g protocol.Group) {
	if a.bytes += len(g.Body); a.bytes > maxAnswer && len(a.Groups) > 0 {
		a.Left++
		return
	}
	a.Groups = append(a.Groups, g)
}

// keep adds an event to those that Since returns.
func (t *Talk) keep(e session.Event) {
	t.kept, t.bytes = append(t.kept, e), t.bytes+len(e.Group.Body)
	for len(t.kept) > maxKept || t.bytes > maxKeptBytes && len(t.kept) > 1 {
		t.bytes -= len(t.kept[0].Group.Body)
		t.kept[0] = session.Event{}
		t.kept, t.first = t.kept[1:], t.first+1
	}
}

// wake tells who waits that something has changed. The lock must be held.
func (t *Talk) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// answer returns the answer with a number: it may come before the number is known. The lock must be held.
func (t *Talk) answer(id protocol.RequestID) *Answer {
	a := t.answers[id]
	if a == nil {
		a = &Answer{ID: id}
		t.answers[id] = a
		if t.order = append(t.order, id); len(t.order) > maxAnswers {
			delete(t.answers, t.order[0])
			t.order = t.order[1:]
		}
	}
	return a
}

// Ask makes a call and waits for its answers. If the time of the context is over first, the answer is what has come
// until then, and Await goes on. If the context is cancelled, the error is its, and a call that only looks is
// cancelled, too. The error is a *protocol.Fault if the call is refused; the session cannot be reached otherwise.
func (t *Talk) Ask(ctx context.Context, c session.Call) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{Command: c.Command}, err
	}
	id, err := t.session.Do(ctx, c)
	if err != nil {
		return Answer{Command: c.Command}, err
	}
	t.mu.Lock()
	t.answer(id).Command = c.Command
	t.mu.Unlock()
	a, err := t.Await(ctx, id)
	if a.Done == nil && err == nil && errors.Is(ctx.Err(), context.Canceled) {
		if info, known := protocol.LookupCommand(c.Command); known && protocol.PermissionFor(info, c.Args) == protocol.Look {
			_ = t.Cancel(ctx, id) // or it ends by itself
		}
		return a, ctx.Err()
	}
	return a, err
}

// cancelTime bounds Cancel: the answer to it comes from the session, not from the ranks.
const cancelTime = time.Second

// Cancel gives a call up: its answer is complete with what has come until then. It is refused for what would remain
// half done. An end of the context does not prevent it.
func (t *Talk) Cancel(ctx context.Context, id protocol.RequestID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_, err := t.session.Do(ctx, session.Call{Command: "cancel", Args: protocol.Args{Of: id}})
	return err
}

// Await waits for the answers to an earlier call as Ask does.
func (t *Talk) Await(ctx context.Context, id protocol.RequestID) (Answer, error) {
	var found Answer
	known := true
	err := t.until(ctx, func() bool {
		a := t.answers[id]
		if known = a != nil; !known {
			return true
		}
		found = *a
		found.Groups = slices.Clone(a.Groups)
		return a.Done != nil
	})
	switch {
	case !known:
		return Answer{ID: id}, errors.New("there is no such call any more")
	case found.Done == nil && errors.Is(err, ErrOver):
		return found, err
	}
	return found, nil
}

// until waits until is is true, which is called with the lock held; its error is that of the context, or ErrOver.
func (t *Talk) until(ctx context.Context, is func() bool) error {
	for {
		t.mu.Lock()
		fulfilled, changed := is(), t.changed
		t.mu.Unlock()
		if fulfilled {
			return nil
		}
		select {
		case <-t.over:
			return ErrOver
		default:
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Wrote waits until ranks have written something after the event with a number.
func (t *Talk) Wrote(ctx context.Context, number uint64) (*session.States, error) {
	err := t.until(ctx, func() bool {
		return slices.ContainsFunc(t.after(number), func(e session.Event) bool { return e.Group.Kind.IsOutput() })
	})
	return t.States(), err
}

// Heard waits until so many events have come: those of the snapshot of a session that several share.
func (t *Talk) Heard(ctx context.Context, events int) error {
	return t.until(ctx, func() bool { return t.first-1+uint64(len(t.kept)) >= uint64(events) })
}

// Stand waits until ranks that were resumed after the event with a number have run, and none runs any more.
func (t *Talk) Stand(ctx context.Context, ranks rank.Set, number uint64) (*session.States, error) {
	err := t.until(ctx, func() bool { return t.ran(ranks, number) && t.states.NoneRuns(ranks) })
	return t.States(), err
}

// ran reports whether ranks have run after the event with a number, as far as events are kept. The lock must be held.
func (t *Talk) ran(ranks rank.Set, number uint64) bool {
	for _, e := range t.after(number) {
		if k := e.Group.Kind; k == protocol.KindRunning || k == protocol.KindStopped || k.IsEnd() {
			ranks = ranks.Minus(e.Group.Ranks)
		}
	}
	return ranks.IsEmpty() || number+1 < t.first
}

// Settle waits as Stand does, but not for ranks that run on while others stand and nothing has happened for some time:
// those of MPI then wait for the ones that stand. It tells whether all stand.
func (t *Talk) Settle(ctx context.Context, ranks rank.Set, number uint64, quiet time.Duration,
) (*session.States, bool, error) {
	for before := uint64(0); ; {
		beat, cancel := context.WithTimeout(ctx, quiet)
		states, err := t.Stand(beat, ranks, number)
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrOver) {
			return states, err == nil, err
		}
		t.mu.Lock()
		now, ran := t.first-1+uint64(len(t.kept)), t.ran(ranks, number)
		t.mu.Unlock()
		if ran && now == before && states.In(session.Stopped).Union(states.Ended()).Intersects(ranks) {
			return states, false, nil
		}
		before = now
	}
}

// after returns the events after the one with a number, as far as they are kept. The lock must be held.
func (t *Talk) after(number uint64) []session.Event {
	return t.kept[min(max(number+1, t.first)-t.first, uint64(len(t.kept))):]
}

// Reach waits until the states of the ranks are as wanted, or the context or the session ends, and returns them.
func (t *Talk) Reach(ctx context.Context, wanted func(*session.States) bool) (*session.States, error) {
	err := t.until(ctx, func() bool { return wanted(t.states) })
	return t.States(), err
}

// States returns how the ranks stand.
func (t *Talk) States() *session.States {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states.Clone()
}

// Since returns the events after the one with a number, which Next has returned, and how many of them were not kept.
func (t *Talk) Since(number uint64) (events []session.Event, missed uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if number+1 < t.first {
		missed = t.first - 1 - number
	}
	return slices.Clone(t.after(number)), missed
}

// Next returns the number of the last event.
func (t *Talk) Next() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first - 1 + uint64(len(t.kept))
}

// Cursor returns the cursor of the last event of a session that several share; see session.Shared.
func (t *Talk) Cursor() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cursor
}

// Over returns a channel that is closed when the session has ended.
func (t *Talk) Over() <-chan struct{} { return t.over }
