// What ranks wait for that a debugger has stopped.

package probe

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"sdm/backend"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/sampler"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// Debugged is a back end with a debugger that adds to its answers to stacks what the ranks wait for. It reads the
// memory of processes that the debugger has stopped. The kernel tells their program counters and stack pointers, and
// the debugger the other registers of threads in MPI.
type Debugged struct {
	backend.Backend // the debugger

	mu    sync.Mutex
	pids  map[rank.ID]int                 // of ranks with processes
	asked map[protocol.RequestID]question // of stacks

	reading sync.Mutex // held while sampler is used
	sampler *sampler.Sampler
}

// question is a request of stacks.
type question struct {
	owed rank.Set // ranks that owe an answer
	args *protocol.Args
}

// WithWaits returns a back end that uses the debugger that open makes.
func WithWaits(open func(backend.Sink) (backend.Backend, error), sink backend.Sink) (*Debugged, error) {
	d := &Debugged{pids: map[rank.ID]int{}, asked: map[protocol.RequestID]question{}, sampler: sampler.New("")}
	var err error
	d.Backend, err = open(waitsSink{sink, d})
	return d, err
}

// Attach implements backend.Backend.
func (d *Debugged) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, wait time.Duration) {
	d.mu.Lock()
	for _, t := range targets {
		delete(d.pids, t.Rank)
		if t.Core == "" {
			d.pids[t.Rank] = t.PID
		}
	}
	d.mu.Unlock()
	d.Backend.Attach(id, targets, stopAt, wait)
}

// Do implements backend.Backend.
func (d *Debugged) Do(q backend.Request) {
	if q.Command.Name == "stacks" {
		d.mu.Lock()
		d.asked[q.ID] = question{d.asked[q.ID].owed.Union(q.Ranks), &q.Command.Args}
		d.mu.Unlock()
	}
	d.Backend.Do(q)
}

// processes returns the processes of ranks that are answered now, if the request is one of stacks.
func (d *Debugged) processes(id protocol.RequestID, answered rank.Set) (ids []rank.ID, pids []int, a *protocol.Args) {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked, ok := d.asked[id]
	if !ok {
		return nil, nil, nil
	}
	if asked.owed = asked.owed.Minus(answered); asked.owed.IsEmpty() {
		delete(d.asked, id)
	} else {
		d.asked[id] = asked
	}
	for r := range answered.All() {
		if pid := d.pids[r]; pid != 0 {
			ids, pids = append(ids, r), append(pids, pid)
		}
	}
	return ids, pids, asked.args
}

// all returns the processes of all ranks.
func (d *Debugged) all() map[int]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ranks := map[int]bool{}
	for _, pid := range d.pids {
		ranks[pid] = true
	}
	return ranks
}

// read returns what processes wait for, nil: nothing is known; and the stacks of those that they have started, if these
// were asked for. known are registers of their threads.
func (d *Debugged) read(ids []rank.ID, pids []int, a *protocol.Args, known []hold.Known) (*wait.Graph, *stack.Tree) {
	d.reading.Lock()
	defer d.reading.Unlock()
	ranks := d.all()
	d.sampler.ForgetOthers(ranks)
	defer d.sampler.Unload()
	o := sampler.Options{By: "line", Registers: known, Hurried: true} // our debugger does not let go
	var graphs []*wait.Graph
	for i, s := range d.sampler.Take(pids, o).Samples {
		if s.Err == nil {
			s.Waits.Unheld = false // our debugger holds it
			s.Waits.Doubt = true   // that it is stopped keeps it from receiving
			if s.Waits.Doing.State == wait.Traced {
				s.Waits.Doing.Does, s.Waits.Doing.Detail = "", "" // who traces it is known, and each gdb has its number
			}
			graphs = append(graphs, wait.Of(rank.Range(ids[i], ids[i]), s.Waits.Rank))
		}
	}
	if !a.Children {
		return wait.MergeAll(graphs), nil
	}
	var paths []stack.RankedPath
	_, _ = protocol.Guard("stacks", func() { // the stacks of the ranks are worth more
		all := make([]int, len(pids))
		for i := range all {
			all[i] = i
		}
		o.By, o.AllThreads = cmp.Or(a.By, "line"), a.AllThreads
		family := d.sampler.Family(pids, all, ranks, o)
		for i, r := range ids {
			for _, frames := range family.Stacks(i) {
				paths = append(paths, stack.RankedPath{Path: stack.PathOf(frames), Ranks: rank.Range(r, r)})
			}
		}
	})
	return wait.MergeAll(graphs), stack.OfPaths(paths)
}

// taken removes the registers of threads from an answer and returns them.
func taken(g *protocol.Group) (known []hold.Known) {
	are := func(c column.Column) bool { return strings.HasPrefix(c.Name, backend.RegistersColumn) }
	if !slices.ContainsFunc(g.Columns, are) {
		return nil
	}
	for _, c := range g.Columns {
		for _, v := range c.Values() {
			var r hold.Known
			for _, x := range backend.ParseRegisters(v.Value) {
				if x.Number == backend.ThreadPointer {
					r.Pointer = x.Value
					continue
				}
				r.Registers.Set(x.Number, x.Value)
			}
			known = append(known, r)
		}
	}
	g.Columns = slices.DeleteFunc(slices.Clone(g.Columns), are)
	return known
}

// waitsSink adds what ranks wait for to answers.
type waitsSink struct {
	backend.Sink
	d *Debugged
}

// Reply implements backend.Sink. It takes some milliseconds for answers to stacks.
func (s waitsSink) Reply(id protocol.RequestID, groups ...protocol.Group) {
	for i := range groups {
		g := &groups[i]
		ids, pids, args := s.d.processes(id, g.Ranks)
		known := taken(g)
		if len(ids) > 1 { // they are of one of the processes
			known = nil
		}
		if g.Kind == protocol.KindResult && g.Stack != nil && len(ids) > 0 {
			var children *stack.Tree
			g.Waits, children = s.d.read(ids, pids, args, known)
			g.Stack = g.Stack.Merge(children)
		}
	}
	s.Sink.Reply(id, groups...)
}
