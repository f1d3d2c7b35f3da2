// Running applications of PALS, and commands on their nodes.

package pals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sdm/launch"
	"sdm/protocol"
)

// Application is a running application. Node is the first node of its job, at which the commands of
// PALS find it.
type Application struct {
	Node string
	ID   APID
	Env  []string // of the commands of PALS; nil: this process's
}

// FindJob finds the application of a job of PBS.
func FindJob(ctx context.Context, env []string, j Job) (Application, error) {
	text, err := launch.Ask(ctx, env, QStat(j.ID))
	if err != nil {
		return Application{}, err
	}
	a := Application{Env: env}
	if a.Node, err = ReadFirstHost(j.ID, text); err != nil {
		return a, err
	}
	if text, err = launch.Ask(ctx, env, Stat(a.Node)); err != nil {
		return a, err
	}
	a.ID, err = j.Choose(a.Node, ReadApps(text))
	return a, err
}

// Intervals at which palstat is called again.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 5 * time.Second
)

// Ranks returns the ranks of the application. It waits until they are started, or until ctx ends.
func (a Application) Ranks(ctx context.Context) (protocol.Proctable, error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		text, err := launch.Ask(ctx, a.Env, Table(a.Node, a.ID))
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", err, errInvisible)
		}
		table, err := ReadTable(text)
		if err != nil || len(table) > 0 {
			return table, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("it has started no ranks: %w", context.Cause(ctx))
		}
	}
}

// barrierWait is how long ranks may take to come to the barrier of PALS after mpiexec lists them.
const barrierWait = time.Second

// AwaitBarrier waits until the ranks of an mpiexec under control can be released: with PALS 1.2.3
// ranks that get SIGCONT before they are at the barrier stay there for ever (seen by cti,
// PE-43365). Later releases need no wait.
func AwaitBarrier(ctx context.Context, env []string) {
	text, err := launch.Ask(ctx, env, []string{"palstat", "--version"})
	if err != nil {
		return
	}
	v, err := ReadVersion(text)
	if err != nil || slices.Compare(v[:], []int{1, 2, 3}) > 0 {
		return
	}
	select {
	case <-time.After(barrierWait):
	case <-ctx.Done():
	}
}

// Copy copies a program to a path on the given hosts, which are all nodes of the application. It
// returns when the copies are there.
func (a Application) Copy(ctx context.Context, hosts []string, program, to string) error {
	dir, err := os.MkdirTemp("", "sdm-pals-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list := filepath.Join(dir, "hosts")
	if err := os.WriteFile(list, []byte(hostList(a.Node, hosts)), 0o600); err != nil {
		return err
	}
	name := filepath.Base(to)
	if _, err := launch.Ask(ctx, a.Env, copyTo(list, program, name, a.ID)); err != nil {
		return err
	}
	h, err := a.Start(ctx, move(name, a.ID, to))
	if err != nil {
		return err
	}
	defer h.End(context.Background())
	select {
	case <-h.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// startWait limits the time of palscmd, which does not wait for what it starts.
const startWait = 20 * time.Second

// Helper is a command that palscmd has started on the nodes.
//
// Goroutine: one that asks palstat whether the command runs. It ends with the command, or at End.
type Helper struct {
	done  chan struct{}
	stop  context.CancelFunc
	group sync.WaitGroup
}

// Start starts a command on each node of the application.
func (a Application) Start(ctx context.Context, command []string) (*Helper, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("no answer in %v", startWait))
	defer cancel()
	_, text, err := launch.AskBoth(ctx, a.Env, Command(a.Node, a.ID, command))
	if err != nil {
		return nil, fmt.Errorf("palscmd: %w", err)
	}
	name, err := ReadHelper(text)
	if err != nil {
		return nil, err
	}
	h := &Helper{done: make(chan struct{})}
	watching, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.group.Go(func() { a.watch(watching, name, h.done) })
	return h, nil
}

// maxFailures is after how many failures of palstat in succession, at growing intervals from firstLook
// on (3 s together), an application counts as ended. palstat may fail for an application that it does
// not know any more; a single failure may only mean that a node is busy.
const maxFailures = 6

// watch closes done when palstat does not list a helper any more, or fails again and again.
func (a Application) watch(ctx context.Context, name string, done chan<- struct{}) {
	runs := func(app App) bool { return app.APID == a.ID && slices.Contains(app.Helpers, name) }
	failures := 0
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		text, err := launch.Ask(ctx, a.Env, Stat(a.Node))
		if ctx.Err() != nil {
			return
		}
		switch {
		case err == nil && slices.ContainsFunc(ReadApps(text), runs):
			failures = 0
		case err == nil || failures == maxFailures-1:
			close(done) // it has ended, or the application has
			return
		default:
			if failures == 0 {
				pause = firstLook
			}
			failures++
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// Done returns a channel that is closed when the command has ended on all nodes.
func (h *Helper) Done() <-chan struct{} { return h.done }

// Failed returns what may have happened to a server whose command has ended.
func (h *Helper) Failed() error {
	return errors.New("the server was started by palscmd and has ended (is the program there on each node? --stage DIR brings it)")
}

// End ends the goroutine. The command is a server, which ends by itself when its parent in the tree
// is lost.
func (h *Helper) End(context.Context) {
	h.stop()
	h.group.Wait()
}
