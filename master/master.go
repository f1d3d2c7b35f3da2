// Package master provides the root of the tree as a session: which request
// awaits whom, what the ranks are doing, and what front ends see of it.
package master

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// phase is how far the session has come.
type phase uint8

const (
	fresh    phase = iota // no tree was asked for yet
	building              // Init is under way
	up                    // all servers are ready
	failed                // Init was answered, and not all are ready that must be
	closing               // quit was said
	over                  // the tree is gone
)

// Master is a session at the root of the tree. All methods may be called from
// any goroutine.
//
// New starts one goroutine beside the stream's: run, which lives as long as the
// root of the tree and then ends what is open. Close ends both and waits.
type Master struct {
	cfg     Config
	started time.Time
	stream  *session.Stream
	root    root
	// stop ends the root without kindness; run closes finished when all is over.
	stop     context.CancelFunc
	finished chan struct{}

	mu          sync.Mutex
	phase       phase
	routes      routes
	states      *session.States
	job         jobWatch
	groups      map[string]rank.Set
	requests    *requests
	lastID      protocol.RequestID
	lastBreak   int
	lastDisplay int
	given       given
	aborts      aborts
	breakpoint  map[protocol.RequestID]int // number that an open "break" is to give
	programs    programs
	init        *gathering
	never       never                         // ranks whose server was not there when the tree was built
	inner       map[protocol.RequestID]*inner // what waits for answers here
	lastInner   protocol.RequestID
	sampling    *sampling   // nil: none is under way
	late        late        // after samples
	quits       []quitting  // calls of quit that are to be answered
	quitLimit   *time.Timer // bounds them
}

type quitting struct {
	id protocol.RequestID
	at time.Duration
}

var _ session.Session = (*Master)(nil)

// New makes a master that has no tree yet: Init is next, and Close is owed.
func New(cfg Config) (*Master, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &Master{
		cfg: cfg.withDefaults(), started: time.Now(), stream: session.NewStream(),
		stop: stop, finished: make(chan struct{}),
		states: session.NewStates(rank.Set{}), groups: map[string]rank.Set{}, job: jobWatch{name: cfg.Job},
		breakpoint: map[protocol.RequestID]int{}, inner: map[protocol.RequestID]*inner{},
		programs: programs{ask: cfg.CheckProgram, known: map[string]error{}},
	}
	m.requests = newRequests(func(s rank.Set) []string { return m.routes.hostsOf(s) })
	m.root = m.cfg.newRoot(func(msg wire.Message) { m.up(ctx, msg) }, m.tryUp)
	go m.run(ctx)
	return m, nil
}

// now is the time since the session began, the clock of the request table.
func (m *Master) now() time.Duration { return time.Since(m.started) }

// Events is the one stream of the session; see session.Session.
func (m *Master) Events() <-chan session.Event { return m.stream.Events() }

// run lives with the root of the tree and afterwards ends what is open.
func (m *Master) run(ctx context.Context) {
	defer close(m.finished)
	defer m.stop()
	err := m.root.Run(ctx)
	cause := "the session has ended"
	if err != nil && ctx.Err() == nil {
		cause = err.Error()
		m.cfg.Log.Error("the root of the tree has ended", "err", err)
	}
	m.mu.Lock()
	if m.phase == up {
		m.lose(m.states.All(), cause)
	}
	m.phase = over
	if m.init != nil {
		m.init.fail(cause)
	}
	m.deliver(m.requests.fail(m.now(), cause))
	if m.sampling != nil {
		m.sampling.finish()
	}
	m.answerQuits()
	if m.quitLimit != nil {
		m.quitLimit.Stop()
	}
	m.mu.Unlock()
	m.stream.End(ctx)
}

// lose tells that ranks are gone because the root of the tree is.
func (m *Master) lose(ranks rank.Set, cause string) {
	ranks = ranks.Minus(m.states.Ended())
	if ranks.IsEmpty() {
		return
	}
	e := session.NewEvent(silence(protocol.KindLost, ranks, cause, nil))
	m.states.Feed(e)
	m.stream.Push(e)
}

// answerQuits gives the calls of quit their answer: all is over.
func (m *Master) answerQuits() {
	n := m.states.All().Len()
	for _, q := range m.quits {
		m.stream.Push(session.Event{Name: session.DoneName, ID: q.id, Command: "quit",
			Done: &session.Done{Asked: n, Answered: n, Took: m.now() - q.at}})
	}
	m.quits = nil
}

// up takes in what comes up from the root of the tree. It blocks while the
// consumer of Events is far behind.
func (m *Master) up(ctx context.Context, msg wire.Message) {
	if m.stream.Room(ctx) != nil {
		return // the session has been torn down
	}
	m.take(msg)
}

// tryUp is up on the loop of the tree, while the consumer keeps up.
func (m *Master) tryUp(msg wire.Message) bool {
	if !m.stream.HasRoom() {
		return false
	}
	m.take(msg)
	return true
}

// take takes what has come up. Should that panic, it costs this packet: who waits for an answer that was in it is
// answered with the fault, and everybody is told.
func (m *Master) take(msg wire.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() {
		why := recover()
		if why == nil {
			return
		}
		f := m.defect("", why)
		m.explain(0, "", rank.Set{}, f.Error()+": what has just come from the ranks may be incomplete")
		if r := m.requests.byID[msg.ID]; msg.Kind == wire.Reply && r != nil && !msg.ID.IsInner() {
			m.stream.Push(m.requests.reply(m.now(), wire.Message{ID: msg.ID, Flags: wire.Final, Groups: []protocol.Group{
				{Kind: protocol.KindFault, Ranks: r.owed, Body: canonical.JSON(f)}}})...)
		}
	}()
	switch {
	case msg.Kind == wire.Events:
		m.events(msg.Groups)
	case msg.Kind == wire.Reply && m.init != nil && msg.ID == m.init.id:
		m.init.reply(msg)
	case msg.Kind == wire.Reply:
		m.reply(msg)
	}
}

// events hands on what happened to ranks. That servers go is no loss once the
// session ends.
func (m *Master) events(groups []protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindLost && m.phase >= closing {
			continue
		}
		var torn []session.Event
		if g.Kind == protocol.KindLost { // the hosts are known here, not where it was seen
			torn = m.torn(g)
			g = m.aborts.ended(m.requests.silent([]protocol.Group{g})[0], m.states)
		}
		var some bool
		if g, some = m.swallowLate(g); !some {
			continue
		}
		if s := m.sampling; s != nil {
			if g, some = s.swallow(g); !some {
				continue
			}
		}
		m.tell(g)
		m.stream.Push(torn...)
	}
}

// tell enters what happened to ranks into the table and gives it to front ends.
func (m *Master) tell(g protocol.Group) {
	e := session.NewEvent(g)
	m.states.Feed(e)
	m.aborts.heed(g)
	if j, news := m.job.after(g.Kind, m.states); news { // before it: who waits for the last end may then go
		m.stream.Push(session.NewEvent(protocol.Group{Kind: protocol.KindJob, Ranks: m.states.All(), Body: canonical.JSON(j)}))
	}
	m.stream.Push(e)
	if g.Kind == protocol.KindStopped && len(m.given.list) > 0 || g.Kind == protocol.KindLogged && m.given.countsDown() {
		var stop protocol.Stop // or protocol.Logged, whose field this is, too
		switch err := json.Unmarshal(g.Body, &stop); {
		case err == nil && (stop.Temporary || stop.Reason == protocol.WatchpointScope):
			m.given.forget(stop.Breakpoint, g.Ranks)
		case err == nil:
			m.given.reached(stop.Breakpoint, g.Ranks)
		}
	}
	if g.Kind == protocol.KindStarted {
		m.stream.Push(m.programs.warn(g)...)
	}
}

func (m *Master) reply(msg wire.Message) {
	events := m.requests.reply(m.now(), msg)
	for _, e := range events {
		switch {
		case e.Done != nil:
			m.settleBreakpoint(e)
		case e.Group.Kind == protocol.KindFault:
			m.given.refused(e.ID, e.Group.Ranks)
		case e.Command == "break" && e.Group.Kind == protocol.KindResult:
			m.given.located(e.ID, e.Group)
		case e.Command == "clear" && e.Group.Kind == protocol.KindResult:
			var body clearedNumbers
			if json.Unmarshal(e.Group.Body, &body) == nil {
				for _, n := range body.Deleted {
					m.given.forget(n, e.Group.Ranks)
				}
			}
		}
	}
	m.deliver(events)
}

// settleBreakpoint gives the number of a breakpoint back when no rank could set
// it and no later one was given out: a slip of the keyboard costs no number.
func (m *Master) settleBreakpoint(e session.Event) {
	n, ok := m.breakpoint[e.ID]
	if !ok {
		return
	}
	delete(m.breakpoint, e.ID)
	if e.Done.Faults == e.Done.Asked && n == m.lastBreak {
		m.lastBreak--
	}
}

// Close says quit down the tree and waits until all servers have gone; see
// session.Session. When ctx is over first, links are cut, which the servers take
// as a lost master, and the error says so.
func (m *Master) Close(ctx context.Context) error {
	m.mu.Lock()
	m.quit()
	m.mu.Unlock()
	select {
	case <-m.finished:
		return nil
	case <-ctx.Done():
	}
	m.stop()
	<-m.finished
	return fmt.Errorf("the servers have not all gone in time: %w", ctx.Err())
}

// quit sends the end of the session down the tree, once. The bound of the
// stream is lifted: nobody may be reading any more, and the farewells of the
// servers must still be seen.
func (m *Master) quit() {
	if m.phase >= closing {
		return
	}
	m.stream.Lift()
	if m.phase == fresh {
		m.stop()
	} else {
		m.root.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Quit}})
	}
	m.phase = closing
}
