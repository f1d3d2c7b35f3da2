// Package probe provides the stacks of running ranks without a debugger. The processes are stopped
// for about a millisecond, in which their registers and stacks are copied, and run on.
package probe

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sdm/backend"
	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/proc"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
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
	cache *cache
	ranks map[rank.ID]*watched

	tells atomic.Bool // progress was asked for, so that ends of ranks tell how, where the kernel knows
}

// watched is a rank.
type watched struct {
	pid    int
	state  backend.State
	began  hold.Usage       // at the first of several samples
	handle *hold.Handle     // nil: it had ended when it was attached to
	exit   protocol.Exit    // how it ended, after its end; Unknown: not known
	memory proc.MemoryGroup // at the begin
	// Those of the last sample; see waits.
	stamp, arrivals, others, children uint64
	progress                          progress
	runs                              *runs
}

// maxQueued is the number of requests that may wait. Further ones block their caller: a session
// has one outstanding request for each rank.
const maxQueued = 1024

// New returns a back end without ranks; Attach adds them. For each command stacks it logs, at level Debug,
// how many threads were read, how long a process was held at most, and how long the command took. debugFiles is
// the directory of separate debug files, for instance DebugFiles; "": none are read. Reading a large one can take
// some 100 ms.
func New(sink backend.Sink, log *slog.Logger, debugFiles string) *Backend {
	b := &Backend{sink: sink, log: log, queue: make(chan func(), maxQueued), cache: newCache(), ranks: map[rank.ID]*watched{}}
	b.cache.debugFiles = debugFiles
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
			b.cache.rest()
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
		b.fail(id, one, "attach", &protocol.Fault{Kind: protocol.FaultLaunch, Message: "the probe reads processes that run already"})
		return
	}
	if old := b.ranks[t.Rank]; old != nil {
		old.leave() // the end of its process must not count for the new one
	}
	w := &watched{pid: t.PID, state: backend.Stopped}
	w.exit.Unknown, w.memory = true, proc.MemoryGroupOf(t.PID)
	w.handle, _ = hold.OpenProcess(t.PID) // nil if the process has ended, which is reported below
	b.ranks[t.Rank] = w
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: one, Body: []byte("{}")})
	b.sink.Event(protocol.Group{Kind: protocol.KindStopped, Ranks: one, Body: canonical.JSON(protocol.Stop{Reason: "attached"})})
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

func (b *Backend) fail(id protocol.RequestID, ranks rank.Set, op string, f *protocol.Fault) {
	f.Op = op
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)})
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
			over := !w.state.IsOver() && w.handle.Over() // its process ID may be that of another process by now
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
		b.fail(q.ID, ready, q.Command.Name, &protocol.Fault{Kind: protocol.FaultEngine, Message: "the probe answers stacks only", Hint: "sdm attach starts a debugger"})
	}
}

// refuse answers for a rank whose state does not allow the command. Other ranks may wait for a rank that has
// ended, so the graph of waits says so.
func (b *Backend) refuse(q backend.Request, r rank.ID, state backend.State, f *protocol.Fault) {
	f.Op = q.Command.Name
	one := rank.Range(r, r)
	g := protocol.Group{Kind: protocol.KindFault, Ranks: one, Body: canonical.JSON(f)}
	if f.Op == "stacks" && (state == backend.Exited || state == backend.Signalled) {
		g.Waits = wait.Of(one, b.dead(r))
	}
	b.sink.Reply(q.ID, g)
}

// stacks answers with the merged stacks of all ranks whose processes could be read.
func (b *Backend) stacks(q backend.Request, ranks rank.Set) {
	by := q.Command.Args.By
	if by == "" {
		by = "line"
	}
	if !slices.Contains([]string{"function", "line", "address"}, by) {
		b.fail(q.ID, ranks, "stacks", &protocol.Fault{Kind: protocol.FaultUsage, Message: "stacks cannot be merged by " + strconv.Quote(by), Hint: "function, line or address"})
		return
	}
	var value *expression.Expr
	if text := q.Command.Args.Expr; text != "" {
		var err error
		if value, err = expression.Parse(text); err != nil {
			b.fail(q.ID, ranks, "stacks", &protocol.Fault{Kind: protocol.FaultUsage, Message: err.Error()})
			return
		}
	}
	began := time.Now()
	ids := slices.Collect(ranks.All())
	pids := make([]int, len(ids))
	for i, r := range ids {
		pids[i] = b.ranks[r].pid
	}
	var paths []stack.RankedPath
	var read rank.Set
	var remarks remarks
	var doing []column.Column
	if n := q.Command.Args.Samples; n > 0 {
		doing = b.activities(ranks, n)
	}
	var graphs []*wait.Graph
	a := &q.Command.Args
	b.cache.explain, b.cache.progress, b.cache.value = a.Explain, a.Progress, value
	samples := b.cache.take(pids, view{by, a.AllThreads})
	defer b.cache.unload()
	if a.Progress { // the processor time of children is in it
		doing = append(doing, b.progressOf(ids, samples)...)
	}
	var kin *family
	if bad, _ := protocol.Guard("stacks", func() { kin = b.families(pids, samples, a, by) }); bad != nil {
		b.log.Debug("the children of ranks could not be read", "err", bad.Message)
	}
	for i, s := range samples {
		one := rank.Range(ids[i], ids[i])
		if s.err != nil {
			b.unread(q.ID, ids[i], s.err)
			continue
		}
		var g *wait.Graph
		if bad, _ := protocol.Guard("stacks", func() { g = b.graph(ids[i], s.waits) }); bad != nil {
			b.unread(q.ID, ids[i], bad)
			continue
		}
		graphs = append(graphs, g)
		read = read.Union(one)
		remarks.add(one, &s)
		for _, frames := range s.threads {
			paths = append(paths, stack.RankedPath{Path: stack.PathOf(frames), Ranks: one})
		}
		if a.Children && kin != nil {
			for _, frames := range kin.stacks(i, by) {
				paths = append(paths, stack.RankedPath{Path: stack.PathOf(frames), Ranks: one})
			}
		}
	}
	if !read.IsEmpty() {
		g := protocol.Group{Kind: protocol.KindResult, Ranks: read, Body: canonical.JSON(merged{by})}
		if bad, _ := protocol.Guard("stacks", func() {
			g.Columns, g.Stack, g.Waits = columnsOf(read, doing, remarks.columns()), stack.OfPaths(paths), wait.MergeAll(graphs)
		}); bad != nil {
			g = protocol.Group{Kind: protocol.KindFault, Ranks: read, Body: canonical.JSON(bad)}
		}
		b.sink.Reply(q.ID, g)
	}
	b.log.Debug("stacks were read", "ranks", ranks.String(), "threads", b.cache.cost.threads, "held", b.cache.cost.held, "took", time.Since(began))
}

// families reads the processes that ranks have started: of all ranks if that was asked for, else of those that may wait for
// one. It says of the latter what one does.
func (b *Backend) families(pids []int, samples []sample, a *protocol.Args, by string) *family {
	var of []int
	for i := range samples {
		if a.Children && samples[i].err == nil || !a.Progress && samples[i].mayWaitForChild() {
			of = append(of, i)
		}
	}
	ranks := map[int]bool{}
	for _, w := range b.ranks {
		if !w.state.IsOver() {
			ranks[w.pid] = true
		}
	}
	kin := b.cache.readFamily(pids, of, ranks, view{byOf(by), a.AllThreads})
	if !a.Progress {
		kin.describe(samples)
	}
	return kin
}

// columnsOf returns the columns of the lists, restricted to some ranks, in the order of their names.
func columnsOf(ranks rank.Set, lists ...[]column.Column) (out []column.Column) {
	for _, c := range slices.Concat(lists...) {
		out = append(out, c.Only(ranks))
	}
	slices.SortFunc(out, func(c, d column.Column) int { return strings.Compare(c.Name, d.Name) })
	return out
}

// merged is the body of stacks.
type merged struct {
	By string `json:"by"`
}

// unread answers why a process could not be read. If it has ended, the graph of waits says so.
func (b *Backend) unread(id protocol.RequestID, r rank.ID, err error) {
	one := rank.Range(r, r)
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoMemory
	}
	f := &protocol.Fault{Kind: protocol.FaultEngine, Op: "stacks", Message: err.Error()}
	switch {
	case errors.Is(err, errNoMemory):
		f.Kind = protocol.FaultState
	case errors.Is(err, fs.ErrPermission):
		f.Message, f.Hint = forbidden(b.ranks[r].pid)
	}
	x := wait.Rank{Doing: wait.Doing{State: wait.Unread}}
	if errors.Is(err, errNoMemory) {
		x = b.dead(r)
	}
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindFault, Ranks: one, Body: canonical.JSON(f), Waits: wait.Of(one, x)})
}

// graph returns what a rank waits for.
func (b *Backend) graph(r rank.ID, w *waits) *wait.Graph {
	one := rank.Range(r, r)
	x := b.ranks[r]
	b.addPeer(r, w)
	if w.Unheld { // the next sample that has held it is compared with the last one that has
		return wait.Of(one, w.Rank)
	}
	w.Moved = x.stamp != 0 && x.stamp != w.stamp || x.children != 0 && w.children != 0 && x.children != w.children
	switch local := w.size <= len(b.ranks); {
	case w.inTorch:
		w.Doubt = !w.runs.slept(x.runs, w.polling)
	case w.inCall && !w.numbered: // messages of other hosts do not come by shared memory
		w.Doubt = !local || w.arrivals == 0 || w.arrivals != x.arrivals
	}
	if w.parted || w.inCall && x.stamp != 0 && w.others != x.others { // what other ranks wait for may come from another thread
		w.Doubt = true
	}
	x.stamp, x.arrivals, x.others, x.runs, x.children = w.stamp, w.arrivals, w.others, w.runs, w.children
	return wait.Of(one, w.Rank)
}

// detach ends the watching of ranks, which run on.
func (b *Backend) detach(id protocol.RequestID, ranks rank.Set) {
	for r := range ranks.All() {
		b.ranks[r].state = backend.Detached
		b.cache.forget(b.ranks[r].pid)
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
	b.cache.forget(w.pid)
	w.leave()
	b.sink.Event(protocol.Group{Kind: kind, Ranks: rank.Range(r, r), Body: canonical.JSON(exit)})
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
