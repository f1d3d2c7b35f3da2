package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"sdm/cmd/internal/listen"
	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/launch/local"
	"sdm/launch/secret"
	"sdm/launch/slot"
	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/launch/stage"
	"sdm/master"
	"sdm/master/frontend/console"
	"sdm/master/registration"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
)

// slots is a job of a starter that runs our servers in its slots in place of the ranks, and the
// master, which runs in this process.
//
// Goroutines: one that refuses late servers, from the end of the registration until close; one that
// waits for the command of sweep.
type slots struct {
	session string
	key     overlay.Secret
	given   []byte // the secret if the servers read it from a pipe; nil: they read a file
	script  string // script with their command line; "": none
	door    *overlay.RendezvousListener
	addrs   []string // addresses of door
	starter *slot.Starter
	relay   relay // passes on what the starter writes to standard output
	queue   *queue
	copied  string // the copy that Slurm has made on all nodes of the allocation; "": none
	master  *master.Master

	turn   context.CancelFunc
	turned sync.WaitGroup
}

// runSlots starts the starter with our servers in its slots and runs the console.
func (a *app) runSlots(l *lifetime, p *plan, line slot.Line) console.Status {
	s, err := openSlots(p, false) // a starter ends its job when a slot fails
	if err != nil {
		return a.fail(console.StatusNoTree, err)
	}
	ctx, expire := context.WithCancelCause(l.ctx)
	defer expire(nil)
	if err := s.start(ctx, a, p, line, expire); err != nil {
		s.close(a, p.o, false)
		return a.fail(console.StatusNotStarted, err)
	}
	report, err := s.build(ctx, a, p)
	if err == nil {
		s.sweep(p, report.Servers)
		err = a.stageGDB(ctx, p, s.master)
	}
	if err != nil {
		job, queued := s.queue.isQueued()
		s.close(a, p.o, false)
		if queued && l.ctx.Err() != nil {
			a.jobIs(p.o, protocol.JobState{State: "cancelled", Job: job})
		}
		var ended *slot.Ended
		if errors.As(err, &ended) {
			return a.fail(console.StatusNotStarted, err) // the starter has reported the reason
		}
		return a.notBuilt(l.ctx, err, nil)
	}
	alone := false // all ranks have ended without us
	free := false  // … or will end so: some were detached, or never controlled
	p.over = func(states *session.States, killed rank.Set) {
		alone = killed.IsEmpty() && states.All().Minus(states.Ended()).IsEmpty()
		free = alone && states.In(session.Lost).IsEmpty() && (p.o.only != "" || !states.In(session.Detached).IsEmpty())
	}
	status := a.drive(l, p, s.master, report.Ranks, []string{slotProgram})
	if free && !s.ended(l.ctx) {
		s.close(a, p.o, false)
		return statusOf(context.Cause(l.ctx), status)
	}
	s.close(a, p.o, true)
	if own := s.starter.Status(); alone && (free && status == console.StatusGood || status == console.StatusRankFailed) && own > 0 && own < 128 {
		return console.Status(own) // of MPI_Abort, or derived from those of the ranks
	}
	return status
}

// ended waits for the end of the starter, without limit. It returns false if ctx ends first.
func (s *slots) ended(ctx context.Context) bool {
	select {
	case <-s.starter.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// openSlots opens the rendezvous for servers that others start. They read the secret from the
// user's file. With partial the session goes on without the servers that do not register.
func openSlots(p *plan, partial bool) (*slots, error) {
	key, err := p.o.key()
	if err != nil {
		return nil, err
	}
	return openFor(p, key, partial)
}

// openOwn is openSlots for servers that sdm starts itself. They get a secret for this session by a
// pipe, unless the user names a file.
func openOwn(p *plan) (*slots, error) {
	if p.o.secretFile != "" {
		return openSlots(p, true)
	}
	key := secret.Fresh()
	s, err := openFor(p, key, true)
	if err == nil {
		s.given = key[:]
	}
	return s, err
}

func openFor(p *plan, key secret.Key, partial bool) (*slots, error) {
	id := make([]byte, 8)
	rand.Read(id) // never fails
	s := &slots{session: hex.EncodeToString(id)}
	s.key = overlay.Secret(key).ForSession(s.session)
	l, err := listen.All(p.o.listenHosts(), 0, 1)
	if err != nil {
		return nil, fmt.Errorf("listen for servers: %w", err)
	}
	s.addrs = listen.Addrs(l)
	s.door, err = overlay.NewRendezvous(l, s.key, s.identity())
	if err != nil {
		return nil, err
	}
	cfg := p.o.masterConfig(s.dial, false, p.log)
	cfg.Partial = partial
	s.master, err = master.New(cfg)
	if err != nil {
		s.door.Close()
	}
	return s, err
}

// listenHosts returns the addresses at which servers may register.
func (o *options) listenHosts() []string {
	if o.listenHost != "" {
		return []string{o.listenHost}
	}
	return listen.Reachable()
}

func (s *slots) identity() overlay.Identity {
	host, _ := os.Hostname()
	path, _ := os.Executable()
	return overlay.Identity{Session: s.session, Host: host, Program: path, Build: startup.Build()}
}

func (s *slots) dial(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
	link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, s.key, s.identity(), child)
	return link, err
}

// start starts the starter.
func (s *slots) start(ctx context.Context, a *app, p *plan, line slot.Line, expire context.CancelCauseFunc) error {
	o := p.o
	server, err := o.nodeServer(s)
	if err != nil {
		return err
	}
	server = append(server, "--per-node") // there is one in each slot
	if o.only != "" {
		server = append(server, "--ranks", o.only)
	}
	if starterName(line.Argv[0]) == "srun" && inAllocation(a.env) {
		server = s.broadcast(ctx, p, slurm.Broadcast, server)
	}
	if s.queue, err = a.watchQueue(o, expire); err != nil {
		return err
	}
	defer s.queue.started()
	spec := slot.Spec{Argv: line.Wrap(func(int) []string { return server }), Env: o.starterEnv(), Stdout: a.stdout, Stderr: s.queue.write}
	if o.ndjson() {
		spec.Stdout = s.relay.pipe(named{a.out, fromStarter, protocol.KindStdout})
		defer s.relay.given()
	}
	if o.output == outputStarter && !isTerminal(a.stdin) {
		spec.Stdin = a.stdin
	}
	s.starter, err = slot.Start(spec)
	return err
}

// nodeServer returns the command line of the server of a node, which registers at the rendezvous.
// Since all users of a host can read it, it contains at most the path of the secret.
func (o *options) nodeServer(s *slots) ([]string, error) {
	binary, err := local.FindServer("")
	if err != nil {
		return nil, err
	}
	args := []string{binary, "--rendezvous", strings.Join(s.addrs, ","), "--session", s.session}
	if s.given != nil {
		args = append(args, "--secret-fd", strconv.Itoa(ssh.InputFD))
	} else {
		path, err := o.secretPath()
		if err != nil {
			return nil, err
		}
		args = append(args, "--secret-file", path)
	}
	if o.connectWait > 0 {
		args = append(args, "--connect-wait", o.connectWait.String())
	}
	if o.output != outputConsole {
		args = append(args, "--output", o.output)
	}
	if o.stage != "" {
		hash, err := stage.Hash(binary)
		if err != nil {
			return nil, fmt.Errorf("--stage: %w", err)
		}
		args = append(args, "--stage", o.stage, "--stage-hash", hash)
	}
	return append(args, o.serverArgs()...), nil
}

// secretPath returns the file of the secret, which servers on other hosts read, too.
func (o *options) secretPath() (path string, err error) {
	if path = o.secretFile; path == "" {
		if path, err = secret.UserPath(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(path)
}

// starterEnv returns the environment of the starter: ours, changed by --starter-env and its
// variants, but without the variables of our flags (SDM_*), because the servers get these as
// arguments. The --env flags are for the ranks only.
func (o *options) starterEnv() []string {
	var env []string
	for _, e := range o.env {
		if !strings.HasPrefix(e, "SDM_") {
			env = append(env, e)
		}
	}
	env, _ = launch.Environ(env, o.starterDirs) // checked by validate
	return env
}

// build waits for the servers and builds the tree over them. It gives up if the starter ends
// before.
func (s *slots) build(ctx context.Context, a *app, p *plan) (session.Report, error) {
	defer s.queue.done()
	early, give := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-s.starter.Done():
			give(s.starter.Ended())
		case <-early.Done():
		}
	})
	defer watching.Wait()
	defer give(nil)
	only, err := p.o.awaited()
	if err != nil {
		return session.Report{}, err
	}
	table, err := registration.Slots{Shape: p.o.shape(), Progress: s.gathering(a, p), Only: only}.Collect(early, s.door)
	if err != nil {
		return session.Report{}, err
	}
	s.turnAway(table.Size)
	return s.master.Init(early, table, p.o.clock.servers())
}

// awaited returns the ranks that -r names, whatever the job; nil without -r.
func (o *options) awaited() (*rank.Set, error) {
	if o.only == "" {
		return nil, nil
	}
	set, err := rank.Parse(o.only, rank.Env{All: rank.Range(0, rank.MaxID)})
	if err != nil {
		return nil, misused("--ranks: %w", err)
	}
	return &set, nil
}

// turnAway refuses servers that register after all have done so.
func (s *slots) turnAway(servers int) {
	turning, cancel := context.WithCancel(context.Background())
	s.turn = cancel
	s.turned.Go(func() { registration.TurnAway(turning, s.door, servers) })
}

// gathering returns a function that notes how many ranks have their servers, and shows it on a
// terminal.
func (s *slots) gathering(a *app, p *plan) func(have, want int) {
	show := p.o.format == string(console.Text) && isTerminal(a.stderr)
	return func(have, want int) {
		s.queue.arrived()
		if !show {
			return
		}
		fmt.Fprintf(a.stderr, "\rsdm: %d of %d ranks are there", have, want)
		if have == want {
			fmt.Fprint(a.stderr, "\r\x1b[K")
		}
	}
}

// close ends the master, unless it has ended already, and then waits for the starter, which ends
// with its slots. Without a tree the starter is told to end.
func (s *slots) close(a *app, o *options, built bool) {
	ctx, cancel := closing()
	defer cancel()
	s.master.Close(ctx)
	if s.turn != nil {
		s.turn()
		s.turned.Wait()
	}
	s.door.Close()
	s.dropScript()
	if s.starter != nil {
		if !built {
			cancel()
		}
		s.starter.End(ctx)
		s.relay.close()
		a.starterEnded(o, s.starter.Status())
	}
	if s.queue != nil {
		s.queue.close()
	}
}
