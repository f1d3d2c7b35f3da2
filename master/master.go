// Package master provides the root of the tree as a session: it keeps the requests, the states of
// the ranks and the persistent commands, and serves front ends.
package master

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
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
// New starts one goroutine besides the stream's: run, which lives as long as the root of the tree
// and then completes what is outstanding. Close ends both and waits for them.
type Master struct {
	cfg     Config
	started time.Time
	stream  *session.Stream
	root    root
	// stop ends the root at once; run closes finished when it returns.
	stop     context.CancelFunc
	finished chan struct{}

	ways map[string]way

	mu           sync.Mutex
	phase        phase
	routes       routes
	states       *session.States
	job          jobTracker
	namedSets    map[string]rank.Set
	requests     *requests
	calls        map[protocol.RequestID]*openCall
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

var _ session.Session = (*Master)(nil)

// New makes a master without a tree. The caller must call Init next, and Close at the end.
func New(cfg Config) (*Master, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &Master{
		ways: ways, cfg: cfg.withDefaults(), started: time.Now(), stream: session.NewStream(),
		stop: stop, finished: make(chan struct{}),
		states: session.NewStates(rank.Set{}), namedSets: map[string]rank.Set{}, job: jobTracker{name: cfg.Job},
		calls:      map[protocol.RequestID]*openCall{},
		breakpoint: map[protocol.RequestID]int{}, collectors: map[protocol.RequestID]*collector{},
		programs: programs{ask: cfg.CheckProgram, known: map[string]error{}},
	}
	m.sampler.m = m
	m.requests = newRequests(func(s rank.Set) []string { return m.routes.hostsOf(s) })
	m.root = m.cfg.newRoot(func(msg wire.Message) { m.up(ctx, msg) })
	go m.run(ctx)
	return m, nil
}

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
	m.push(e)
}

// Close sends quit down the tree and waits until all servers have ended; see session.Session. If
// ctx is done first, it closes the links, which the servers take as a lost master, and returns an
// error that wraps the error of ctx.
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
