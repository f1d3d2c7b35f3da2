// Package server provides one server of the tree: a vertex with a back end, and the ranks of its
// host. It starts the ranks, writes their standard input and reads their output.
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

// Server is the local part of a vertex: the back end and the ranks of this host.
//
// These goroutines run, and close waits for all of them: one for each slow task (launch, quit), two
// for the output of each rank, one that waits for the end of each rank, and one while data is
// written to a rank's standard input. The goroutine of the vertex's loop calls deliver, which does
// not block. Only tasks of the queue call the back end.
type Server struct {
	cfg     Config
	up      *eventSink
	queue   serialQueue
	backend backend.Backend // used in the queue only
	closed  bool            // the back end has been closed; in the queue only
	waiters sync.WaitGroup  // goroutines that wait for the end of a rank

	programs map[string]rank.Set // the ranks of each program; used in the queue only
	pids     map[rank.ID]int     // without simulated ranks; used in the queue only

	mu         sync.Mutex
	processes  map[rank.ID]*process // current processes of ranks that this server started
	all        []*process           // includes the earlier processes of restarted ranks
	slotFailed bool                 // the rank of this server's own slot could not be started
	others     others
	own        rank.Set // subset of others: ranks of a job that the session started
	history    history
	leaving    rank.Set      // ranks that release waits for
	released   chan struct{} // closed when leaving becomes empty
}

// newServer makes a server that sends its replies and events to the vertex up.
func newServer(cfg Config, up Uplink) (*Server, error) {
	s := &Server{programs: map[string]rank.Set{}, pids: map[rank.ID]int{}, cfg: cfg.withDefaults(),
		up: newEventSink(up, cfg.LateOutput), processes: map[rank.ID]*process{}, history: history{most: cfg.Answers}}
	var err error
	s.backend, err = s.cfg.NewBackend(sink{s})
	return s, err
}

// deliver takes a request for ranks of this server. Each of the ranks answers exactly once. Calls
// come in the order of the requests.
func (s *Server) deliver(d tree.Deliver) {
	c, err := protocol.ReadCommand(d.Body)
	if err != nil {
		s.up.reply(d.ID, fault(d.Ranks, protocol.FaultInternal, "", "the command cannot be read: "+err.Error(), ""))
		return
	}
	quick := func(do func()) { s.queue.do(task{run: s.guarded(d, c.Name, do)}) }
	slow := func(do func()) { s.queue.do(task{slow: true, run: s.guarded(d, c.Name, do)}) }
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
		slow(func() { s.restart(d, c.Args) })
	case c.Name == "core":
		quick(func() { s.openCores(d, c.Args) })
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

// guarded returns the function of a task that executes a request. If do panics, the ranks that have
// not answered get a fault as their answer, and the server continues.
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

// quit ends the session: it detaches or kills all ranks, also those that d does not name.
func (s *Server) quit(d tree.Deliver) {
	s.endBackend()
	s.redirectOutput()
	s.up.reply(d.ID, done(d.Ranks))
}

// redirectOutput redirects the output that detached ranks write from now on to Config.LateOutput:
// no vertex above takes output after the reply to quit.
func (s *Server) redirectOutput() {
	s.up.redirect()
	for _, p := range s.allProcesses() {
		if p.out != nil {
			p.out.awaitRead()
		}
	}
}

// endBackend ends the debuggers: the ranks that this server started are killed, the others are
// detached. It runs in the queue.
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
	for _, p := range s.allProcesses() {
		if !p.isDetached() {
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

// note sends a note for the user from all ranks of this server.
func (s *Server) note(text string) { s.report(protocol.KindNote, protocol.Note{Text: text}) }

// cancelled reports that the starter ends the job.
func (s *Server) cancelled(text string) {
	s.report(protocol.KindJob, protocol.JobState{State: "cancelled", Text: text})
}

// report sends an event of all live ranks of this server.
func (s *Server) report(kind protocol.Kind, body any) {
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

// signal passes a signal on to the ranks that this server started.
func (s *Server) signal(sig syscall.Signal) {
	for _, p := range s.allProcesses() {
		p.child.Signal(sig)
	}
}

// find returns the current process of a rank that this server started, nil if there is none.
func (s *Server) find(r rank.ID) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[r]
}

func (s *Server) addProcess(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[p.rank] = p
	s.all = append(s.all, p)
	s.others.forget(one(p.rank))
}

// addOther records a rank that this server did not start.
func (s *Server) addOther(r rank.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others.add(one(r))
	delete(s.processes, r)
}

// setOwn records whether the session started the job of a rank that this server did not start.
func (s *Server) setOwn(r rank.ID, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = s.own.Minus(one(r))
	if own {
		s.own = s.own.Union(one(r))
	}
}

func (s *Server) allProcesses() []*process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*process(nil), s.all...)
}

// finish closes the back end and returns when it has ended. What the back end reports until then
// goes up. It may be called while the vertex works, and more than once.
func (s *Server) finish() {
	over := make(chan struct{})
	s.queue.do(task{slow: true, run: func() { s.endBackend(); close(over) }})
	<-over
}

// close ends the debuggers, the ranks and the goroutines, in this order. Ranks that the user
// detached run on; close waits for them until ctx ends.
func (s *Server) close(ctx context.Context) {
	s.finish()
	s.queue.wait()
	s.redirectOutput()
	s.up.close()
	s.waitForDetached(ctx)
	if s.cfg.Forker != nil {
		s.cfg.Forker.Close()
	}
	s.waiters.Wait()
	for _, p := range s.allProcesses() {
		p.close()
	}
}

// waitForDetached waits for the detached ranks. All other ranks have ended by now.
func (s *Server) waitForDetached(ctx context.Context) {
	var free []*process
	for _, p := range s.allProcesses() {
		if p.runsDetached() {
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

// noteFailed records that a rank could not be started.
func (s *Server) noteFailed(r rank.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slotFailed = s.slotFailed || r == s.cfg.SlotRank
}

// status returns the exit status of a slot: the status of the last process of its own rank, or what
// a shell returns that cannot start its program.
func (s *Server) status() int {
	if s.cfg.Slot == nil {
		return 0
	}
	status := 0
	if s.slotFailed {
		status = local.NotStarted
	}
	for _, p := range s.allProcesses() {
		if p.rank == s.cfg.SlotRank {
			status = p.child.Status()
		}
	}
	return status
}
