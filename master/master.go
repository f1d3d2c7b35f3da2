// Package master provides the root of the tree as a session: it keeps the requests, the states of
// the ranks and the persistent commands, and serves front ends.
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

// phase is the progress of the session.
type phase uint8

const (
	fresh    phase = iota // Init has not been called
	building              // Init is in progress
	up                    // the tree is built: all servers are ready, or some with Config.Partial
	failed                // Init is complete, and required servers are not ready
	closing               // quit has been sent
	over                  // the root of the tree has ended
)

// Master is a session at the root of the tree. All methods may be called from any goroutine.
//
// New starts one goroutine besides that of the stream: run, which lives as long as the root of the
// tree and then completes what is outstanding. Close ends both and waits for them.
type Master struct {
	cfg     Config
	started time.Time
	stream  *session.Stream
	root    root
	// stop ends the root at once; run closes finished when it returns.
	stop     context.CancelFunc
	finished chan struct{}

	mu           sync.Mutex
	phase        phase
	routes       routes
	states       *session.States
	job          jobWatch
	groups       map[string]rank.Set
	requests     *requests
	lastID       protocol.RequestID
	lastBreak    int
	lastDisplay  int
	persistent   persistentCommands
	aborts       aborts
	breakpoint   map[protocol.RequestID]int // number that an outstanding "break" sets
	programs     programs
	init         *treeBuild
	never        never                             // servers that were not ready when the tree was built
	collectors   map[protocol.RequestID]*collector // answers that the master itself awaits
	lastInternal protocol.RequestID
	sampler      sampler
	quits        []quitting  // unanswered calls of quit
	quitLimit    *time.Timer // ends the wait of quits
}

type quitting struct {
	id protocol.RequestID
	at time.Duration
}

var _ session.Session = (*Master)(nil)

// New makes a master without a tree. The caller must call Init next, and Close at the end.
func New(cfg Config) (*Master, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &Master{
		cfg: cfg.withDefaults(), started: time.Now(), stream: session.NewStream(),
		stop: stop, finished: make(chan struct{}),
		states: session.NewStates(rank.Set{}), groups: map[string]rank.Set{}, job: jobWatch{name: cfg.Job},
		breakpoint: map[protocol.RequestID]int{}, collectors: map[protocol.RequestID]*collector{},
		programs: programs{ask: cfg.CheckProgram, known: map[string]error{}},
	}
	m.sampler.m = m
	m.requests = newRequests(func(s rank.Set) []string { return m.routes.hostsOf(s) })
	m.root = m.cfg.newRoot(func(msg wire.Message) { m.up(ctx, msg) })
	go m.run(ctx)
	return m, nil
}

// now returns the time since the session began, the clock of the request table.
func (m *Master) now() time.Duration { return time.Since(m.started) }

// Events returns the stream of the session; see session.Session.
func (m *Master) Events() <-chan session.Event { return m.stream.Events() }

// run runs the root of the tree and then completes what is outstanding.
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
	m.sampler.end()
	m.answerQuits()
	if m.quitLimit != nil {
		m.quitLimit.Stop()
	}
	m.mu.Unlock()
	m.stream.End(ctx)
}

// lose reports ranks as lost because the root of the tree has ended.
func (m *Master) lose(ranks rank.Set, cause string) {
	ranks = ranks.Minus(m.states.Ended())
	if ranks.IsEmpty() {
		return
	}
	e := session.NewEvent(missingGroup(protocol.KindLost, ranks, cause, nil))
	m.states.Feed(e)
	m.stream.Push(e)
}

// answerQuits answers the calls of quit.
func (m *Master) answerQuits() {
	n := m.states.All().Len()
	for _, q := range m.quits {
		m.stream.Push(session.Event{Name: session.DoneName, ID: q.id, Command: "quit",
			Done: &session.Done{Asked: n, Answered: n, Took: m.now() - q.at}})
	}
	m.quits = nil
}

// up receives packets from the root of the tree. It blocks while the stream is full.
func (m *Master) up(ctx context.Context, msg wire.Message) {
	if m.stream.Room(ctx) != nil {
		return // the session has been ended
	}
	m.take(msg)
}

// take processes a packet. If that panics, only this packet is lost, and a note to all front ends
// says so. If it is a reply, ranks that have not answered yet get the fault as their answer.
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
		if msg.Kind == wire.Reply {
			m.replyFault(msg.ID, f)
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

// events forwards events of ranks. Lost servers are not reported once the session ends.
func (m *Master) events(groups []protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindLost && m.phase >= closing {
			continue
		}
		var incomplete []session.Event
		if g.Kind == protocol.KindLost { // it names the host of the lost child only
			incomplete = m.noteIncomplete(g)
			g = m.aborts.withCause(m.requests.joinMissing([]protocol.Group{g})[0], m.states)
		}
		g, some := m.sampler.filter(g)
		if !some {
			continue
		}
		m.report(g)
		m.stream.Push(incomplete...)
	}
}

// report enters an event into the table and sends it to front ends.
func (m *Master) report(g protocol.Group) {
	e := session.NewEvent(g)
	m.states.Feed(e)
	m.aborts.observe(g)
	if j, news := m.job.after(g.Kind, m.states); news { // before the last end, after which users may quit
		m.stream.Push(session.NewEvent(protocol.Group{Kind: protocol.KindJob, Ranks: m.states.All(),
			Body: canonical.JSON(j)}))
	}
	m.stream.Push(e)
	if g.Kind == protocol.KindStopped && len(m.persistent.list) > 0 || g.Kind == protocol.KindLogged &&
		m.persistent.countsDown() {
		var stop protocol.Stop // or protocol.Logged, which has the same field
		switch err := json.Unmarshal(g.Body, &stop); {
		case err == nil && (stop.Temporary || stop.Reason == protocol.WatchpointScope):
			m.persistent.forget(stop.Breakpoint, g.Ranks)
		case err == nil:
			m.persistent.reached(stop.Breakpoint, g.Ranks)
		}
	}
	if g.Kind == protocol.KindStarted {
		m.stream.Push(m.programs.warn(g)...)
	}
}

// replyFault completes Init or a request whose reply could not be processed.
func (m *Master) replyFault(id protocol.RequestID, f *protocol.Fault) {
	if m.init != nil && id == m.init.id {
		if m.init.abort(f) {
			m.phase = max(m.phase, failed)
		}
		return
	}
	if r := m.requests.byID[id]; r != nil {
		m.deliver(m.requests.reply(m.now(), wire.Message{ID: id, Flags: wire.Final, Groups: []protocol.Group{
			{Kind: protocol.KindFault, Ranks: r.owed, Body: canonical.JSON(f)}}}))
	}
}

func (m *Master) reply(msg wire.Message) {
	events := m.requests.reply(m.now(), msg)
	defer m.deliver(events) // deferred: after a panic too, because the table has these answers
	for _, e := range events {
		switch {
		case e.Done != nil:
			m.reclaimNumber(e)
		case e.Group.Kind == protocol.KindFault:
			m.persistent.refused(e.ID, e.Group.Ranks)
		case e.Command == "break" && e.Group.Kind == protocol.KindResult:
			m.persistent.located(e.ID, e.Group)
		case e.Command == "clear" && e.Group.Kind == protocol.KindResult:
			var body clearedNumbers
			if json.Unmarshal(e.Group.Body, &body) == nil {
				for _, n := range body.Deleted {
					m.persistent.forget(n, e.Group.Ranks)
				}
			}
		}
	}
}

// reclaimNumber makes the number of a breakpoint free again if no rank could set it and no later
// number has been given: a typing error costs no number.
func (m *Master) reclaimNumber(e session.Event) {
	n, ok := m.breakpoint[e.ID]
	if !ok {
		return
	}
	delete(m.breakpoint, e.ID)
	if e.Done.Faults == e.Done.Asked && n == m.lastBreak {
		m.lastBreak--
	}
}

// Close sends quit down the tree and waits until all servers have ended; see session.Session. If
// ctx is done first, it closes the links, which the servers take as a lost master, and returns an
// error that wraps that of ctx.
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

// quit sends the end of the session down the tree, once. The limit of the stream is lifted: there
// may be no reader any more, and the last packets of the servers must still be processed.
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
