// The answer to stacks.

package probe

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"sdm/backend"
	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/proc"
	"sdm/backend/probe/internal/sampler"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// CheckExpression returns why a text is no expression whose value samples can compare; nil: it is one.
func CheckExpression(text string) error {
	_, err := expression.Parse(text)
	return err
}

// optionsOf returns what arguments of stacks ask for.
func optionsOf(a *protocol.Args) (o sampler.Options, f *protocol.Fault) {
	o = sampler.Options{By: cmp.Or(a.By, "line"), AllThreads: a.AllThreads, Explain: a.Explain, Progress: a.Progress}
	if !slices.Contains([]string{"function", "line", "address"}, o.By) {
		message := "stacks cannot be merged by " + strconv.Quote(o.By)
		return o, &protocol.Fault{Kind: protocol.FaultUsage, Message: message, Hint: "function, line or address"}
	}
	if a.Expr != "" {
		var err error
		if o.Value, err = expression.Parse(a.Expr); err != nil {
			return o, &protocol.Fault{Kind: protocol.FaultUsage, Message: err.Error()}
		}
	}
	return o, nil
}

// stacks answers with the merged stacks of all ranks whose processes could be read.
func (b *Backend) stacks(q backend.Request, ranks rank.Set) {
	a := &q.Command.Args
	o, f := optionsOf(a)
	if f != nil {
		b.fail(q.ID, ranks, "stacks", f)
		return
	}
	began := time.Now()
	ids := slices.Collect(ranks.All())
	pids := make([]int, len(ids))
	for i, r := range ids {
		pids[i] = b.ranks[r].pid
	}
	var doing []column.Column
	if a.Samples > 0 {
		doing = b.activities(ranks, a.Samples)
	}
	result := b.sampler.Take(pids, o)
	defer b.sampler.Unload()
	if a.Progress { // the processor time of children is in it
		doing = append(doing, b.progressOf(ids, result.Samples, o.Value != nil)...)
	}
	var kin *sampler.Family
	if bad, _ := protocol.Guard("stacks", func() { kin = b.family(pids, result.Samples, a, o) }); bad != nil {
		b.log.Debug("the children of ranks could not be read", "err", bad.Message)
	} else {
		result.Add(kin.Cost)
	}
	if !a.Children {
		kin = nil
	}
	b.answer(q.ID, o.By, ids, result.Samples, kin, doing)
	b.log.Debug("stacks were read",
		"ranks", ranks.String(), "threads", result.Threads, "held", result.Held, "took", time.Since(began))
}

// answer merges the samples of ranks into one group, with the stacks of their families (nil: none) and with columns.
// Ranks that could not be read have an answer each.
func (b *Backend) answer(id protocol.RequestID, by string, ids []rank.ID, samples []sampler.Sample,
	kin *sampler.Family, doing []column.Column) {
	var paths []stack.RankedPath
	var graphs []*wait.Graph
	var read rank.Set
	var remarks remarks
	for i := range samples {
		s, one := &samples[i], rank.Range(ids[i], ids[i])
		if s.Err != nil {
			b.unread(id, ids[i], s.Err)
			continue
		}
		var g *wait.Graph
		if bad, _ := protocol.Guard("stacks", func() { g = b.graph(ids[i], s.Waits) }); bad != nil {
			b.unread(id, ids[i], bad)
			continue
		}
		graphs = append(graphs, g)
		read = read.Union(one)
		remarks.add(one, s)
		all := s.Threads
		if kin != nil {
			all = slices.Concat(all, kin.Stacks(i))
		}
		for _, frames := range all {
			paths = append(paths, stack.RankedPath{Path: stack.PathOf(frames), Ranks: one})
		}
	}
	if read.IsEmpty() {
		return
	}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: read, Body: canonical.JSON(merged{by})}
	if bad, _ := protocol.Guard("stacks", func() {
		g.Columns, g.Stack, g.Waits = columnsOf(read, doing, remarks.columns()), stack.OfPaths(paths), wait.MergeAll(graphs)
	}); bad != nil {
		g = protocol.Group{Kind: protocol.KindFault, Ranks: read, Body: canonical.JSON(bad)}
	}
	b.sink.Reply(id, g)
}

// merged is the body of stacks.
type merged struct {
	By string `json:"by"`
}

// family reads the processes that ranks have started: of all ranks if that was asked for, else of the ranks that may
// wait for one. It says of the latter what one does.
func (b *Backend) family(pids []int, samples []sampler.Sample, a *protocol.Args, o sampler.Options) *sampler.Family {
	var which []int
	for i := range samples {
		if a.Children && samples[i].Err == nil || !a.Progress && samples[i].MayWaitForChild() {
			which = append(which, i)
		}
	}
	ranks := map[int]bool{}
	for _, w := range b.ranks {
		if !w.state.IsOver() {
			ranks[w.pid] = true
		}
	}
	kin := b.sampler.Family(pids, which, ranks, o)
	if !a.Progress {
		kin.Describe(samples)
	}
	return kin
}

// fail answers for ranks with a fault.
func (b *Backend) fail(id protocol.RequestID, ranks rank.Set, op string, f *protocol.Fault) {
	f.Op = op
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)})
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

// unread answers why a process could not be read. If it has ended, the graph of waits says so.
func (b *Backend) unread(id protocol.RequestID, r rank.ID, err error) {
	f := &protocol.Fault{Kind: protocol.FaultEngine, Op: "stacks", Message: err.Error()}
	x := wait.Rank{Doing: wait.Doing{State: wait.Unread}}
	switch {
	case errors.Is(err, sampler.ErrEnded), errors.Is(err, fs.ErrNotExist):
		f.Kind, f.Message, x = protocol.FaultState, sampler.ErrEnded.Error(), b.dead(r)
	case errors.Is(err, fs.ErrPermission):
		f.Message, f.Hint = sampler.Forbidden(b.ranks[r].pid)
	}
	one := rank.Range(r, r)
	b.sink.Reply(id, protocol.Group{Kind: protocol.KindFault, Ranks: one, Body: canonical.JSON(f), Waits: wait.Of(one, x)})
}

// graph returns what a rank waits for.
func (b *Backend) graph(r rank.ID, w *sampler.Waits) *wait.Graph {
	if w.Peer != 0 {
		b.addPeer(r, w)
	}
	w.Compare(&b.ranks[r].marks, len(b.ranks))
	return wait.Of(rank.Range(r, r), w.Rank)
}

// addPeer adds an edge if a rank of this host can end the wait of the first thread.
func (b *Backend) addPeer(r rank.ID, w *sampler.Waits) {
	for other, x := range b.ranks {
		if x.pid == w.Peer && other != r {
			w.Waits = append(w.Waits, wait.Message{Edge: wait.Edge{Object: w.Object, Tag: wait.Unknown}, Peer: int(other)})
			w.Doing.Detail = "" // which has the process in place of the rank
		}
	}
}

// dead returns what is known of the end of a rank.
func (b *Backend) dead(r rank.ID) wait.Rank {
	w := b.ranks[r]
	d := wait.Doing{State: wait.Dead, Does: proc.End(w.pid, w.memory)}
	switch {
	case w.exit.Unknown:
	case w.exit.Signal != "":
		d.Does = proc.KilledBy(w.exit.Signal, w.memory.Kills())
	default:
		d.Does = "has ended with status " + strconv.Itoa(w.exit.Code)
	}
	return wait.Rank{Doing: d}
}
