// Jobs of starters under control: MPIR, Flux, and PMIx servers that hold the ranks.

package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"sdm/cmd/internal/relay"
	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/flux"
	"sdm/launch/mpir"
	"sdm/launch/pals"
	"sdm/launch/pmix"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/userfile"
)

// heldLaunch is a starter that runs under control until all its ranks are attached: mpir.Launch,
// flux.Launch and pmix.Indirect.
type heldLaunch interface {
	launch.Launcher
	JobID() string         // the job's name for tools
	StarterPID() int       // of the starter itself
	Done() <-chan struct{} // closed when the starter has ended
	Status() int           // waits for that; as a shell gives it
	Stop()                 // tells the starter to end its job
}

// mpirJob is a job whose starter is a heldLaunch.
//
// Goroutines: relay's.
type mpirJob struct {
	*start
	terminal *Terminal
	launch   heldLaunch
	coming   *servers.Rendezvous // of the servers that the starter starts; nil: it starts none
	refused  error               // why it starts none
	bySrun   bool                // the starter is srun
	relay    relay.Relay         // passes on what the starter writes
	input    *os.File            // --stdin-file, until the starter has inherited it; nil: none

	mu     sync.Mutex
	free   rank.Set // ranks that have ended, were detached, or are lost
	killed rank.Set // ranks that a command has killed
	lost   rank.Set // ranks whose servers are lost
	all    rank.Set // ranks of the tree
}

// byMPIR takes control of a starter's job by MPIR, or of a job of Flux. An error that is a
// *mpir.NoMPIR means that nothing was started and another way may be tried.
func (t *start) byMPIR(ctx context.Context) (*Job, error) {
	h := &mpirJob{start: t}
	return h.hold(ctx, func() error { return h.prepare(ctx) })
}

// hold starts the starter that prepare has made, and attaches to its ranks when it holds them.
func (h *mpirJob) hold(ctx context.Context, prepare func() error) (*Job, error) {
	t := h.start
	var err error
	if h.terminal, err = t.Terminal(); err != nil {
		return nil, failed(console.StatusUsage, err)
	}
	if err := prepare(); err != nil {
		h.abandon()
		return nil, failed(console.StatusNotStarted, err)
	}
	here, err := t.b.StartLocal(1) // starts while the starter does; many jobs have only this host
	if err != nil {
		h.abandon()
		return nil, failed(console.StatusNoTree, err)
	}
	p, err := h.acquire(ctx)
	if err != nil {
		if p.Coming != nil {
			p.Coming.Discard()
		}
		here.Close()
		h.discard(p.Whole)
		return nil, early(err)
	}
	tree, err := t.b.Assemble(ctx, p, here)
	if err != nil {
		h.discard(p.Whole)
		return nil, NotBuilt(ctx, err, nil)
	}
	return h.job(tree, p.Table), nil
}

// prepare makes the launch of the starter.
func (h *mpirJob) prepare(ctx context.Context) error {
	spec := h.spec(ctx)
	var err error
	switch {
	case isFlux(h.Argv):
		h.launch = flux.New(flux.Spec{Argv: spec.Argv, Env: spec.Env, Stdin: spec.Stdin, Stdout: spec.Stdout,
			Stderr: spec.Stderr})
		return nil
	case h.StarterArgs != "":
		if h.coming, err = h.b.Open(true); err == nil {
			spec.Argv, err = withServers(h.coming, h.Argv, h.StarterArgs, h.Log)
			spec.Argv = slices.Concat(h.Front, spec.Argv)
		}
	case h.spansHosts():
		spec.Prepare = h.coLaunch()
	}
	h.launch = mpir.New(spec)
	return err
}

// spec gives the starter our own standard streams. With a prompt its output goes to pipes and is
// shown above the prompt, and its input is empty. With ndjson its output becomes events.
func (h *mpirJob) spec(ctx context.Context) mpir.Spec {
	spec := mpir.Spec{Argv: slices.Concat(h.Front, h.Argv), Front: len(h.Front) > 0, Env: h.starterEnv(), Names: Starters,
		Stdout: h.Out, Stderr: h.Err}
	if h.terminal.Input {
		spec.Stdin = h.In
		if h.StdinFile != "" {
			if f, err := userfile.OpenFor(ctx, h.StdinFile); err == nil {
				spec.Stdin, h.input = f, f
			}
		}
	}
	switch {
	case h.terminal.Out != nil:
		spec.Stdout, spec.Stderr = h.relay.Pipe(h.terminal.Out), h.relay.Pipe(h.terminal.Err)
	case h.JSON != nil:
		spec.Stdout, spec.Stderr = h.relay.Events(h.JSON, fromStarter)
	}
	return spec
}

// starterEnv returns the environment of the starter. It switches off Open MPI's warning that MPIR is
// deprecated, which would appear in the output of the program. Variables that the user has set stay.
func (h *mpirJob) starterEnv() []string {
	add := []protocol.EnvDirective{{Op: "add", Name: "OMPI_MPIR_DO_NOT_WARN", Value: "1"}}
	if h.Servers.Lookup(nodeFile) != "" {
		add = append(add, palsEnv[StarterName(h.Argv[0])]...)
	}
	env, err := launch.Environ(h.Servers.StarterEnv, add)
	if err != nil {
		return h.Servers.StarterEnv
	}
	return env
}

// coLaunch returns a function that writes into the starter's memory what to start on each node.
func (h *mpirJob) coLaunch() func(mpir.Memory) {
	r, err := h.b.Open(true)
	if err != nil {
		h.refused = err
		return nil
	}
	h.coming = r
	return func(m mpir.Memory) {
		err := r.Offer(func(path string, args []string) error { return mpir.CoLaunch(m, path, args) })
		h.mu.Lock()
		defer h.mu.Unlock()
		h.refused = err
	}
}

// acquire waits until the starter holds all ranks. This includes the time in the queue of a
// resource manager, and what the ranks do before MPI_Init.
func (h *mpirJob) acquire(ctx context.Context) (p servers.Placement, err error) {
	inTime, cancel := servers.Bounded(ctx, h.QueueWait, "--queue-wait")
	p.Whole, err = h.launch.Acquire(inTime, h.Remark)
	cancel()
	h.Clock.Restart()
	h.inherited()
	if err == nil {
		p.Table, err = h.chosen(p.Whole)
	}
	p.Coming, p.Refused = h.comes()
	if err != nil {
		return p, err
	}
	p.ID = h.launch.JobID()
	if job, ok := h.launch.(*flux.Launch); ok {
		p.Beside, err = besideInFlux(ctx, h.b, job.ID(), p.Whole)
		return p, err
	}
	p.BySrun = finder{Builder: h.b, job: &h.Spec, io: &h.IO}.useToolOf(ctx, h.launch.StarterPID(), p.ID)
	h.bySrun = p.BySrun
	if server, ok := h.launch.(daemonStarter); ok && !h.b.IsChosen() && !isHere(p.Whole) {
		return spawnServers(ctx, h.b, p, server), nil
	}
	if usePALS(ctx, h.b, &p, p.Whole); p.Beside != nil {
		pals.AwaitBarrier(ctx, h.b.Env)
	}
	return p, nil
}

// isHere reports whether all ranks are on this host.
func isHere(table protocol.Proctable) bool {
	nodes := table.Nodes()
	return len(nodes) == 1 && servers.IsHere(nodes[0].Host)
}

// comes returns the rendezvous of the servers that the starter has started. If it starts none,
// comes returns nil and the reason, and the caller tries another way.
func (h *mpirJob) comes() (*servers.Rendezvous, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		return h.coming, nil
	}
	h.Log.Info("the starter does not start our servers", "why", h.refused)
	if h.coming != nil {
		h.coming.Discard()
		h.coming = nil
	}
	return nil, h.refused
}

// early adds a hint to the error that a starter has ended before its ranks were held: a rank that
// ends before MPI_Init makes the starter end the job.
func early(err error) error {
	var e *mpir.Ended
	if !errors.As(err, &e) || e.Status.ExitStatus() == 0 {
		return err
	}
	return fmt.Errorf("%w (should a rank have ended before MPI_Init: --launcher slot holds the ranks from their first instruction)", err)
}

// abandon undoes what was done before the starter was started.
func (h *mpirJob) abandon() {
	if h.coming != nil {
		h.coming.Discard()
	}
	h.inherited()
	h.relay.Close()
	h.terminal.Leave()
}

// discard ends a job that was started.
func (h *mpirJob) discard(table protocol.Proctable) {
	killHere(table)
	h.undo()
	h.terminal.Leave()
}

// killHere kills the held ranks on this host before the starter is released and ends the job. No
// debugger is attached to them, so they would run until then. Ranks on other hosts wait for these
// in MPI_Init.
func killHere(table protocol.Proctable) {
	for _, n := range table.Nodes() {
		if !servers.IsHere(n.Host) {
			continue
		}
		for _, p := range n.Pids {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
}

// job returns the job with a tree over the ranks of a table.
func (h *mpirJob) job(tree *servers.Tree, table protocol.Proctable) *Job {
	h.all = tree.Ranks
	j := attached(tree, table, h.IO)
	if h.bySrun {
		j.checkTasks(table)
	}
	j.First.Args.Own = true
	if isFlux(h.Argv) && h.StopAt != "entry" {
		j.First.Args.Location = h.StopAt
	}
	j.Started, j.Over = func() { h.launch.Release() }, h.observe
	closeTree := j.end
	j.end = func(ctx context.Context, status console.Status) (console.Status, error) {
		closeTree(ctx, status)
		status, err := h.end(ctx, status)
		if spawned, is := h.launch.(*pmix.Indirect); is && !spawned.KnowsStatus() {
			h.report(protocol.JobState{State: "ended", Text: "the starter has ended; libpmix does not tell how"})
			return status, err
		}
		h.reportEnd(h.launch.Status())
		return status, err
	}
	return j
}

// observe records the states of the ranks after the last command. If the job is not over, observe
// tells the starter to end it while gdbs still hold its ranks: Open MPI kills ranks one second after
// it was told to, and ranks detached before that would run on during that time.
func (h *mpirJob) observe(s *session.States, killed rank.Set) {
	h.mu.Lock()
	h.free, h.killed, h.lost = s.Ended(), killed, s.In(session.Lost)
	over := s.All().Minus(h.free).IsEmpty()
	h.mu.Unlock()
	if over {
		return
	}
	h.launch.Stop()
	select {
	case <-h.launch.Done():
	case <-time.After(holdWait):
	}
}

// holdWait is how long gdbs hold the ranks while the starter ends the job.
const holdWait = 3 * time.Second

// end lets the starter end the job. If all ranks have ended, were detached, or are lost, end waits
// instead until the starter has ended, or until ctx ends. The status is then the starter's, unless
// it is 0, a command has killed ranks, or the session has another error.
func (h *mpirJob) end(ctx context.Context, status console.Status) (console.Status, error) {
	h.mu.Lock()
	over, killed, lost := status != console.StatusNotStarted && h.all.Minus(h.free).IsEmpty(), !h.killed.IsEmpty(), h.lost
	h.mu.Unlock()
	if !over {
		h.undo()
		return status, nil
	}
	if !lost.IsEmpty() {
		h.Remark("ranks " + lost.String() + " run on without a debugger: waiting for the end of their starter (Ctrl-C ends the job)")
	}
	select {
	case <-h.launch.Done():
	case <-ctx.Done():
		h.undo()
		return status, context.Cause(ctx)
	}
	h.relay.Close()
	if own := console.Status(h.launch.Status()); own != 0 && !killed &&
		(status == console.StatusGood || status == console.StatusRankFailed) {
		return own, nil
	}
	return status, nil
}

// undo ends the starter now, and so its job.
func (h *mpirJob) undo() {
	ctx, cancel := servers.Closing()
	defer cancel()
	h.launch.End(ctx)
	h.relay.Close()
}

// inherited closes our copies of the files that the starter has inherited.
func (h *mpirJob) inherited() {
	h.relay.Inherited()
	if h.input != nil {
		h.input.Close()
		h.input = nil
	}
}
