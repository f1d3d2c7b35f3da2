// Package hub lets several front ends share one session: each has a session.Session of its own.
//
//	front end 1 ── View ─┐                          ┌─ answers: to the front end that asked
//	front end 2 ── View ─┼─ Do ─→ session ─ events ─┤
//	front end 3 ── View ─┘                          └─ all else: to everybody, and into the record
//
// What ranks do is everybody's, and so is who did what: each command that is no mere look is told to all before its
// effects. A front end that comes gets a snapshot of the states of the ranks, what nobody has seen yet, and then all
// events, each once. One that cannot be reached or does not read gets a gap instead, and then a snapshot.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Config configures a hub. Session must be set.
type Config struct {
	// Session is the session that is shared. The hub is the consumer of its events.
	Session session.Session
	// Ranks are all ranks of the job.
	Ranks rank.Set
	// Welcome is told to each front end: the name of the session, its first call until that was given, and how it
	// ends.
	Welcome session.Welcome
	// Kept bounds the record of events, in bytes of their bodies; 0 is DefaultKept.
	Kept int
	// Observe is called with each event, in order: those that all get, with their numbers, and all answers. It must
	// return at once and not call the hub. nil: it is not called.
	Observe func(session.Event)
	// Quitting is called once, before the session is told to end for a front end, with the states of the ranks and
	// those that were killed by a command: ranks are still held then. It may take seconds. nil: it is not called.
	Quitting func(states *session.States, killed rank.Set)
	// Output receives what the ranks write, as they write it; nil: only front ends do. An error ends that and is told
	// to all front ends.
	Output io.Writer
}

// DefaultKept is the default of Config.Kept.
const DefaultKept = 16 << 20

// Hub shares a session. All methods may be called from any goroutine.
//
// It starts one goroutine, which consumes the session's events and ends with them, and one for each view that has
// fallen behind, until it reads again or leaves. Wait waits for all.
type Hub struct {
	cfg      Config
	finished chan struct{} // closed when the session's events have ended
	quitting sync.Once     // the call of Config.Quitting
	running  sync.WaitGroup

	mu      sync.Mutex
	record  record
	states  *session.States
	killed  rank.Set // ranks that a command has killed
	views   []*View
	arrived chan struct{} // closed, and replaced, when a view comes or leaves
	fronts  int           // number of front ends so far
	seen    uint64        // cursor up to which some front end has been given the events
	owners  owners
	intents intents
	points  points
	started bool // the first call was given
	ending  bool // a quit was accepted
	over    bool
}

// New begins to share a session. It ends when the session's events end.
func New(cfg Config) *Hub {
	if cfg.Kept == 0 {
		cfg.Kept = DefaultKept
	}
	h := &Hub{
		cfg: cfg, finished: make(chan struct{}), arrived: make(chan struct{}),
		record: record{max: cfg.Kept}, states: session.NewStates(cfg.Ranks),
	}
	h.running.Go(func() {
		defer close(h.finished)
		h.run()
	})
	return h
}

// Done is closed when the session has ended.
func (h *Hub) Done() <-chan struct{} { return h.finished }

// Wait returns when the session has ended and all goroutines of the hub have.
func (h *Hub) Wait() { h.running.Wait() }

// run consumes the session's events.
func (h *Hub) run() {
	for e := range h.cfg.Session.Events() {
		if e.Group.Kind.IsOutput() {
			h.awaitReader()
			h.log(e)
		}
		h.take(e)
	}
	h.mu.Lock()
	h.over = true
	views := slices.Clone(h.views)
	h.mu.Unlock()
	for _, v := range views {
		h.running.Go(func() { v.stream.End(context.Background()) })
	}
}

// log writes output of ranks to Config.Output.
func (h *Hub) log(e session.Event) {
	if h.cfg.Output == nil {
		return
	}
	if _, err := h.cfg.Output.Write(e.Group.Body); err != nil {
		h.cfg.Output = nil
		h.Tell(protocol.KindNote, rank.Set{}, protocol.Note{Text: "the output is logged no more: " + err.Error()})
	}
}

// take gives an event to the front end that it answers, or to all.
func (h *Hub) take(e session.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !e.IsAnswer() {
		h.publish(e)
		if c, some := h.points.reached(e.Group); some {
			h.publishPoints(e, c)
		}
		return
	}
	if e.Command == "kill" && e.Group.Kind == protocol.KindResult {
		h.killed = h.killed.Union(e.Group.Ranks)
	}
	if e.Command == "run" && e.Group.Kind == protocol.KindResult {
		h.killed = h.killed.Minus(e.Group.Ranks)
	}
	h.observe(e)
	if v := h.owners.of(e.ID); v != nil && !v.left {
		v.stream.Push(e)
	}
	h.tellPoints(e)
}

// publish records an event and gives it to all. The lock must be held.
func (h *Hub) publish(e session.Event) {
	h.states.Feed(e)
	e = h.record.add(e)
	h.observe(e)
	for _, v := range h.views {
		v.offer(e)
	}
	if len(h.views) > 0 {
		h.seen = h.record.end()
	}
}

func (h *Hub) observe(e session.Event) {
	if h.cfg.Observe != nil {
		h.cfg.Observe(e)
	}
}

// Tell gives all front ends an event that comes from the hub's side: words of a starter, the state of a job.
func (h *Hub) Tell(kind protocol.Kind, ranks rank.Set, body any) {
	h.Send(session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks, Body: canonical.JSON(body)}))
}

// Send gives all front ends an event.
func (h *Hub) Send(e session.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.publish(e)
	}
}

// Act gives the session a call of nobody, whose answers nobody gets, and tells all why.
func (h *Hub) Act(ctx context.Context, c session.Call, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return ErrOver
	}
	h.publish(session.NewEvent(protocol.Group{Kind: protocol.KindNote, Body: canonical.JSON(protocol.Note{Text: why})}))
	id, err := h.cfg.Session.Do(ctx, c)
	if err == nil {
		h.owners.add(id, nil)
	}
	return err
}

// States returns the states of the ranks, and the ranks that a command has killed, for the end of the job.
func (h *Hub) States() (states *session.States, killed rank.Set) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.states.Clone(), h.killed
}

// Summary tells how the ranks stand and who is there.
func (h *Hub) Summary() session.Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	return session.Summary{States: h.states.Summary(), Fronts: h.others(nil)}
}

// Present returns the front ends that are there, in the order in which they came.
func (h *Hub) Present() []protocol.FrontEnd {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.others(nil)
}

// Started reports whether the first call of the session was given.
func (h *Hub) Started() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.started
}

// Changed returns a channel that is closed when a front end comes or leaves.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.arrived
}

// ErrOver is the error of Join when the session has ended.
var ErrOver = errors.New("the session has ended")

// Join adds a front end. cursor is the cursor up to which it has had the events before, nil if it is new: then it
// gets the events that nobody has had.
func (h *Hub) Join(front protocol.FrontEnd, cursor *uint64) (*View, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.ending {
		return nil, ErrOver
	}
	h.fronts++
	front = front.Clean()
	front.Number, front.Change = h.fronts, ""
	v := &View{hub: h, front: front, stream: session.NewStream()}
	from := h.seen
	if cursor != nil {
		from = min(*cursor, h.record.end())
	}
	missed := h.record.missed(from)
	snapshot, rest := h.record.from(from)
	v.welcome = h.cfg.Welcome
	v.welcome.Front, v.welcome.Others = front, h.others(nil)
	v.welcome.Cursor, v.welcome.Snapshot = h.record.end()-uint64(len(rest)), len(snapshot)
	if h.started {
		v.welcome.Start = nil
	}
	if missed > 0 {
		v.stream.Push(gap(protocol.Gap{Missed: missed, Snapshot: len(snapshot)}))
	}
	v.stream.Push(snapshot...)
	v.stream.Push(rest...)
	h.views = append(h.views, v)
	h.announce(front, "came")
	return v, nil
}

func gap(g protocol.Gap) session.Event {
	return session.NewEvent(protocol.Group{Kind: protocol.KindGap, Body: canonical.JSON(g)})
}

// announce tells all that a front end has come or left. The lock must be held.
func (h *Hub) announce(f protocol.FrontEnd, change string) {
	close(h.arrived)
	h.arrived = make(chan struct{})
	if h.over {
		return
	}
	f.Change = change
	h.publish(session.NewEvent(protocol.Group{Kind: protocol.KindFront, Body: canonical.JSON(f)}))
}

// others returns the front ends besides one. The lock must be held.
func (h *Hub) others(but *View) []protocol.FrontEnd {
	var others []protocol.FrontEnd
	for _, v := range h.views {
		if v != but {
			others = append(others, v.front)
		}
	}
	return others
}

// remove takes a view out of the hub. seen is the cursor up to which the front end has had the events. The lock must
// be held.
func (h *Hub) remove(v *View, seen uint64, change string) {
	v.left = true
	h.views = slices.DeleteFunc(h.views, func(w *View) bool { return w == v })
	if len(h.views) == 0 {
		h.seen = min(seen, h.record.end())
	}
	h.announce(v.front, change)
}

// refuseQuit refuses the first quit of a front end while others are there.
func (h *Hub) refuseQuit(v *View) *protocol.Fault {
	others := h.others(v)
	if len(others) == 0 || v.quits {
		return nil
	}
	v.quits = true
	var names []string
	for _, f := range others {
		name := f.Name
		if f.Host != "" {
			name += " on " + f.Host
		}
		names = append(names, name)
	}
	return &protocol.Fault{
		Kind: protocol.FaultState, Op: "quit",
		Message: fmt.Sprintf("%s %s here, too", strings.Join(names, ", "), map[bool]string{true: "is", false: "are"}[len(names) == 1]),
		Hint:    "quit again to end the session for everybody, or leave",
	}
}
