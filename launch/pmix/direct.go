package pmix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// DirectSpec says which job is started by which server.
type DirectSpec struct {
	Program string   // path of sdm-pmix
	Target  Target   // the server
	Env     []string // of sdm-pmix; names the directories of rendezvous files
	Force   bool     // connect although the server would not survive it
	Apps    []App
	Stop    Stop
	Directives
	Stdout, Stderr *os.File // get the output of the job; nil is /dev/null
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
// Goroutines: those of Helper.
type Direct struct {
	spec   DirectSpec
	server Found
	helper *Helper
	claims map[Key]string // what the server says about itself; it may be more than it does

	mu      sync.Mutex
	jobs    [2]string      // namespaces of the ranks and of the daemons; "": not started
	ends    map[string]int // exit codes of ended jobs by namespace, older jobs included
	ready   bool           // the server has said that the ranks wait
	lost    bool           // the connection to the server
	changed chan struct{}  // closed and replaced at each event
}

// Roles of the jobs of a Direct.
const (
	ofRanks = iota
	ofDaemons
)

// NewDirect makes a Direct; Acquire starts it.
func NewDirect(spec DirectSpec) *Direct {
	return &Direct{spec: spec, claims: map[Key]string{}, ends: map[string]int{}, changed: make(chan struct{})}
}

// Acquire implements launch.Launcher. The error is a *NoServer, a *Harm or a *Refusal if nothing was
// started.
func (d *Direct) Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error) {
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := d.checkHosts(ctx); err != nil {
		return nil, err
	}
	d.query(ctx)
	if err := d.spawn(ctx); err != nil {
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
	for _, a := range d.spec.Apps {
		if one, is := Find(a.Info, UnsetEnvar); is && !AbilitiesOf(v).Unset {
			return &Refusal{"--env-unset " + one.Text + " (" + string(UnsetEnvar) + ")", v, "it would be ignored silently; --env " + one.Text + "= gives it no text"}
		}
	}
	return d.spec.Check(d.spec.Stop, v)
}

// Server returns the server that Acquire has found.
func (d *Direct) Server() Found { return d.server }

// Claims returns what the server says that it supports, by QuerySpawnSupport and QueryDebugSupport.
func (d *Direct) Claims() map[Key]string { return d.claims }

// connect finds the server, starts sdm-pmix and connects it.
func (d *Direct) connect(ctx context.Context) error {
	var err error
	if d.server, err = Locate(d.spec.Target, Directories(d.spec.Env)); err != nil {
		return err
	}
	if err := CheckHarm(d.server); err != nil && !d.spec.Force {
		return err
	}
	d.helper, err = StartHelper(ctx, HelperSpec{Path: d.spec.Program, Env: d.spec.Env, Stdout: d.spec.Stdout, Stderr: d.spec.Stderr, OnEvent: d.note})
	if err != nil {
		return err
	}
	if err := d.helper.Library.Reaches(d.server.Version); err != nil {
		return err
	}
	_, err = d.helper.Call(ctx, Request{Call: CallConnect, Info: []Info{String(ServerURI, d.server.URI.Reveal())}})
	return err
}

// checkHosts refuses hosts that the server does not have: one that it does not know ends PRRTE 3.0.8
// with all its jobs. The table without a namespace is that of the server's own processes, one for
// each host.
func (d *Direct) checkHosts(ctx context.Context) error {
	if d.spec.Hosts == "" {
		return nil
	}
	m, err := d.helper.Call(ctx, Request{Call: CallQuery, Key: QueryTable})
	if err != nil {
		return fmt.Errorf("the hosts of the server: %w", err)
	}
	v, _ := Find(m.Info, QueryTable)
	var has []string
	for _, row := range v.Table {
		has = append(has, row.Host)
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

// spawn starts the job. The directives that concern all its programs are at job level: PRRTE does
// not see them at the level of a program.
func (d *Direct) spawn(ctx context.Context) error {
	job, app := d.spec.Infos()
	job = append(job, True(stopKeys[d.spec.Stop]), True(ForwardStdout), True(ForwardStderr), True(NotifyCompletion), True(SetupAppEnvars))
	apps := slices.Clone(d.spec.Apps)
	for i := range apps {
		apps[i].Info = slices.Concat(apps[i].Info, app)
	}
	old := d.allEnds()
	err := d.start(ctx, ofRanks, Request{Call: CallSpawn, Info: job, Apps: apps})
	var f *Failure
	if errors.As(err, &f) && f.Code == ErrGeneral {
		if early := d.endedInSpawn(ctx, old); early != nil {
			return early
		}
	}
	return err
}

func (d *Direct) start(ctx context.Context, role int, r Request) error {
	m, err := d.helper.Call(ctx, r)
	if err != nil {
		return started(r, err)
	}
	if m.Proc == nil || m.Proc.Nspace == "" {
		return errors.New("PMIx spawn: the server names no job")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs[role] = m.Proc.Nspace
	return nil
}

// started adds what to do to the error of a spawn.
func started(r Request, err error) error {
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

// Bounds of the wait between two questions for the table, and how long the wait for the ranks may
// take before say is called.
const (
	pollFirst = 5 * time.Millisecond
	pollMost  = 200 * time.Millisecond
	patience  = 3 * time.Second
)

// await waits until all ranks are held and returns the table. A release that is sent before a rank
// is connected is lost, so the state of all ranks is asked for; READY_FOR_DEBUG only makes it
// earlier. With InApp ranks are connected long before they wait.
func (d *Direct) await(ctx context.Context, say func(string)) ([]ProcInfo, error) {
	pause := pollFirst
	quiet := time.NewTimer(patience)
	defer quiet.Stop()
	for {
		changed := d.next()
		rows, err := d.table(ctx)
		if err != nil {
			return nil, err
		}
		if d.held(rows) {
			return rows, nil
		}
		if err := d.isOver(); err != nil {
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
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(rows) == 0 || d.spec.Stop != InInit && !d.ready {
		return false
	}
	return d.spec.Stop == OnExec || !slices.ContainsFunc(rows, func(p ProcInfo) bool { return p.State != StateConnected })
}

// table asks for the processes of the job. PRRTE does not know a job for a moment after its start,
// so a negative answer is an empty table.
func (d *Direct) table(ctx context.Context) ([]ProcInfo, error) {
	m, err := d.helper.Call(ctx, Request{Call: CallQuery, Key: QueryTable, Info: []Info{String(Nspace, d.job(ofRanks))}})
	var f *Failure
	if errors.As(err, &f) && (f.Code == ErrNotFound || f.Code == ErrBadParam) {
		return nil, nil
	}
	v, _ := Find(m.Info, QueryTable)
	return v.Table, err
}

// tableOf converts a table of PMIx, which is not trusted.
func tableOf(rows []ProcInfo) (protocol.Proctable, error) {
	var table protocol.Proctable
	for _, r := range rows {
		if r.Rank > uint32(rank.MaxID) {
			return nil, fmt.Errorf("the server names rank %d", r.Rank)
		}
		row := protocol.Process{Rank: rank.ID(r.Rank), Host: r.Host, PID: r.PID}
		if r.Executable != "" {
			row.Program = filepath.Clean(r.Executable) // they contain /./
		}
		table = append(table, row)
	}
	slices.SortFunc(table, func(a, b protocol.Process) int { return int(a.Rank) - int(b.Rank) })
	return table, table.Check()
}

// StartDaemons starts a process on each of the nodes of the job, as a job of its own, and writes
// input to the standard input of each. They are children of the server's processes and have its
// environment.
func (d *Direct) StartDaemons(ctx context.Context, argv []string, input []byte, nodes int) error {
	target := All(d.job(ofRanks))
	info := []Info{
		True(DebuggerDaemons), OfProc(DebugTarget, target), Number(DaemonsPerNode, Uint16, 1),
		String(StdinTarget, "all"), // a value of another type ends the server
		True(ForwardStderr), True(NotifyCompletion),
	}
	err := d.start(ctx, ofDaemons, Request{Call: CallSpawn, Info: info, Apps: []App{{Argv: argv, Procs: nodes}}})
	for n := uint32(0); err == nil && n < uint32(nodes); n++ {
		err = d.push(ctx, Proc{d.job(ofDaemons), n}, input)
	}
	if err != nil {
		return fmt.Errorf("start the servers on the nodes: %w", err)
	}
	return nil
}

// push writes to the standard input of one process, in small pieces, and ends it. A push to all
// at once does not arrive on PRRTE 3.
func (d *Direct) push(ctx context.Context, to Proc, input []byte) error {
	for piece := range slices.Chunk(input, MaxPush) {
		if _, err := d.helper.Call(ctx, Request{Call: CallPush, Targets: []Proc{to}, Data: piece}); err != nil {
			return err
		}
	}
	_, err := d.helper.Call(ctx, Request{Call: CallPush, Targets: []Proc{to}, End: true})
	return err
}

// Release implements launch.Launcher.
func (d *Direct) Release() error { return d.ReleaseRank(Wildcard) }

// ReleaseRank lets one rank go on, or all. A rank that was released before is not harmed.
func (d *Direct) ReleaseRank(r uint32) error {
	target := []Proc{{d.job(ofRanks), r}}
	ctx := context.Background() // the call has a limit
	request := Request{Call: CallNotify, Event: DebuggerRelease, Targets: target}
	if d.spec.Stop == OnExec { // they are stopped by a signal, and do not listen
		request = Request{Call: CallControl, Targets: target, Info: []Info{Number(ControlSignal, Int, int64(syscall.SIGCONT))}}
	}
	_, err := d.helper.Call(ctx, request)
	return err
}
