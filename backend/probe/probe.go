// The back end: ranks, and the queue of requests.

package probe

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sdm/backend"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/proc"
	"sdm/backend/probe/internal/sampler"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Backend answers the commands stacks and detach for ranks that run. To its sink it reports each rank as
// stopped, since a session accepts stacks for stopped ranks only; the process is stopped only while it is
// read. A goroutine, which New starts and Close waits for, carries out the requests in order. Another
// goroutine for each rank waits for the end of its process; it ends with the rank, or with Close.
type Backend struct {
	sink  backend.Sink
	log   *slog.Logger
	queue chan func() // closed by Close

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup

	handles sync.Map // *hold.Handle by rank.ID, of ranks that ran when they were attached to

	// The goroutine that carries out the requests is the only one that uses these fields.
	sampler *sampler.Sampler
	ranks   map[rank.ID]*watched

	tells atomic.Bool // progress was asked for, so that ends of ranks tell how, where the kernel knows
}

// watched is a rank.
type watched struct {
	pid      int
	state    backend.State
	began    hold.Usage        // at the first of several samples
	handle   *hold.Handle      // nil: it had ended when it was attached to
	exit     protocol.Exit     // how it ended, after its end; Unknown: not known
	memory   proc.ControlGroup // at the begin
	marks    sampler.Marks     // of the last sample
	progress sampler.Progress
}

// DebugFiles is where distributions install separate debug files.
const DebugFiles = "/usr/lib/debug"

// statusWait is how long the parent of a rank may take to wait for it, so that the kernel tells how it has ended.
const statusWait = 200 * time.Millisecond

// maxQueued is the number of requests that may wait. Further ones block their caller: a session
// has one outstanding request for each rank.
const maxQueued = 1024

// New returns a back end without ranks; Attach adds them. For each command stacks it logs, at level Debug,
// how many threads were read, how long a process was held at most, and how long the command took. debugFiles is
// the directory of separate debug files, for instance DebugFiles; "": none are read. Reading a large one can take
// some 100 ms.
func New(sink backend.Sink, log *slog.Logger, debugFiles string) *Backend {
	b := &Backend{sink: sink, log: log, sampler: sampler.New(debugFiles), ranks: map[rank.ID]*watched{}}
	b.queue = make(chan func(), maxQueued)
	b.wg.Go(b.run)
	return b
}

// idleAfter is the time after the last request at which unused memory is returned to the system. It is
// longer than the default time between samples.
const idleAfter = 1500 * time.Millisecond

// run carries out the requests until Close. It returns memory when it is idle: a sample takes five times
// the memory that is needed between samples, and the host is needed for the job. The first time, this is also the
// memory of the code that has run by now, most of which is needed at the start of the program only.
func (b *Backend) run() {
	var idle <-chan time.Time
	first := true
	for {
		select {
		case job, more := <-b.queue:
			if !more {
				for _, w := range b.ranks {
					w.leave()
				}
				return
			}
			job()
			idle = time.After(idleAfter)
		case <-idle:
			idle = nil
			b.sampler.Rest()
			debug.FreeOSMemory()
			if first {
				hold.UnloadProgram()
				first = false
			}
		}
	}
}

var _ backend.Backend = (*Backend)(nil)

// post has the goroutine carry out a job. After Close it does nothing.
func (b *Backend) post(job func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.queue <- job
	}
}

// Attach implements backend.Backend. Nothing is done to the processes. Held targets are refused:
// they need a debugger to leave their first instruction.
func (b *Backend) Attach(id protocol.RequestID, targets []backend.Target, _ string, _ time.Duration) {
	targets = slices.Clone(targets)
	b.post(func() {
		for _, t := range targets {
			b.attach(id, t)
		}
	})
}

func (b *Backend) attach(id protocol.RequestID, t backend.Target) {
	one := rank.Range(t.Rank, t.Rank)
	if t.Held || t.Core != "" {
		f := &protocol.Fault{Kind: protocol.FaultLaunch, Message: "the probe reads processes that run already"}
		b.fail(id, one, "attach", f)
		return
	}
	if old := b.ranks[t.Rank]; old != nil {
		old.leave() // the end of its process must not count for the new one
	}
	w := &watched{pid: t.PID, state: backend.Stopped}
	w.exit.Unknown, w.memory = true, proc.ControlGroupOf(t.PID)
	w.handle, _ = hold.OpenProcess(t.PID) // nil if the process has ended, which is reported below
	b.ranks[t.Rank] = w
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: one, Body: []byte("{}")})
	stop := canonical.JSON(protocol.Stop{Reason: "attached"})
	b.sink.Event(protocol.Group{Kind: protocol.KindStopped, Ranks: one, Body: stop})
	if w.handle == nil {
		b.over(t.Rank, protocol.Exit{Unknown: true})
		return
	}
	b.handles.Store(t.Rank, w.handle)
	b.wg.Go(func() {
		if w.handle.Wait() {
			exit := b.exitOf(w.handle)
			b.post(func() {
				if b.ranks[t.Rank] == w {
					b.over(t.Rank, exit)
				}
			})
		}
	})
}

// Over reports whether the process of a rank has ended, also if no event has told it yet. It may be
// called from any goroutine.
func (b *Backend) Over(r rank.ID) bool {
	h, known := b.handles.Load(r)
	return known && h.(*hold.Handle).Over()
}

// leave ends the goroutine that waits for the end of a rank.
func (w *watched) leave() {
	if w.handle != nil {
		w.handle.Close()
	}
}

// Do implements backend.Backend.
func (b *Backend) Do(q backend.Request) {
	b.post(func() { b.do(q) })
}

func (b *Backend) do(q backend.Request) {
	var ready rank.Set
	for r := range q.Ranks.All() {
		state := backend.Lost
		if w := b.ranks[r]; w != nil {
			over := !w.state.IsOver() && w.handle.Over() // its process ID may be another process by now
			if over && !b.tells.Load() {
				b.over(r, protocol.Exit{Unknown: true})
			}
			if state = w.state; over {
				state = backend.Exited // how it has ended is reported when the kernel tells it
			}
		}
		if f := state.Refuse(protocol.NeedStopped); f != nil {
			b.refuse(q, r, state, f)
			continue
		}
		ready = ready.Union(rank.Range(r, r))
	}
	switch {
	case ready.IsEmpty():
	case q.Command.Name == "stacks":
		b.stacks(q, ready)
	case q.Command.Name == "detach":
		b.detach(q.ID, ready)
	default:
		f := &protocol.Fault{Kind: protocol.FaultEngine, Message: "the probe answers stacks only", Hint: "sdm attach starts a debugger"}
		b.fail(q.ID, ready, q.Command.Name, f)
	}
}

// detach ends the watching of ranks, which run on.
func (b *Backend) detach(id protocol.RequestID, ranks rank.Set) {
	for r := range ranks.All() {
		b.ranks[r].state = backend.Detached
		b.sampler.Forget(b.ranks[r].pid)
		b.ranks[r].leave()
	}
	b.sink.Event(protocol.Group{Kind: protocol.KindDetached, Ranks: ranks, Body: []byte("{}")})
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte("{}")})
}

// Ended implements backend.Backend.
func (b *Backend) Ended(r rank.ID, exit protocol.Exit) {
	b.post(func() { b.over(r, exit) })
}

// over reports the end of a rank, once.
func (b *Backend) over(r rank.ID, exit protocol.Exit) {
	w := b.ranks[r]
	if w == nil || w.state.IsOver() {
		return
	}
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	w.state, _ = w.state.After(kind)
	w.exit = exit
	b.sampler.Forget(w.pid)
	w.leave()
	b.sink.Event(protocol.Group{Kind: kind, Ranks: rank.Range(r, r), Body: canonical.JSON(exit)})
}

// exitOf returns how a process has ended that is not our child. The kernel is asked only if a request
// has asked for progress.
func (b *Backend) exitOf(h *hold.Handle) protocol.Exit {
	if !b.tells.Load() {
		return protocol.Exit{Unknown: true}
	}
	status, ok := h.Status(statusWait)
	return protocol.Exit{Code: status.Code, Signal: status.Signal, Meaning: status.Meaning, Unknown: !ok}
}

// Close implements backend.Backend. The processes run on. A request that is being carried out ends
// by itself within milliseconds.
func (b *Backend) Close(context.Context) error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.queue)
	}
	b.mu.Unlock()
	b.wg.Wait()
	return nil
}
