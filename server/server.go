// Package server provides one server of the tree: a vertex with a debugger and
// the ranks that it starts, feeds and listens to.
package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"syscall"

	"sdm/backend"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/tree"
)

// Server is what hangs at a vertex: the back end and the ranks of this host.
//
// Its goroutines, all waited for by close: one for each slow job (launch, quit),
// two for the output of each rank, one that waits for the rank's end, one while
// something is written to its standard input. deliver is called by the goroutine
// of the vertex's loop and does not block; the back end's by the lane.
type Server struct {
	cfg     Config
	up      *outlet
	lane    lane
	backend backend.Backend // called in the lane only
	closed  bool            // the back end has been closed; in the lane only
	tasks   sync.WaitGroup

	programs map[string]rank.Set // as the ranks were begun; in the lane only
	pids     map[rank.ID]int     // of ranks that are no simulation; in the lane only

	mu         sync.Mutex
	processes  map[rank.ID]*process // of ranks that we have started
	all        []*process           // former ones of restarted ranks too
	slotFailed bool                 // the rank of our slot could not be started
	others     others
	own        rank.Set // of others: of a job that the session has started
	history    history
	leaving    rank.Set      // ranks that part waits for
	parted     chan struct{} // closed when none is left
}

// newServer makes a server that speaks up through the given vertex.
func newServer(cfg Config, up Uplink) (*Server, error) {
	s := &Server{programs: map[string]rank.Set{}, pids: map[rank.ID]int{}, cfg: cfg.withDefaults(), up: newOutlet(up, cfg.Rest), processes: map[rank.ID]*process{}, history: history{most: cfg.Answers}}
	var err error
	s.backend, err = s.cfg.NewBackend(sink{s})
	return s, err
}

// deliver takes a request for ranks of this server. Each of them answers exactly
// once. It is called in the order of the requests.
func (s *Server) deliver(d tree.Deliver) {
	c, err := protocol.ReadCommand(d.Body)
	if err != nil {
		s.up.reply(d.ID, fault(d.Ranks, protocol.FaultInternal, "", "the command cannot be read: "+err.Error(), ""))
		return
	}
	quick := func(do func()) { s.lane.do(job{run: s.guarded(d, c.Name, do)}) }
	slow := func(do func()) { s.lane.do(job{slow: true, run: s.guarded(d, c.Name, do)}) }
	info, known := protocol.LookupCommand(c.Name)
	switch {
	case known && info.Place == protocol.AtTarget:
		quick(func() { s.atTarget(d, c) })
	case c.Name == "launch" && s.cfg.Existing != nil:
		quick(func() { s.attach(d, protocol.Args{}) })
	case c.Name == "launch":
		slow(func() { s.launch(d, c.Args) })
	case c.Name == "attach":
		quick(func() { s.attach(d, c.Args) })
	case c.Name == "run":
		slow(func() { s.runAgain(d, c.Args) })
	case c.Name == "core":
		quick(func() { s.open(d, c.Args) })
	case c.Name == "stage":
		slow(func() { s.stage(d, c.Args) })
	case c.Name == "send":
		quick(func() { s.send(d, c.Args) })
	case c.Name == "expand":
		quick(func() { s.expand(d, c.Args) })
	case c.Name == "info hosts":
		slow(func() { s.hosts(d, c.Args) })
	case c.Name == "usage":
		slow(func() { s.usage(d, c.Args) })
	case c.Name == "quit":
		slow(func() { s.quit(d) })
	default:
		s.up.reply(d.ID, fault(d.Ranks, protocol.FaultUsage, c.Name, fmt.Sprintf("servers do not know the command %q", c.Name), ""))
	}
}

// guarded makes a job of a request. Should it panic, those of the request's ranks that have not answered are
// answered with that, and the server goes on.
func (s *Server) guarded(d tree.Deliver, op string, do func()) func() {
	return func() {
		defer func() {
			if why := recover(); why != nil {
				f := protocol.Defect(op, why)
				s.cfg.Log.Error(f.Message+"; the request is given up: "+protocol.Report, "command", op, "ranks", d.Ranks, "stack", string(debug.Stack()))
				s.up.reply(d.ID, faultGroup(d.Ranks, f))
			}
		}()
		do()
	}
}

func (s *Server) atTarget(d tree.Deliver, c *protocol.Command) {
	if s.refuseWhenClosed(d, c.Name) {
		return
	}
	s.backend.Do(backend.Request{ID: d.ID, Ranks: d.Ranks, Wait: d.Wait, Command: c})
}

func (s *Server) refuseWhenClosed(d tree.Deliver, op string) bool {
	if s.closed {
		s.up.reply(d.ID, fault(d.Ranks, protocol.FaultState, op, "the session is over", ""))
	}
	return s.closed
}

// quit lets go of all ranks, not only of those that are asked: the session ends.
func (s *Server) quit(d tree.Deliver) {
	s.endBackend()
	s.turnOutput()
	s.up.reply(d.ID, done(d.Ranks))
}

// turnOutput gives what ranks that were let go write from now on to Config.Rest: behind the answer to quit nobody
// above is there to take it.
func (s *Server) turnOutput() {
	s.up.turn()
	for _, p := range s.everybody() {
		if p.out != nil {
			p.out.settle()
		}
	}
}

// endBackend kills what we started, detaches from the rest and ends the engines.
// It runs in the lane.
func (s *Server) endBackend() {
	if s.closed {
		return
	}
	s.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.CloseWait)
	defer cancel()
	if err := s.backend.Close(ctx); err != nil {
		s.cfg.Log.Warn("the back end ended badly", "error", err)
	}
	for _, p := range s.everybody() {
		if !p.letGo() {
			p.kill()
		}
	}
}

func (s *Server) expand(d tree.Deliver, args protocol.Args) {
	s.mu.Lock()
	groups := s.history.expand(d.Ranks, args)
	s.mu.Unlock()
	s.up.reply(d.ID, groups...)
}

// note gives words to the person, from the ranks of this server.
func (s *Server) note(text string) { s.tell(protocol.KindNote, protocol.Note{Text: text}) }

// cancelled tells that the starter ends the job.
func (s *Server) cancelled(text string) {
	s.tell(protocol.KindJob, protocol.JobState{State: "cancelled", Text: text})
}

// tell tells something of all ranks of this server.
func (s *Server) tell(kind protocol.Kind, body any) {
	s.mu.Lock()
	ranks := s.others.live()
	for r := range s.processes {
		ranks = ranks.Union(one(r))
	}
	s.mu.Unlock()
	if !ranks.IsEmpty() {
		s.up.events(protocol.Group{Kind: kind, Ranks: ranks, Body: canonical.JSON(body)})
	}
}

// signal passes a signal on to the ranks that we started.
func (s *Server) signal(sig syscall.Signal) {
	for _, p := range s.everybody() {
		p.child.Signal(sig)
	}
}

// find gives the present process of a rank that we have started, nil if there is
// none.
func (s *Server) find(r rank.ID) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[r]
}

func (s *Server) keep(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[p.rank] = p
	s.all = append(s.all, p)
	s.others.forget(one(p.rank))
}

// keepOther notes a rank that is here and that we have not started.
func (s *Server) keepOther(r rank.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others.add(one(r))
	delete(s.processes, r)
}

// keepOwn notes whether the session has started the job of such a rank.
func (s *Server) keepOwn(r rank.ID, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = s.own.Minus(one(r))
	if own {
		s.own = s.own.Union(one(r))
	}
}

func (s *Server) everybody() []*process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*process(nil), s.all...)
}

// finish ends the back end and returns when it has; what it still reports goes
// up. It may be called while the vertex works, and more than once.
func (s *Server) finish() {
	over := make(chan struct{})
	s.lane.do(job{slow: true, run: func() { s.endBackend(); close(over) }})
	<-over
}

// close ends everything: engines, ranks, goroutines, in this order. Ranks that
// the person let go run on, and it waits for them until ctx ends.
func (s *Server) close(ctx context.Context) {
	s.finish()
	s.lane.wait()
	s.turnOutput()
	s.up.close()
	s.waitForFree(ctx)
	if s.cfg.Forker != nil {
		s.cfg.Forker.Close()
	}
	s.tasks.Wait()
	for _, p := range s.everybody() {
		p.close()
	}
}

// waitForFree waits for the ranks that were let go; the others are dead by now.
func (s *Server) waitForFree(ctx context.Context) {
	var free []*process
	for _, p := range s.everybody() {
		if p.runsFree() {
			free = append(free, p)
		}
	}
	if len(free) > 0 && s.cfg.LetGo != nil {
		s.cfg.LetGo()
	}
	for _, p := range free {
		select {
		case <-p.child.Done():
			if p.out != nil {
				p.out.drain()
			}
		case <-ctx.Done():
		}
	}
}

// noteFailed notes that a rank could not be started.
func (s *Server) noteFailed(r rank.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slotFailed = s.slotFailed || r == s.cfg.SlotRank
}

// status is what a slot exits with: as the last process of its own rank, or as a shell that cannot start its program.
func (s *Server) status() int {
	if s.cfg.Slot == nil {
		return 0
	}
	status := 0
	if s.slotFailed {
		status = local.NotStarted
	}
	for _, p := range s.everybody() {
		if p.rank == s.cfg.SlotRank {
			status = p.child.Status()
		}
	}
	return status
}
