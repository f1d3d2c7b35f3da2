// Jobs of a starter whose PMIx server holds the ranks.

package pmix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"sdm/protocol"
)

// IndirectSpec says which starter starts the job.
type IndirectSpec struct {
	ServerSpec // without a Target
	StarterSpec
	Dialect Dialect
	Spawn   bool // libpmix starts the starter, as the source documents write it
}

// Indirect is a job of a starter that this process starts: use case 2 of the source documents. The
// starter is a child of this process, so its streams and its exit status are like any command's.
// With Spawn it is a child of sdm-pmix and a tool of it; it has no standard input then. It is a
// launch.Launcher.
//
//	Acquire       start the starter, connect to its server, wait until all ranks are connected
//	StartDaemons  spawn one process for each node of the job; push its input
//	Release       the ranks go on
//	End           end the starter, and with it the job
//
// The server is left when the job ends: PRRTE 5's mpirun does not end while a tool is connected. If
// this process is killed, sdm-pmix ends the job while its ranks are held, and releases them if
// debuggers were attached.
//
// Goroutines: the ones of Helper and Starter; one from Acquire that waits for the end of the job,
// or for End.
type Indirect struct {
	connection
	starter
	spec   IndirectSpec
	nspace string
	leaver leaver
}

// NewIndirect makes an Indirect; Acquire starts it.
func NewIndirect(spec IndirectSpec) *Indirect {
	return &Indirect{connection: newConnection(spec.ServerSpec), spec: spec, leaver: leaver{stop: make(chan struct{})}}
}

// Acquire implements launch.Launcher. The error is an *Ended if the starter has ended before its
// ranks were held. After an error the starter may run; End ends it.
func (i *Indirect) Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error) {
	if err := i.connection.start(ctx); err != nil {
		return nil, err
	}
	begin := i.fork
	if i.spec.Spawn {
		begin = i.spawnStarter
	}
	if err := begin(ctx, say); err != nil {
		return nil, err
	}
	rows, err := i.held(ctx, say)
	if err != nil {
		return nil, err
	}
	if !i.spec.Spawn {
		i.leaver.group.Go(i.await)
	}
	return tableOf(rows)
}

// fork starts the starter with the option that holds its ranks, and connects to its server.
func (i *Indirect) fork(ctx context.Context, say func(string)) error {
	line := i.spec.StarterSpec
	line.Argv = i.spec.Dialect.Held(line.Argv, InInit)
	s, err := line.start()
	if err != nil {
		return err
	}
	i.starter = s
	server, err := i.locate(ctx, say)
	if err != nil {
		return err
	}
	return i.connect(ctx, server)
}

// Status waits for the end of the starter and returns its exit status; 0 if it was not started.
func (i *Indirect) Status() int {
	if i.starter == nil {
		return 0
	}
	return i.starter.Status()
}

// KnowsStatus waits for the end of the starter and reports whether Status is its exit status. That of a
// starter that libpmix has started may not be told.
func (i *Indirect) KnowsStatus() bool { return i.starter != nil && i.isKnown() }

// keep says what sdm-pmix does with the ranks if this process is killed.
func (i *Indirect) keep(ctx context.Context, end bool) error {
	_, err := i.helper.Call(ctx, Request{Call: CallKeep, Targets: []Proc{All(i.nspace)}, End: end})
	return err
}

// locate waits for the rendezvous file of the starter.
func (i *Indirect) locate(ctx context.Context, say func(string)) (Found, error) {
	target := Target{PID: i.StarterPID()}
	var found Found
	waiting := func() string { return "to offer its PMIx server" }
	err := i.poll(ctx, say, waiting, func() (done bool, err error) {
		found, err = Locate(target, Directories(i.spec.StarterSpec.Env))
		var none *NoServer
		if errors.As(err, &none) && len(none.Several) == 0 {
			return false, nil
		}
		return err == nil, err
	})
	return found, err
}

// held waits until all ranks of the job are held.
func (i *Indirect) held(ctx context.Context, say func(string)) (rows []ProcInfo, err error) {
	waiting := func() string {
		there := slices.DeleteFunc(slices.Clone(rows), func(p ProcInfo) bool { return p.State != StateConnected })
		return fmt.Sprintf("to hold its ranks in MPI_Init, where %d of %d are", len(there), len(rows))
	}
	err = i.poll(ctx, say, waiting, func() (bool, error) {
		rows, err = i.first(ctx)
		for name, code := range i.allEnds() {
			if err == nil && name != i.self && name != i.server.URI.Namespace() {
				err = fmt.Errorf("the job has ended with status %d before all its ranks came to MPI_Init: only programs that call it are held there", code)
			}
		}
		return areConnected(rows), err
	})
	return rows, err
}

// first returns the table of the job. The job has the lowest number of all jobs of its server. That
// is 1, or 2 if this tool connected before it was started: servers number tools and jobs in one
// series.
func (i *Indirect) first(ctx context.Context) ([]ProcInfo, error) {
	names, err := i.jobs(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	if i.nspace != names[0] {
		i.nspace = names[0]
		i.addOwn(i.nspace)
		if err := i.keep(ctx, true); err != nil {
			return nil, err
		}
	}
	return i.table(ctx, i.nspace)
}

// poll calls ask at each event and at growing intervals, until that returns true or an error, or the
// starter ends. what says what the wait is for.
func (i *Indirect) poll(ctx context.Context, say func(string), what func() string, ask func() (bool, error)) error {
	pause := pollFirst
	quiet := time.NewTimer(patience)
	defer quiet.Stop()
	for {
		changed := i.next()
		done, err := ask()
		if done || err != nil && !i.isOver(err) {
			return err
		}
		alarm := time.NewTimer(pause)
		select {
		case <-changed:
		case <-alarm.C:
			pause = min(2*pause, pollMost)
		case <-i.Done():
			return i.early()
		case <-quiet.C:
			say(fmt.Sprintf("waiting for %s %s (Ctrl-C gives up)", i.called(), what()))
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s %s: %w", i.called(), what(), context.Cause(ctx))
		}
		alarm.Stop()
	}
}

// isOver reports whether a call has failed because the starter has ended, or is about to: then its
// end is the error.
func (i *Indirect) isOver(err error) bool {
	var f *Failure
	if !errors.As(err, &f) && !errors.Is(err, errClosed) && !errors.Is(err, errLost) {
		return false
	}
	alarm := time.NewTimer(lateEvent)
	defer alarm.Stop()
	select {
	case <-i.Done():
		return true
	case <-alarm.C:
		return false
	}
}

// StartDaemons starts a process on each of the nodes of the job and writes input to its standard
// input. Each must end soon, with status 0: the starter waits for it and exits with its status.
func (i *Indirect) StartDaemons(ctx context.Context, argv []string, input []byte, hosts []string) error {
	_, err := i.daemons(ctx, i.nspace, argv, input, hosts)
	return err
}

// JobID returns the namespace of the job.
func (i *Indirect) JobID() string { return i.nspace }

// StarterPID returns the process id of the starter.
func (i *Indirect) StarterPID() int { return i.process() }

// Release implements launch.Launcher.
func (i *Indirect) Release() error {
	if err := i.keep(context.Background(), false); err != nil { // the call has a limit
		return err
	}
	i.announce(DebuggerAttached, i.nspace)
	return i.release(All(i.nspace))
}

// await is the goroutine of the Indirect.
func (i *Indirect) await() {
	i.leave(i.nspace, i.leaver.stop)
}

// End implements launch.Launcher: the starter gets SIGTERM, and SIGKILL when ctx ends. The server is
// left in between, because the starter may wait for that.
func (i *Indirect) End(ctx context.Context) error {
	if i.starter != nil {
		i.Stop()
	}
	if i.starter != nil && i.spec.Spawn { // it ends with sdm-pmix
		return i.starter.end(ctx)
	}
	if i.helper != nil {
		i.leaver.once.Do(func() { close(i.leaver.stop) })
		i.leaver.group.Wait()
		i.finish(ctx) // for the case that there is no goroutine
	}
	if i.starter == nil {
		return nil
	}
	return i.starter.end(ctx)
}

// SetStreams sets the standard streams of the starter, before Acquire.
func (i *Indirect) SetStreams(stdin, stdout, stderr *os.File) {
	if i.spec.Spawn { // the server forwards what it writes
		i.ServerSpec.Stdout, i.ServerSpec.Stderr = stdout, stderr
		return
	}
	i.spec.StarterSpec.Stdin, i.spec.StarterSpec.Stdout, i.spec.StarterSpec.Stderr = stdin, stdout, stderr
}
