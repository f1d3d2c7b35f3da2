// Jobs that a PMIx server starts for us.

package job

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"sdm/cmd/internal/relay"
	"sdm/cmd/internal/servers"
	"sdm/launch/pmix"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// pmixJob is a job that a PMIx server has started for us. The servers of sdm, which the PMIx server
// has started on its nodes, are a second job of the PMIx server.
//
// Goroutines: relay's and pmix.Direct's.
type pmixJob struct {
	*start
	terminal *Terminal
	direct   *pmix.Direct
	relay    relay.Relay // passes on what the ranks write
	session  session.Session

	mu     sync.Mutex
	all    rank.Set // ranks of the tree
	free   rank.Set // ranks that have ended, were detached, or are lost
	killed rank.Set // ranks that a command has killed
}

// Direct lets a PMIx server start the job of d, holds its ranks, and starts servers on its nodes.
func Direct(ctx context.Context, s Spec, d pmix.DirectSpec, io IO) (*Job, error) {
	program, err := pmix.FindProgram()
	if err != nil {
		return nil, notStarted("--launcher pmix: %w", err)
	}
	h := &pmixJob{start: &start{Spec: s, IO: io, b: s.builder(io)}}
	if h.terminal, err = io.Terminal(); err != nil {
		return nil, failed(console.StatusUsage, err)
	}
	if h.terminal.Input {
		h.dropInput()
	}
	d.Program, d.Env = program, s.Servers.StarterEnv
	d.Stdout, d.Stderr = h.streams()
	d.Log, d.Force, d.Notice = s.PMIxLog, s.Force, h.notice
	h.direct = pmix.NewDirect(d)
	tree, table, err := h.build(ctx)
	if err != nil {
		h.undo()
		h.terminal.Leave()
		return nil, err
	}
	return h.job(tree, table), nil
}

// dropInput says that no rank reads standard input, if there may be something in it.
func (t *start) dropInput() {
	info, err := t.In.Stat()
	if t.StdinFile == "" && (err != nil || info.Mode()&os.ModeCharDevice != 0) { // a terminal or /dev/null
		return
	}
	t.Remark("the ranks find the end of standard input at once: a PMIx server gets none from sdm (sdm run --launcher pmix -- mpirun … passes it on)")
}

// streams returns where the output of the ranks goes, as mpirJob.spec does.
func (h *pmixJob) streams() (stdout, stderr *os.File) {
	switch {
	case h.terminal.Out != nil:
		return h.relay.Pipe(h.terminal.Out), h.relay.Pipe(h.terminal.Err)
	case h.JSON != nil:
		return h.relay.Events(h.JSON, fromServer)
	}
	return h.Out, h.Err
}

// fromServer is the name of the writer in events of output that a PMIx server forwards.
const fromServer = "pmix"

// build starts the job and the servers, and builds the tree.
func (h *pmixJob) build(ctx context.Context) (*servers.Tree, protocol.Proctable, error) {
	inTime, cancel := servers.Bounded(ctx, h.QueueWait, "--queue-wait")
	whole, err := h.direct.Acquire(inTime, h.Remark)
	cancel()
	h.Clock.Restart()
	h.relay.Inherited()
	if err != nil {
		return nil, nil, failed(console.StatusNotStarted, err)
	}
	table, err := h.chosen(whole)
	if err != nil {
		return nil, nil, failed(console.StatusUsage, err)
	}
	p := servers.Placement{Table: table, Whole: whole, ID: h.direct.JobID()}
	if !h.b.IsChosen() {
		if p.Coming, err = h.spawn(ctx, hostsIn(whole)); err != nil {
			return nil, nil, failed(console.StatusNoTree, err)
		}
		p.Instead = func(*servers.Placement) { h.direct.EndDaemons() }
	}
	tree, err := h.b.Assemble(ctx, p, nil)
	if err != nil {
		return nil, nil, NotBuilt(ctx, err, nil)
	}
	return tree, table, nil
}

// spawn lets the PMIx server start a server of ours on each of the hosts.
func (h *pmixJob) spawn(ctx context.Context, hosts []string) (*servers.Rendezvous, error) {
	coming, err := h.b.OpenPushed()
	if err != nil {
		return nil, err
	}
	argv, input, err := coming.PushedLine()
	if err == nil {
		err = h.direct.StartDaemons(ctx, argv, input, hosts)
	}
	if err != nil {
		coming.Discard()
		return nil, err
	}
	return coming, nil
}

// job returns the job with a tree over the ranks of a table.
func (h *pmixJob) job(tree *servers.Tree, table protocol.Proctable) *Job {
	h.all, h.session = tree.Ranks, tree.Session
	j := attached(tree, table, h.IO)
	j.First.Args.Own = true
	j.Started, j.Over = h.release, h.observe
	closeTree := j.end
	j.end = func(ctx context.Context, status console.Status) (console.Status, error) {
		closeTree(ctx, status)
		return h.end(ctx, status)
	}
	return j
}

// release lets the ranks go on. Debuggers are attached to them. Ranks that cannot be released would
// wait for ever: they are killed.
func (h *pmixJob) release() {
	if err := h.direct.Release(); err != nil {
		h.Remark(fmt.Sprintf("the ranks are not released, and are killed: %v", err))
		h.session.Do(context.Background(), session.Call{Command: "kill"}) // its answer is shown
	}
}

// observe records the states of the ranks after the last command. What has not ended is killed while
// gdbs still hold it: ranks that were detached before would run on until the server has killed them,
// or to their end if the server is lost.
func (h *pmixJob) observe(s *session.States, killed rank.Set) {
	h.mu.Lock()
	h.free, h.killed = s.Ended(), killed
	h.mu.Unlock()
	if left := s.All().Minus(s.Ended()); !left.IsEmpty() {
		h.kill(left)
	}
}

// kill kills ranks and waits for that. The console reads no more events.
func (h *pmixJob) kill(ranks rank.Set) {
	ctx, cancel := context.WithTimeout(context.Background(), holdWait)
	defer cancel()
	id, err := h.session.Do(ctx, session.Call{Command: "kill", Ranks: ranks.String(), Wait: holdWait})
	for err == nil {
		select {
		case e, open := <-h.session.Events():
			if !open || e.ID == id && e.Name == session.DoneName {
				return
			}
		case <-ctx.Done():
			return // the server kills them
		}
	}
}

// endWait is how long the server may take to report the ends of jobs whose processes have ended.
const endWait = 10 * time.Second

// end waits for the ends of both jobs and reports them. If ranks are still under control, it kills
// both jobs instead.
func (h *pmixJob) end(ctx context.Context, status console.Status) (console.Status, error) {
	defer h.undo()
	h.mu.Lock()
	over, killed := status != console.StatusNotStarted && h.all.Minus(h.free).IsEmpty(), !h.killed.IsEmpty()
	h.mu.Unlock()
	if !over {
		return status, nil
	}
	endings, err := h.direct.Ended(ctx)
	for _, e := range endings {
		h.reportEnding(e)
		if own := console.Status(e.Code); !e.Daemons && own != 0 && !killed &&
			(status == console.StatusGood || status == console.StatusRankFailed) {
			status = own
		}
	}
	if err != nil && ctx.Err() == nil {
		if !h.direct.IsLost() { // that has been told
			h.Remark(err.Error())
		}
		err = nil // the status comes from the ranks
	}
	return status, err
}

// reportEnding shows which of the two jobs has ended, and how.
func (h *pmixJob) reportEnding(e pmix.Ending) {
	what := "the job of the ranks has ended"
	if e.Daemons {
		what = "the job of our servers has ended"
	}
	h.report(protocol.JobState{State: "ended", Job: e.Namespace, Status: &e.Code, Text: what})
}

// undo kills what is left of both jobs and leaves the PMIx server.
func (h *pmixJob) undo() {
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	if err := h.direct.End(ctx); err != nil {
		h.Log.Warn("a job of the PMIx server may be left", "err", err)
	}
	h.relay.Close()
}
