package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
)

// Links is how a server is bound into the tree.
type Links struct {
	Self *Self
	// Parent is the link to the parent, where there is one from the start. Run
	// closes it.
	Parent overlay.Link
	// Listener is where parents dial; nil: Parent is the only one that there will
	// ever be. Run closes it.
	Listener Listener
	// Dial makes a link to a child; nil: the server has none.
	Dial func(ctx context.Context, child tree.NodeID, route protocol.Route) (overlay.Link, error)
	// Gone is closed when our starter has gone. It counts as a lost parent as
	// long as there is none. nil: never.
	Gone <-chan struct{}
	// Registration is the link to the master that we have registered with; nil:
	// there is none. Its end before a parent has come means that none will come.
	// Run closes it as soon as one has come.
	Registration overlay.Link
	// ConnectWait is how long we wait for the first parent; 0: for ever.
	ConnectWait time.Duration
}

// Listener is where parents come in: overlay.Listener, or its twin in memory.
type Listener interface {
	// Accept gives the next parent that belongs to the session; see
	// overlay.Listener. One goroutine at a time may call it.
	Accept(ctx context.Context) (overlay.Link, overlay.Identity, error)
	// Close ends Accept; links that it has given live on.
	Close() error
}

// Self is what we say about ourselves to those who dial us. It follows the
// epochs of the tree, and may be used by several goroutines.
type Self struct {
	mu sync.Mutex
	id overlay.Identity
}

// NewSelf starts from what is known before there is a parent.
func NewSelf(id overlay.Identity) *Self { return &Self{id: id} }

// Identity is for overlay.Listen.
func (s *Self) Identity() overlay.Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Number changes our number, which the master may give us.
func (s *Self) Number(id protocol.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id.Node = tree.NodeID(id) + 1
}

// follow takes in the newest epoch: parents of older ones are refused.
func (s *Self) follow(epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id.Epoch = max(s.id.Epoch, epoch)
}

// ErrNoParent tells that nobody has dialled in time, or will.
var ErrNoParent = errors.New("no master or parent server has come")

// Run is a server's whole life: until the parent says Quit, the parent is lost
// for longer than Linger, the starter ends the job, or ctx ends. It returns when
// no engine, no rank and no goroutine is left; ranks that the person let go are
// waited for. The status is the one to exit with: in a slot that of its rank, as
// a shell gives it; otherwise 0.
func Run(ctx context.Context, cfg Config, links Links) (status int, err error) {
	r, err := Prepare(cfg, links)
	if err != nil {
		return 0, err
	}
	return r.Run(ctx)
}

// Prepare makes a server that is still to Run: what takes much of a stack, which a
// process with thousands of servers had better not keep for each of them. After an
// error there is nothing to run, and the links are closed.
func Prepare(cfg Config, links Links) (*Runner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &Runner{
		cfg: cfg.withDefaults(), links: links,
		parent: make(chan struct{}, 1), deserted: make(chan struct{}),
	}
	r.above.has = links.Parent != nil
	r.loop = overlay.NewLoop(overlay.LoopConfig{
		Node: tree.New(tree.NodeID(cfg.ID) + 1), Parent: links.Parent, Dial: links.Dial,
		Deliver: func(d tree.Deliver) { r.server.deliver(d) },
		Init: func(tree.DeliverInit) {
			r.change(func(a *above) { a.placed = true })
			r.loop.Post(tree.LocalReady{})
		},
		Quit: func() { r.server.finish() },
		Lost: r.lose,
		Deserted: func() {
			if r.cfg.LetRun {
				r.server.letRun()
			} else {
				r.server.endOwn()
			}
		},
		Silent:  r.despair,
		Found:   r.found,
		GivenUp: r.givenUp,
		Epoch:   r.follow,
	})
	var err error
	if r.server, err = newServer(cfg, r.loop); err != nil {
		r.giveUp()
		return nil, fmt.Errorf("the back end cannot be used: %w", err)
	}
	return r, nil
}

// Run is as the function of that name. It is called once.
func (r *Runner) Run(ctx context.Context) (status int, err error) {
	err = r.run(ctx)
	return r.server.status(), err
}

// Runner is one server's life. Besides the loop's, its goroutines are accept, attend
// and watch, all ended with the loop.
type Runner struct {
	cfg      Config
	links    Links
	loop     *overlay.Loop
	server   *Server
	parent   chan struct{} // above has changed
	deserted chan struct{} // closed when Registration has ended
	ending   bool          // the starter ends the job; of watch
	failure  error         // of watch

	mu    sync.Mutex
	above above
}

// above is what is known of the parent.
type above struct {
	has    bool
	placed bool   // one has sent us our Init
	server bool   // it is a server, or was: somebody may adopt us
	cause  string // of its loss
}

func (r *Runner) run(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	if r.links.Listener != nil {
		others.Go(func() { r.accept(inner) })
	}
	if r.links.Registration != nil {
		others.Go(r.attend)
	}
	others.Go(func() { r.watch(inner) })
	err := r.loop.Run(ctx)
	cancel()
	if r.links.Listener != nil {
		r.links.Listener.Close()
	}
	r.leaveMaster()
	others.Wait()
	r.closeServer(ctx)
	return errors.Join(r.failure, err)
}

// giveUp closes what a Run that cannot begin has been given.
func (r *Runner) giveUp() {
	if r.links.Parent != nil {
		r.links.Parent.Close()
	}
	if r.links.Listener != nil {
		r.links.Listener.Close()
	}
	r.leaveMaster()
	if r.cfg.Forker != nil {
		r.cfg.Forker.Close()
	}
}

// closeServer ends what the loop's Quit has not, and waits for ranks that were
// let go, at most until the starter wants to end, or ctx does.
func (r *Runner) closeServer(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	if r.ending {
		cancel()
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-r.cfg.Ending:
			cancel()
		case <-ctx.Done():
		}
	})
	r.server.close(ctx)
	cancel()
	watching.Wait()
}

// change notes something about the parent. It does not block: whoever carries
// packets calls it.
func (r *Runner) change(note func(*above)) {
	r.mu.Lock()
	note(&r.above)
	r.mu.Unlock()
	select {
	case r.parent <- struct{}{}:
	default: // watch has not looked yet, and will see this too
	}
}

func (r *Runner) lose(cause string) { r.change(func(a *above) { a.has, a.cause = false, cause }) }

// despair is the loss of a parent that has been silent for so long that whoever
// might have adopted us is gone too.
func (r *Runner) despair(cause string) {
	r.change(func(a *above) { a.has, a.server, a.cause = false, false, cause })
}

func (r *Runner) found() { r.change(func(a *above) { a.has = true }) }

func (r *Runner) givenUp(cause string) {
	r.cfg.Log.Warn("this server has been given up and leaves", "server", r.cfg.ID, "cause", cause)
}

func (r *Runner) follow(epoch uint64) {
	if r.links.Self != nil {
		r.links.Self.follow(epoch)
	}
}

// accept takes parents as they come; a new one replaces the old one.
func (r *Runner) accept(ctx context.Context) {
	for r.acceptOne(ctx) {
	}
}

func (r *Runner) acceptOne(ctx context.Context) bool {
	link, parent, err := r.links.Listener.Accept(ctx)
	if err == nil {
		r.come(link, &parent)
	} else if ctx.Err() == nil {
		r.cfg.Log.Error("no parent can come any more", "error", err)
	}
	return err == nil
}

// come takes one parent.
func (r *Runner) come(link overlay.Link, parent *overlay.Identity) {
	r.links.Self.follow(parent.Epoch)
	r.change(func(a *above) { a.server = parent.Node > 0 })
	r.loop.SetParent(link)
}

// attend waits for the end of Registration.
func (r *Runner) attend() {
	defer close(r.deserted)
	r.links.Registration.Receive() // nothing else ever comes
}

// leaveMaster lets the master that we have registered with see that we need it no
// more.
func (r *Runner) leaveMaster() {
	if r.links.Registration != nil {
		r.links.Registration.Close()
	}
}

// watch decides when the session is over although nobody has said Quit. A parent that
// hangs up before it has sent our Init is as if it had not come, where others can come:
// it may have taken us for a port that does not answer.
func (r *Runner) watch(ctx context.Context) {
	var w waiting
	had := r.links.Parent != nil
	if !had && r.links.ConnectWait > 0 {
		w.late = time.After(r.links.ConnectWait)
	}
	gone, deserted := r.links.Gone, r.deserted
	for {
		select {
		case <-r.parent:
			a := r.look()
			has := a.has && (a.placed || r.links.Listener == nil)
			switch {
			case has && !had:
				w, deserted = waiting{grace: w.grace}, nil
				r.leaveMaster()
			case !has && had:
				w.linger = time.After(r.patience(a))
			}
			had = has
		case <-deserted:
			deserted = nil
			r.failure = fmt.Errorf("%w: the master that this server has registered with is gone", ErrNoParent)
			r.quit()
		case <-gone:
			gone = nil
			if !had { // whoever might adopt us is gone too
				w.linger = time.After(r.cfg.Linger)
			}
		case text := <-r.cfg.Ending:
			if !r.ending { // each slot of the node hears it
				r.server.cancelled(text)
				w.grace = time.After(r.cfg.EndingGrace)
			}
			r.ending = true
		case sig := <-r.cfg.Signals:
			r.server.signal(sig)
		case <-w.late:
			r.failure = fmt.Errorf("%w in %v (start the master first, or give a longer --connect-wait)", ErrNoParent, r.links.ConnectWait)
			r.quit()
		case <-w.linger:
			r.loop.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Quit, Flags: wire.Deserted}})
		case <-w.grace:
			r.quit()
		case <-ctx.Done():
			return
		}
	}
}

// waiting is what watch waits for; nil is never.
type waiting struct {
	late   <-chan time.Time // the first parent
	linger <-chan time.Time // another one
	grace  <-chan time.Time // words about the end to travel
}

func (r *Runner) look() above {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.above
}

// patience is how long we wait for another parent: one that was a server is
// replaced by another server, unless the master is gone as well; a master is
// waited for as configured. Where nobody can come, nobody is waited for.
func (r *Runner) patience(a above) time.Duration {
	wait := r.cfg.Linger
	if a.server && r.links.Listener != nil && !r.starterGone() {
		wait = max(wait, r.cfg.AdoptWait)
	}
	r.cfg.Log.Info("the parent is lost", "cause", a.cause, "wait", wait)
	return wait
}

func (r *Runner) starterGone() bool {
	select {
	case <-r.links.Gone:
		return true
	default:
		return false
	}
}

// quit does what a Quit of the parent would do, children included.
func (r *Runner) quit() {
	r.loop.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Quit}})
}
