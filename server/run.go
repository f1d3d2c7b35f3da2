// The life of a server: its links, and when its session ends.

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

// Links connects a server to the tree.
type Links struct {
	Self *Self
	// Parent is the link to the parent if there is one from the start. Run closes it.
	Parent overlay.Link
	// Listener accepts connections of parents; nil: Parent is the only parent for the whole life
	// of the server. Run closes it.
	Listener Listener
	// Dial makes a link to a child; nil: the server has no children.
	Dial func(ctx context.Context, child tree.NodeID, route protocol.Route) (overlay.Link, error)
	// Gone is closed when the starter of the server has ended. As long as there is no parent, that
	// counts as the loss of the parent. nil: never.
	Gone <-chan struct{}
	// Registration is the link to the master with which the server has registered; nil: there is
	// none. If it ends before a parent has connected, no parent will. Run closes it as soon as a
	// parent has connected.
	Registration overlay.Link
	// ConnectWait is how long the server waits for the first parent; 0: without limit.
	ConnectWait time.Duration
}

// Listener accepts connections of parents: overlay.Listener, or one in memory.
type Listener interface {
	// Accept returns the next parent that belongs to the session; see overlay.Listener. One
	// goroutine at a time may call it.
	Accept(ctx context.Context) (overlay.Link, overlay.Identity, error)
	// Close ends Accept; links that Accept has returned stay open.
	Close() error
}

// Self is the identity that the server gives to peers that dial it. It follows the epochs of the
// tree. Several goroutines may use it.
type Self struct {
	mu sync.Mutex
	id overlay.Identity
}

// NewSelf makes a Self from what is known before there is a parent.
func NewSelf(id overlay.Identity) *Self { return &Self{id: id} }

// Identity returns the current identity, for overlay.NewListener.
func (s *Self) Identity() overlay.Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Number changes the number of the server: the master may assign another one.
func (s *Self) Number(id protocol.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id.Node = tree.NodeID(id) + 1
}

// follow raises the epoch. Parents of older epochs are refused.
func (s *Self) follow(epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id.Epoch = max(s.id.Epoch, epoch)
}

// ErrNoParent means that no parent has connected in time, or that none will.
var ErrNoParent = errors.New("no master or parent server has come")

// Run runs a server until the parent sends Quit, the parent is lost for longer than Linger, the
// starter ends the job, or ctx ends. It returns when no debugger, no rank and no goroutine is
// left; it waits for detached ranks. status is the exit status for the process: in a slot the
// status of its rank, as a shell gives it; otherwise 0.
func Run(ctx context.Context, cfg Config, links Links) (status int, err error) {
	r, err := Prepare(cfg, links)
	if err != nil {
		return 0, err
	}
	return r.Run(ctx)
}

// Prepare makes a server for a later Run. It is separate from Run because it needs much stack: a
// process with thousands of servers should not keep that for each of them. After an error the
// links are closed.
func Prepare(cfg Config, links Links) (*Runner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &Runner{
		cfg: cfg.withDefaults(), links: links,
		parent: make(chan struct{}, 1), masterLost: make(chan struct{}),
	}
	r.parentState.has = links.Parent != nil
	r.loop = overlay.NewLoop(overlay.LoopConfig{
		Node: tree.New(tree.NodeID(cfg.ID) + 1), Parent: links.Parent, Dial: links.Dial,
		Deliver: func(d tree.Deliver) { r.server.deliver(d) },
		Init: func(tree.DeliverInit) {
			r.change(func(a *parentState) { a.placed = true })
			r.loop.Post(tree.LocalReady{})
		},
		Quit: func() { r.server.finish() },
		Lost: r.parentLost,
		MasterLost: func() {
			if r.cfg.LetRun {
				r.server.letRun()
			} else {
				r.server.endOwn()
			}
		},
		Silent:  r.parentSilent,
		Found:   r.parentFound,
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

// Run is like the function Run. It is called once.
func (r *Runner) Run(ctx context.Context) (status int, err error) {
	err = r.run(ctx)
	return r.server.status(), err
}

// Runner runs one server. Its goroutines, besides the loop's, are accept, watchRegistration and decideEnd; all
// end with the loop.
type Runner struct {
	cfg        Config
	links      Links
	loop       *overlay.Loop
	server     *Server
	parent     chan struct{} // parentState has changed
	masterLost chan struct{} // closed when Registration has ended
	ending     bool          // the starter ends the job; used by decideEnd only
	failure    error         // used by decideEnd only

	mu          sync.Mutex
	parentState parentState
}

// parentState is what is known of the parent.
type parentState struct {
	has    bool
	placed bool   // a parent has sent Init
	server bool   // the parent is or was a server: another server may adopt this one
	cause  string // of the parent's loss
}

func (r *Runner) run(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	if r.links.Listener != nil {
		others.Go(func() { r.accept(inner) })
	}
	if r.links.Registration != nil {
		others.Go(r.watchRegistration)
	}
	others.Go(func() { r.decideEnd(inner) })
	err := r.loop.Run(ctx)
	cancel()
	if r.links.Listener != nil {
		r.links.Listener.Close()
	}
	r.closeRegistration()
	others.Wait()
	r.closeServer(ctx)
	return errors.Join(r.failure, err)
}

// giveUp closes the links and the Forker when the server cannot be made.
func (r *Runner) giveUp() {
	if r.links.Parent != nil {
		r.links.Parent.Close()
	}
	if r.links.Listener != nil {
		r.links.Listener.Close()
	}
	r.closeRegistration()
	if r.cfg.Forker != nil {
		r.cfg.Forker.Close()
	}
}

// closeServer closes what the loop's Quit has not closed, and waits for detached ranks until the
// starter announces the end or ctx ends.
func (r *Runner) closeServer(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	if r.ending {
		cancel()
	}
	var waiter sync.WaitGroup
	waiter.Go(func() {
		select {
		case <-r.cfg.Ending:
			cancel()
		case <-ctx.Done():
		}
	})
	r.server.close(ctx)
	cancel()
	waiter.Wait()
}

// change updates what is known of the parent. It must not block, because goroutines that carry
// packets call it.
func (r *Runner) change(note func(*parentState)) {
	r.mu.Lock()
	note(&r.parentState)
	r.mu.Unlock()
	select {
	case r.parent <- struct{}{}:
	default: // decideEnd has not read the last notice yet, and will see this change too
	}
}

func (r *Runner) parentLost(cause string) {
	r.change(func(a *parentState) { a.has, a.cause = false, cause })
}

// parentSilent records the loss of a parent that was silent for so long that the servers that could
// adopt this one must be lost too.
func (r *Runner) parentSilent(cause string) {
	r.change(func(a *parentState) { a.has, a.server, a.cause = false, false, cause })
}

func (r *Runner) parentFound() { r.change(func(a *parentState) { a.has = true }) }

func (r *Runner) givenUp(cause string) {
	r.cfg.Log.Warn("this server has been given up and leaves", "server", r.cfg.ID, "cause", cause)
}

func (r *Runner) follow(epoch uint64) {
	if r.links.Self != nil {
		r.links.Self.follow(epoch)
	}
}

// accept accepts parents until Accept fails; a new parent replaces the old one.
func (r *Runner) accept(ctx context.Context) {
	for r.acceptOne(ctx) {
	}
}

func (r *Runner) acceptOne(ctx context.Context) bool {
	link, parent, err := r.links.Listener.Accept(ctx)
	if err == nil {
		r.useParent(link, &parent)
	} else if ctx.Err() == nil {
		r.cfg.Log.Error("no parent can come any more", "error", err)
	}
	return err == nil
}

// useParent makes one accepted link the link to the parent.
func (r *Runner) useParent(link overlay.Link, parent *overlay.Identity) {
	r.links.Self.follow(parent.Epoch)
	r.change(func(a *parentState) { a.server = parent.Node > 0 })
	r.loop.SetParent(link)
}

// watchRegistration waits for the end of Registration.
func (r *Runner) watchRegistration() {
	defer close(r.masterLost)
	// The master sends nothing on this link: Receive returns when it ends.
	r.links.Registration.Receive()
}

// closeRegistration closes the registration, which tells the master that the server no longer needs it.
func (r *Runner) closeRegistration() {
	if r.links.Registration != nil {
		r.links.Registration.Close()
	}
}

// decideEnd decides when the session ends without a Quit. A parent that closes its link before it has
// sent Init is ignored if other parents can come: it may have taken this server for a port that
// does not answer.
func (r *Runner) decideEnd(ctx context.Context) {
	var w waiting
	had := r.links.Parent != nil
	if !had && r.links.ConnectWait > 0 {
		w.late = time.After(r.links.ConnectWait)
	}
	gone, masterLost := r.links.Gone, r.masterLost
	for {
		select {
		case <-r.parent:
			a := r.parentNow()
			has := a.has && (a.placed || r.links.Listener == nil)
			switch {
			case has && !had:
				w, masterLost = waiting{grace: w.grace}, nil
				r.closeRegistration()
			case !has && had:
				w.linger = time.After(r.rejoinTimeout(a))
			}
			had = has
		case <-masterLost:
			masterLost = nil
			r.failure = fmt.Errorf("%w: the master that this server has registered with is gone", ErrNoParent)
			r.quit()
		case <-gone:
			gone = nil
			if !had { // the servers that could adopt this one are gone too
				w.linger = time.After(r.cfg.Linger)
			}
		case text := <-r.cfg.Ending:
			if !r.ending { // every slot of the node reports the end
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
			r.loop.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Quit, Flags: wire.MasterLost}})
		case <-w.grace:
			r.quit()
		case <-ctx.Done():
			return
		}
	}
}

// waiting holds the timers that decideEnd waits for; a nil one never fires.
type waiting struct {
	late   <-chan time.Time // for the first parent
	linger <-chan time.Time // for another parent
	grace  <-chan time.Time // for the event about the end to reach the user
}

func (r *Runner) parentNow() parentState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parentState
}

// rejoinTimeout returns how long to wait for another parent. A parent that was a server is replaced
// by another server within Config.AdoptWait, unless the master is gone as well. Otherwise the wait
// is Config.Linger.
func (r *Runner) rejoinTimeout(a parentState) time.Duration {
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

// quit has the effect of a Quit of the parent, on the children too.
func (r *Runner) quit() {
	r.loop.Post(tree.FromParent{Msg: wire.Message{Kind: wire.Quit}})
}
