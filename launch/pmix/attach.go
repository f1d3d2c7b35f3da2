// Running jobs of a PMIx server.

package pmix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sdm/protocol"
)

// AttachSpec says which running job is meant.
type AttachSpec struct {
	ServerSpec
	// Namespace is the job's namespace. "": the only job of the server. Without "@N" it is the
	// namespace of the server, whose only job is meant.
	Namespace string
}

// Attach is a job that a PMIx server runs already: use case 3 of the source documents. It is a
// launch.Launcher.
//
//	Acquire       connect, ask for the table
//	StartDaemons  spawn one process for each node of the job; push its input
//	Release       ranks that another tool has left in MPI_Init go on
//	End           leave the server; the job runs on
//
// The server is left when the job ends, too: PRRTE 5's mpirun does not end while a tool is
// connected.
//
// Goroutines: Helper's; one from Acquire that waits for the end of the job, or for End.
type Attach struct {
	connection
	nspace string
	leaver leaver
}

// NewAttach makes an Attach; Acquire starts it.
func NewAttach(spec AttachSpec) *Attach {
	spec.Target.Namespace = spec.Namespace
	return &Attach{connection: newConnection(spec.ServerSpec), nspace: spec.Namespace,
		leaver: leaver{stop: make(chan struct{})}}
}

// Acquire implements launch.Launcher. The error is a *NoServer or a *Harm if the server was not
// touched.
func (a *Attach) Acquire(ctx context.Context, _ func(string)) (protocol.Proctable, error) {
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	if err := a.choose(ctx); err != nil {
		return nil, err
	}
	a.addOwn(a.nspace)
	rows, err := a.rowsOf(ctx)
	if err != nil {
		return nil, err
	}
	a.leaver.group.Go(a.await)
	return tableOf(rows)
}

// Job returns the namespace of the job.
func (a *Attach) Job() string { return a.nspace }

// choose finds the namespace of the job among the namespaces of the server.
func (a *Attach) choose(ctx context.Context) error {
	if _, number, found := strings.Cut(a.nspace, "@"); found && number != "" {
		return nil
	}
	jobs, err := a.jobs(ctx)
	switch {
	case err != nil:
		return err
	case len(jobs) == 0:
		return fmt.Errorf("the server %s runs no job", a.server.URI.Namespace())
	case len(jobs) > 1:
		return fmt.Errorf("the server runs several jobs; name one: %s", strings.Join(jobs, ", "))
	}
	a.nspace = jobs[0]
	return nil
}

// rowsOf returns the table of the job: the server's, or if it has none, this host's.
func (a *Attach) rowsOf(ctx context.Context) ([]ProcInfo, error) {
	rows, err := a.table(ctx, a.nspace)
	if len(rows) == 0 {
		local, localErr := a.rows(ctx, QueryLocalTable, a.nspace)
		if localErr == nil && len(local) > 0 {
			rows, err = local, nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, fmt.Errorf("the PMIx server %s knows no job %s", a.server.URI.Namespace(), a.nspace)
	case allEnded(rows):
		return nil, fmt.Errorf("job %s has ended", a.nspace)
	}
	return slices.DeleteFunc(rows, func(p ProcInfo) bool { return p.State >= StateTerminated || p.PID <= 0 }), nil
}

// StartDaemons starts a process on each of the nodes of the job and writes input to its standard
// input. Each must end soon, with status 0: the starter waits for it and exits with its status.
func (a *Attach) StartDaemons(ctx context.Context, argv []string, input []byte, hosts []string) error {
	_, err := a.daemons(ctx, a.nspace, argv, input, hosts)
	return err
}

// Release implements launch.Launcher. Ranks that wait in MPI_Init since another tool has ended go
// on; others are not harmed.
func (a *Attach) Release() error {
	a.announce(DebuggerAttached, a.nspace)
	return a.release(All(a.nspace))
}

// await is the goroutine of the Attach.
func (a *Attach) await() { a.leave(a.nspace, a.leaver.stop) }

// End implements launch.Launcher. The job runs on.
func (a *Attach) End(ctx context.Context) error {
	if a.helper == nil {
		return nil
	}
	a.leaver.once.Do(func() { close(a.leaver.stop) })
	a.leaver.group.Wait()
	a.finish(ctx) // for the case that there is no goroutine
	return nil
}
