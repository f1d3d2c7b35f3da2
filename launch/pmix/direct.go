// Jobs that a PMIx server starts for us.

package pmix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"sdm/protocol"
)

// DirectSpec says which job is started by which server.
type DirectSpec struct {
	ServerSpec
	Apps []App
	Stop Stop
	Directives
}

// Direct is a job that a PMIx server starts for this process: use case 1 of the source documents.
// It is a launch.Launcher. The daemons are a second job of the server, because no known server
// starts them together with the first.
//
//	Acquire       connect, query, spawn, wait until all ranks are connected
//	StartDaemons  spawn one process for each node of the job; push its input
//	Release       the ranks go on
//	Ended         both jobs are over
//	End           kill what is left, leave the server
//
// Goroutines: Helper's.
type Direct struct {
	connection
	spec   DirectSpec
	claims map[Key]string // what the server says about itself; it may be more than it does
	jobs   [2]string      // namespaces of the ranks and of the daemons; "": not started; see mu
}

// Roles of the jobs of a Direct.
const (
	ofRanks = iota
	ofDaemons
)

// NewDirect makes a Direct; Acquire starts it.
func NewDirect(spec DirectSpec) *Direct {
	d := &Direct{connection: newConnection(spec.ServerSpec), spec: spec, claims: map[Key]string{}}
	d.outlives = true
	return d
}

// Acquire implements launch.Launcher. The error is a *NoServer, a *Harm or a *Refusal if nothing was
// started.
func (d *Direct) Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error) {
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := d.checkHosts(ctx); err != nil {
		return nil, err
	}
	d.query(ctx)
	if err := d.launch(ctx); err != nil {
		return nil, err
	}
	rows, err := d.await(ctx, say)
	if err != nil {
		return nil, err
	}
	return tableOf(rows)
}

// check refuses what the server is not known to honour.
func (d *Direct) check() error {
	v := d.server.Version
	d.spec.Apps = slices.Clone(d.spec.Apps)
	for i, a := range d.spec.Apps {
		first := i == 0 && len(d.spec.Apps) > 1 // its directives would apply to all programs
		if AbilitiesOf(v).Environment && !first {
			continue
		}
		b, err := a.byShell(v)
		switch {
		case err != nil:
			return err
		case d.spec.Stop == OnExec && len(b.Argv) != len(a.Argv):
			return &Refusal{"stop on exec (" + string(StopOnExec) + ") of the first program, whose environment a shell changes,", v, "give it --env NAME=VALUE only"}
		case first:
			b = b.setByRequest()
		}
		d.spec.Apps[i] = b
	}
	return d.spec.Check(d.spec.Stop, v)
}

// Claims returns what the server says that it supports, by QuerySpawnSupport and QueryDebugSupport.
func (d *Direct) Claims() map[Key]string { return d.claims }

// checkHosts refuses hosts that the server does not have: one that it does not know ends PRRTE 3.0.8
// with all its jobs.
func (d *Direct) checkHosts(ctx context.Context) error {
	if d.spec.Hosts == "" {
		return nil
	}
	has, err := d.hosts(ctx)
	if err != nil {
		return err
	}
	for word := range strings.SplitSeq(d.spec.Hosts, ",") {
		name, _, _ := strings.Cut(word, ":")
		if !slices.ContainsFunc(has, func(host string) bool { return protocol.SameHost(host, name) }) {
			return fmt.Errorf("host %s: the server does not have it; it has %s", name, strings.Join(has, ", "))
		}
	}
	return nil
}

// query asks what the server supports, one key at a time: of several, one that it does not know
// makes PRRTE 5 refuse all. An answer that does not come is no error, because the answers decide
// nothing (Abilities).
func (d *Direct) query(ctx context.Context) {
	for _, key := range []Key{QuerySpawnSupport, QueryDebugSupport} {
		m, err := d.helper.Call(ctx, Request{Call: CallQuery, Key: key})
		if v, found := Find(m.Info, key); err == nil && found {
			d.claims[key] = v.Text
		}
	}
}

// launch starts the job. The directives that concern all its programs are at job level: PRRTE does
// not see them at the level of a program.
func (d *Direct) launch(ctx context.Context) error {
	job, app := d.spec.Infos()
	job = append(job, True(stopKeys[d.spec.Stop]), True(ForwardStdout), True(ForwardStderr), True(NotifyCompletion),
		True(SetupAppEnvars), noInput)
	apps := slices.Clone(d.spec.Apps)
	for i := range apps {
		apps[i].Info = slices.Concat(apps[i].Info, app)
	}
	old := d.allEnds()
	nspace, err := d.spawn(ctx, Request{Call: CallSpawn, Info: job, Apps: apps})
	d.setJob(ofRanks, nspace)
	var f *Failure
	if errors.As(err, &f) && f.Code == ErrGeneral {
		if early := d.endedInSpawn(ctx, old); early != nil {
			return early
		}
	}
	return err
}

func (d *Direct) setJob(role int, nspace string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs[role] = nspace
}

// explainSpawn adds to the error of a spawn what to do.
func explainSpawn(r Request, err error) error {
	var f *Failure
	switch {
	case !errors.As(err, &f):
		return err
	case f.Code == FailedToMap:
		return fmt.Errorf("%w: too few slots (map by slot:oversubscribe permits more ranks than slots)", err)
	case f.Code == FailedToLaunch:
		return fmt.Errorf("%w: is %s there on all nodes of the server, and executable?", err, r.Apps[0].Argv[0])
	}
	return err
}

// pollFirst and pollMost bound the time between two queries of the table. patience is how long the
// wait for the ranks may take before say is called.
const (
	pollFirst = 5 * time.Millisecond
	pollMost  = 200 * time.Millisecond
	patience  = 3 * time.Second
)

// await waits until all ranks are held and returns the table. A release that is sent before a rank
// is connected is lost, so the table is asked for the state of all ranks. With InInit the event
// READY_FOR_DEBUG only shortens the wait. Otherwise await requires it, because with InApp ranks are
// connected long before they wait.
func (d *Direct) await(ctx context.Context, say func(string)) ([]ProcInfo, error) {
	pause := pollFirst
	quiet := time.NewTimer(patience)
	defer quiet.Stop()
	for {
		changed := d.next()
		rows, err := d.table(ctx, d.job(ofRanks))
		if err != nil {
			return nil, err
		}
		if d.held(rows) {
			return rows, nil
		}
		if err := d.errIfOver(); err != nil {
			return nil, err
		}
		alarm := time.NewTimer(pause)
		select {
		case <-changed:
		case <-alarm.C:
			pause = min(2*pause, pollMost)
		case <-quiet.C:
			say(fmt.Sprintf("waiting for the ranks to come to %s (Ctrl-C gives up)", d.placeOfStop()))
		case <-ctx.Done():
			return nil, fmt.Errorf("the ranks have not come to %s: %w", d.placeOfStop(), context.Cause(ctx))
		}
		alarm.Stop()
	}
}

func (d *Direct) placeOfStop() string {
	if d.spec.Stop == OnExec {
		return "their first instruction"
	}
	return "MPI_Init"
}

// held reports whether all ranks wait for the release.
func (d *Direct) held(rows []ProcInfo) bool {
	if len(rows) == 0 || d.spec.Stop != InInit && !d.isReady(d.job(ofRanks)) {
		return false
	}
	return d.spec.Stop == OnExec || areConnected(rows)
}

// StartDaemons starts a process on each of the nodes of the job and writes input to its standard
// input.
func (d *Direct) StartDaemons(ctx context.Context, argv []string, input []byte, hosts []string) error {
	nspace, err := d.daemons(ctx, d.job(ofRanks), argv, input, hosts)
	d.setJob(ofDaemons, nspace)
	if err != nil {
		return fmt.Errorf("start the servers on the nodes: %w", err)
	}
	return nil
}

// EndDaemons kills the processes of StartDaemons. The session does not wait for their end.
func (d *Direct) EndDaemons() {
	nspace := d.job(ofDaemons)
	d.setJob(ofDaemons, "")
	d.kill(context.Background(), nspace) // the call has a limit; if it fails, they end by themselves
}

// JobID returns the namespace of the job.
func (d *Direct) JobID() string { return d.job(ofRanks) }

// Release implements launch.Launcher.
func (d *Direct) Release() error {
	d.announce(DebuggerAttached, d.job(ofRanks))
	return d.ReleaseRank(Wildcard)
}

// ReleaseRank lets one rank go on, or all. A rank that was released before is not harmed.
func (d *Direct) ReleaseRank(r uint32) error {
	target := Proc{d.job(ofRanks), r}
	if d.spec.Stop != OnExec {
		return d.release(target)
	}
	// They are stopped by a signal, and do not listen.
	_, err := d.helper.Call(context.Background(), // the call has a limit
		Request{Call: CallControl, Targets: []Proc{target}, Info: []Info{Number(ControlSignal, Int, int64(syscall.SIGCONT))}})
	return err
}
