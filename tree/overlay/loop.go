// The event loop that drives a vertex.

package overlay

import (
	"context"
	"errors"
	"sync"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/stopwatch"
)

// Machine is a vertex as the loop uses it; *tree.Node is one.
type Machine interface {
	Step(now time.Duration, in tree.Input) []tree.Output
}

// LoopConfig connects one vertex to its neighbours and to its owner. The functions
// are called one at a time, except Dial, Up and Quit, which have goroutines of
// their own. A nil function is not called.
type LoopConfig struct {
	Node Machine
	// Parent is the link to the parent; nil at the root, and if the parent is set
	// later (SetParent).
	Parent Link
	// Dial makes a link to a child. It returns when ctx ends, which is within
	// tree.Connect.Wait. ctx carries the epoch that Dial and Greet of this package
	// prove to the child, and whether the child is to be adopted.
	Dial func(ctx context.Context, child tree.NodeID, route protocol.Route) (Link, error)
	// Deliver receives a request for ranks of this vertex. It must not block: the
	// calling goroutine also carries packets to other vertices.
	Deliver func(tree.Deliver)
	// Init receives the vertex's own route. It must not block.
	Init func(tree.DeliverInit)
	// Quit is called once when the parent ends the session. It may take time to
	// clean up; events are still sent meanwhile. When it has returned and all
	// children have closed their links (at most quitGrace later), Run ends. Run
	// waits for Quit even if its ctx ends meanwhile.
	Quit func()
	// MasterLost is called before Quit, and may take as long, if the session ends
	// because the master is lost.
	MasterLost func()
	// Lost is called once for each parent that is lost, but not for one that has
	// sent Quit or was replaced. It must not block. The vertex continues without a
	// parent: the owner calls SetParent, posts a Quit or ends Run's ctx. If Lost is
	// nil, the loss of the parent is treated as Quit.
	Lost func(cause string)
	// Silent is called instead of Lost for a parent that has been silent for so
	// long that no other will come. nil: Lost is called.
	Silent func(cause string)
	// Found is called once for each link given to SetParent, when it has become the
	// link to the parent. It must not block; its calls are in order with the calls of Lost.
	Found func()
	// GivenUp is called before Quit if the parent reports that this vertex is not
	// part of the tree any more. It must not block.
	GivenUp func(cause string)
	// Epoch is called with the newest epoch that the vertex knows. It must not
	// block. A dialling side of an older epoch must be refused.
	Epoch func(uint64)
	// Up receives the packets that the root sends up. It may block: children then
	// get no room for more output, but commands still go down. It must return soon
	// after Run's ctx ends.
	Up func(wire.Message)
}

// Bounds of the loop's queues.
const (
	// maxUp is the number of queued bytes to the parent at which children get no
	// room for more and AwaitRoom waits. It keeps a link busy for a round trip,
	// and is small enough not to delay events that a rank sends after its own
	// output.
	maxUp = 64 << 10
	// maxDown is the number of queued bytes at which a child is lost.
	maxDown = 16 << 20
	// stallTime is how long a child may accept none of the bytes queued for it.
	stallTime = 10 * time.Second
	// quitGrace is how long children may take to close after Quit, and the link to
	// the parent to accept what is queued.
	quitGrace = 5 * time.Second
)

// ErrEnded is returned after the end of the loop.
var ErrEnded = errors.New("the session is over")

// Loop drives one vertex: it carries packets between the vertex and its neighbours,
// keeps its time, and makes its links.
//
// A lock protects the vertex. A goroutine that brings a packet or an input and
// finds the vertex lock free takes it and does the work itself, up to the write to
// the next link. So one goroutine wakes up for each packet that passes a vertex
// instead of three (reader, loop, writer), which halves the processor time of a
// packet. If the vertex lock is taken, the goroutine does not wait: it leaves its
// entry in the inbox for the holder and returns. A caller of Post always leaves its
// inputs to the holder or to Run, because it may hold locks that functions of
// LoopConfig need.
//
// Goroutines; Run waits for all of them:
//   - the one that calls Run: the timer, entries that others have left, the end.
//   - one reader for each link, from attach until the link ends; none for links of a
//     ReaderPool.
//   - one for each Connect, until Dial returns.
//   - one that calls Up, and one that calls Quit.
//   - the goroutines of the links (a writer while a neighbour does not keep up).
//
// Queues, and what happens when they are full:
//   - inbox: Post adds without a limit, because its callers are bounded by what was
//     requested; readers wait at maxInbox bytes.
//   - to the parent: at maxUp bytes AwaitRoom waits, and children get no room for
//     more output (at maxUp bytes of events: for more events). A child starts with one
//     window of each. Answers are bounded by what was requested.
//   - to a child: at maxDown bytes, or when no byte has moved for stallTime, the child
//     is lost.
//
// Order: inputs posted by one goroutine stay in order, and so do packets of one
// link, except while they wait to go up: there a sendqueue.Queue orders them, in which answers and
// events overtake the output of other ranks. Commands go down even if the link to the parent is
// congested.
type Loop struct {
	cfg   LoopConfig
	watch stopwatch.Watch
	inbox *inbox
	kick  chan struct{} // tells Run to look at the inbox
	timer *time.Timer
	upper *gate

	ctx    context.Context // of dials and readers; made by NewLoop, ended by Run
	cancel context.CancelFunc
	group  sync.WaitGroup

	// The following fields belong to the holder of the vertex lock.
	children map[tree.NodeID]*neighbour
	parent   *neighbour
	kept     []wire.Message // packets for the next parent
	keptSize int            // size of kept in bytes
	steps    []tree.Input   // the current input, and those that follow from its outputs
	dirty    []*neighbour   // with packets since the last flush
	out      wire.Message   // packet being sent; reused to avoid allocations
	wake     time.Duration  // time of the next Tick; 0 is never
	alarm    time.Duration  // when timer fires; 0 is never
	quitting bool           // DeliverQuit has been seen
	quitDone bool           // cfg.Quit has returned
	telling  int            // dials that began while quitting: those children are to be told
	over     chan struct{}  // closed when the session has ended
	overOnce sync.Once
}

// NewLoop returns a loop; Run starts it. Inputs posted before Run are kept.
func NewLoop(cfg LoopConfig) *Loop {
	l := &Loop{
		cfg: cfg, watch: stopwatch.Start(time.Now()), inbox: newInbox(), kick: make(chan struct{}, 1),
		timer: time.NewTimer(time.Hour), children: map[tree.NodeID]*neighbour{}, over: make(chan struct{}),
	}
	l.timer.Stop()
	l.upper = newGate(maxUp, l.inbox.outputs, func() { l.leave(entry{do: l.grantAll}) })
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Post adds inputs for the vertex, in order. It never blocks and may be called by
// any goroutine, also from within Deliver. After the end of Run it does nothing.
func (l *Loop) Post(in ...tree.Input) {
	entries := make([]entry, len(in))
	output := 0
	for i := range in {
		entries[i].in = in[i]
		if e, ok := in[i].(tree.LocalEvents); ok { // counts as output, although it did not wait
			entries[i].output = weightOf(e.Groups)
			output += entries[i].output
		}
	}
	l.leave(entries...)
	if output > 0 {
		l.upper.update()
	}
}

// AwaitRoom waits while the link to the parent is congested. A goroutine that posts
// output of ranks calls it first. Its error is the cause of ctx or ErrEnded. Any
// goroutine may call it.
func (l *Loop) AwaitRoom(ctx context.Context) error { return l.upper.pass(ctx, l.ctx) }

// SetParent makes p the link to the parent and closes the previous one. Packets
// that have waited for a parent are sent first. Any goroutine may call it; it does
// not block. After the end of Run it closes p.
func (l *Loop) SetParent(p Link) {
	l.leave(entry{link: p, do: func() { l.adopt(p) }})
}

// Run processes events until ctx ends (it returns the cause) or the session ends
// (nil). It closes all links before it returns. It is called once.
func (l *Loop) Run(ctx context.Context) error {
	if l.cfg.Up != nil {
		l.startUp()
	} else if l.cfg.Parent != nil {
		l.SetParent(l.cfg.Parent)
	}
	l.processInbox() // inputs posted before; NewLoop has taken the vertex lock
	err := l.serve(ctx)
	l.end(err == nil)
	return err
}

// serve does the work that no reader does.
func (l *Loop) serve(ctx context.Context) error {
	for {
		select {
		case <-l.kick:
			l.work()
		case <-l.timer.C:
			l.timerFired()
		case <-l.over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// timerFired handles the timer.
func (l *Loop) timerFired() { l.submit(entry{do: l.tick}) }

// end takes the vertex lock without releasing it, closes all links and waits for
// all goroutines.
func (l *Loop) end(orderly bool) {
	left := l.inbox.end()
	l.cancel()
	l.timer.Stop()
	discard(left)
	l.flush() // the last processInbox may have been cut short
	if l.parent != nil {
		if orderly {
			l.parent.out.settle(quitGrace)
		}
		l.parent.close()
	}
	for _, n := range l.children {
		n.close()
	}
	l.group.Wait()
}
