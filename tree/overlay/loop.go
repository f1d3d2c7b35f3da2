// The one loop that feeds a vertex.

package overlay

import (
	"context"
	"errors"
	"sync"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Machine is a vertex as the loop sees it; *tree.Node is one.
type Machine interface {
	Step(now time.Duration, in tree.Input) []tree.Output
}

// LoopConfig wires one vertex to its neighbours and to its owner. The functions
// are called one at a time, except Dial, Up and Quit, which have goroutines of
// their own. A function that is nil is not called.
type LoopConfig struct {
	Node Machine
	// Parent is the link to the parent; nil at the root, and where a parent is
	// still to come (SetParent).
	Parent Link
	// Dial makes a link to a child; it ends when ctx does, which is within
	// tree.Connect.Wait. ctx carries the epoch that Dial and Greet of this package
	// prove to the child, and whether it is to be adopted.
	Dial func(ctx context.Context, child tree.NodeID, route protocol.Route) (Link, error)
	// Deliver hands over a request for ranks of this vertex. It must not wait for
	// anything: whoever calls it carries packets to other vertices.
	Deliver func(tree.Deliver)
	// Init hands over the vertex's own route; as Deliver.
	Init func(tree.DeliverInit)
	// Quit is called once when the parent says that the session ends. It may take
	// its time to clean up: events go on going up meanwhile. When it has returned
	// and all children have closed their links (at most farewell later), Run ends.
	// Run waits for it also when its ctx ends meanwhile.
	Quit func()
	// Deserted is called before Quit, and may take as long, when the session ends
	// because the master is lost.
	Deserted func()
	// Lost is called once for each parent that is lost, not for one that has said
	// Quit or was replaced; as Deliver. The vertex goes on without a parent: the
	// owner calls SetParent, posts a Quit or ends Run's ctx, as it likes. With nil
	// a lost parent means Quit.
	Lost func(cause string)
	// Silent is called in place of Lost for a parent that has said nothing for so
	// long that nobody will come in its place. nil: Lost is.
	Silent func(cause string)
	// Found is called once for each link that SetParent was given, when it has
	// become the parent's; as Deliver, in order with Lost.
	Found func()
	// GivenUp is called when the parent says that we are no part of the tree any
	// more, before Quit; as Deliver.
	GivenUp func(cause string)
	// Epoch is called with the newest shape of the tree that the vertex knows; as
	// Deliver. Who dials from an older one is to be refused.
	Epoch func(uint64)
	// Up takes what goes up, at the root only. It may wait: children may not send
	// more output meanwhile, commands still go down. It must end soon after Run's ctx.
	Up func(wire.Message)
	// TryUp is Up where it need not wait: it tells whether it has taken the packet.
	// One that it refuses, and those behind it, go to Up. As Deliver.
	TryUp func(wire.Message) bool
}

// Bounds of the loop's queues.
const (
	// maxUp is how many bytes may wait on the way up before children are given no
	// room for more and PostOutput blocks: enough to keep a link busy for a round
	// trip, little enough that what a rank says behind its own output is not late.
	maxUp = 64 << 10
	// maxDown is how many bytes may wait for a child; more, and it is lost.
	maxDown = 16 << 20
	// stallTime is how long a child may take nothing of what waits for it.
	stallTime = 10 * time.Second
	// farewell is how long children may take to close after Quit, and the way up
	// to take what is left.
	farewell = 5 * time.Second
)

// ErrEnded tells that the loop is over.
var ErrEnded = errors.New("the session is over")

// Loop feeds one vertex: it carries packets between the vertex and its
// neighbours, keeps its time, and makes its links.
//
// The vertex belongs to whoever holds the baton. Who brings a packet or an input
// and finds the baton free takes it and does the work himself, up to the write to
// the next link: one goroutine wakes up for a packet on its way through a vertex,
// not three (reader, loop, writer), which halves the processor time of a packet.
// Who finds it taken leaves what he brings in the inbox for the holder and goes
// on. A caller of Post works as well, once over the inbox, but leaves calls of
// Deliver, Init and Lost to Run: he may hold locks that they want.
//
// Goroutines; Run waits for all of them:
//   - Run's own: time, what others have left, the end.
//   - one reader for each link, from attach until the link ends.
//   - one for each Connect, until Dial returns.
//   - one that calls Up, and one that calls Quit.
//   - those of the links (a writer while a neighbour does not keep up).
//
// Queues, and what happens when they are full:
//   - inbox: Post adds without bound, as its callers are bounded by what was
//     asked; readers wait at maxInbox bytes.
//   - the way up: at maxUp bytes PostOutput waits, and children are given no room
//     for more output (at maxUp bytes of events: for more events). A child has a
//     window of each to begin with. Answers are bounded by what was asked.
//   - the way down to a child: at maxDown bytes, or when nothing has moved for
//     stallTime, the child is lost.
//
// Order: what one goroutine posts stays in order; packets of one link stay in
// order, but while they wait to go up they are in that of a lane.Lane: answers and
// events pass the output of other ranks. Commands go down whatever the state of the
// way up.
type Loop struct {
	cfg   LoopConfig
	start time.Time
	inbox *inbox
	kick  chan struct{} // to Run: the inbox wants somebody
	timer *time.Timer
	upper *gate

	ctx    context.Context // of dials and readers; set by NewLoop, ended by Run
	cancel context.CancelFunc
	group  sync.WaitGroup

	// What follows belongs to the holder of the baton.
	children map[tree.NodeID]*neighbour
	parent   *neighbour
	kept     []wire.Message // for a parent that is still to come
	keptSize int            // bytes of kept
	steps    []tree.Input   // the one at work, and what follows from it
	who      worker         // holds the baton
	owed     []func()       // calls of the owner's functions that must wait
	dirty    []*neighbour   // put to since the last flush
	out      wire.Message   // is being put; one place for all saves taking memory for each
	wake     time.Duration  // when the vertex wants a Tick; 0 is never
	alarm    time.Duration  // when timer fires; 0 is never
	quitting bool           // DeliverQuit has been seen
	quitDone bool           // cfg.Quit has returned
	over     chan struct{}  // closed when the session has ended
	overOnce sync.Once
}

// NewLoop makes a loop; Run starts it. What is posted before Run is kept.
func NewLoop(cfg LoopConfig) *Loop {
	l := &Loop{
		cfg: cfg, start: time.Now(), inbox: newInbox(), kick: make(chan struct{}, 1),
		timer: time.NewTimer(time.Hour), children: map[tree.NodeID]*neighbour{}, over: make(chan struct{}),
	}
	l.timer.Stop()
	l.upper = newGate(maxUp, l.inbox.outputs, func() { l.leave(l.relieve) })
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Post hands inputs to the vertex, in order. It never waits and may be called by
// any goroutine, also from within Deliver. After the end of Run it does nothing.
func (l *Loop) Post(in ...tree.Input) {
	entries := make([]entry, len(in))
	output := 0
	for i := range in {
		entries[i].in = in[i]
		if e, ok := in[i].(tree.LocalEvents); ok { // output that could not wait counts all the same
			entries[i].output = weightOf(e.Groups)
			output += entries[i].output
		}
	}
	l.bring(outsider, entries...)
	if output > 0 {
		l.upper.look()
	}
}

// PostOutput is Post for what a rank writes: it waits while the way up is
// congested. It ends with the cause of ctx or with ErrEnded.
func (l *Loop) PostOutput(ctx context.Context, in tree.LocalEvents) error {
	if err := l.upper.pass(ctx, l.ctx); err != nil {
		return err
	}
	l.bring(outsider, entry{in: in, output: weightOf(in.Groups)})
	l.upper.look()
	return nil
}

// SetParent makes p the link to the parent, in place of the one before, which is
// closed. What has waited for a parent goes up first.
func (l *Loop) SetParent(p Link) {
	l.bring(outsider, entry{link: p, do: func() { l.adopt(p) }})
}

// Run works until ctx ends (it gives the cause) or the session does (nil), and
// closes all links before it returns. It is called once.
func (l *Loop) Run(ctx context.Context) error {
	if l.cfg.Up != nil {
		l.startUp()
	} else if l.cfg.Parent != nil {
		l.SetParent(l.cfg.Parent)
	}
	l.turn() // on what was posted before; NewLoop has taken the baton
	err := l.serve(ctx)
	l.end(err == nil)
	return err
}

// serve is the part of the loop that is done when no reader is at it.
func (l *Loop) serve(ctx context.Context) error {
	for {
		select {
		case <-l.kick:
			l.work()
		case <-l.timer.C:
			l.ring()
		case <-l.over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ring brings the tick of the timer.
func (l *Loop) ring() { l.bring(insider, entry{do: l.tick}) }

// end takes the baton for good, closes all links and waits for all goroutines.
func (l *Loop) end(orderly bool) {
	left := l.inbox.end()
	l.cancel()
	l.timer.Stop()
	discard(left)
	l.flush() // the last turn may have been cut short
	if l.parent != nil {
		if orderly {
			l.parent.way.settle(farewell)
		}
		l.parent.close()
	}
	for _, n := range l.children {
		n.close()
	}
	l.group.Wait()
}

// now is the time since the loop was made.
func (l *Loop) now() time.Duration { return time.Since(l.start) }
