// State of one front end.

package ptp

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// front is one front end and its session.
type front struct {
	log     *slog.Logger
	out     *queue
	settled chan struct{} // capacity 1: an action has ended

	opened chan struct{} // closed when the fields below are set
	sess   session.Session
	failed error // why there is no session
	all    rank.Set

	actions sync.WaitGroup
	waiting []*action // actions that may not have ended; used by the loop
	held    stops     // stops that have not been reported; used by the loop

	mu       sync.Mutex
	begun    bool     // START SESSION has come
	little   rank.Set // ranks that are little-endian
	killed   rank.Set // ranks whose TERMINATE was answered with OK
	states   *session.States
	changed  chan struct{} // closed and replaced when states changes
	calls    map[protocol.RequestID]*call
	breaks   breaks
	partials partials
	late     lateActions
	owed     owed
	spots    spots          // where the ranks stand, as far as Eclipse was told
	laidOut  map[string]int // expressions whose values were read from memory, with the bytes that were
}

func newFront(log *slog.Logger) *front {
	return &front{
		log: log, out: newQueue(), opened: make(chan struct{}), settled: make(chan struct{}, 1),
		changed: make(chan struct{}), calls: map[protocol.RequestID]*call{},
	}
}

// feed updates the states of the ranks.
func (f *front) feed(e session.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states.Feed(e)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *front) ended() rank.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states.Ended()
}

// awaitStopped waits until all ranks of a set have stopped or ended, or are watched. Eclipse shows watched
// ranks as running, which they do: it takes ranks for running until it is told of a stop.
func (f *front) awaitStopped(ctx context.Context, ranks rank.Set) {
	f.awaitStates(ctx, func(s *session.States) bool { return s.NoneRuns(ranks.Minus(s.In(session.Watched))) })
}

// awaitEnd waits until all ranks of a set have ended. Their output has been received then.
func (f *front) awaitEnd(ctx context.Context, ranks rank.Set) {
	f.awaitStates(ctx, func(s *session.States) bool { return ranks.Minus(s.Ended()).IsEmpty() })
}

// awaitStates waits until a condition holds for the states of the ranks, or ctx is done.
func (f *front) awaitStates(ctx context.Context, holds func(*session.States) bool) {
	for {
		f.mu.Lock()
		done, changed := holds(f.states), f.changed
		f.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// in returns which of some ranks are in one of the states.
func (f *front) in(ranks rank.Set, states ...session.State) rank.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	return ranks.Intersect(f.states.In(states...))
}

// call is a call of the session whose answers are awaited.
type call struct {
	id     protocol.RequestID
	groups []protocol.Group
	done   chan struct{} // closed when all have come, or its wait is over
	keeps  bool          // late answers are added
	more   chan struct{} // closed and replaced when a late answer has come
}

// answer adds an answer to its call. It drops late answers to a call that has ended: the front end has
// been told that there is none.
func (f *front) answer(e session.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[e.ID]
	switch {
	case c == nil:
	case e.Done != nil:
		if !c.keeps {
			delete(f.calls, e.ID)
		}
		close(c.done)
	default:
		c.groups = append(c.groups, e.Group)
		close(c.more)
		c.more = make(chan struct{})
	}
}

// do makes a call of the session; keeps tells that late answers are wanted, until dropCalls. It holds the
// lock until the call is registered, because the loop may receive the answers at once.
func (f *front) do(ctx context.Context, c session.Call, keeps bool) (*call, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, err := f.sess.Do(ctx, c)
	if err != nil {
		return nil, err
	}
	waiting := &call{id: id, done: make(chan struct{}), keeps: keeps, more: make(chan struct{})}
	f.calls[id] = waiting
	return waiting, nil
}

// groupsOf returns the answers that have come.
func (f *front) groupsOf(c *call) []protocol.Group {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(c.groups)
}

// guard executes one step of the loop, and recovers from a panic in it.
func (f *front) guard(op string, do func()) *protocol.Fault {
	bad, stack := protocol.Guard(op, do)
	if bad != nil {
		f.defect(bad, stack)
	}
	return bad
}

// defect logs a panic.
func (f *front) defect(bad *protocol.Fault, stack []byte) {
	f.log.Error(bad.Message+": "+protocol.Report, "command", bad.Op, "stack", string(stack))
}
