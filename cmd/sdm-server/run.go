// Runs a server from its flags to its exit status.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/spf13/pflag"

	"sdm/backend"
	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/server"
	"sdm/tree"
	"sdm/tree/overlay"
)

// Exit statuses besides the status of a slot's rank.
const (
	exitFailed = 1
	exitUsage  = 2
	exitNoTree = 4 // no parent, or the master refused us
	// exitNotStarted is also the status of a shell that cannot start a program.
	exitNotStarted = 127
)

// run executes the program and returns the exit status.
func run(args, env []string, engines map[string]engine) int {
	o, err := parse(args, env, os.Stdout)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		return complain(err, exitUsage)
	case o.version:
		fmt.Printf("sdm-server %s, protocol %d\n", startup.Build(), protocol.PacketVersion)
		return 0
	}
	if o.list {
		if err := o.listRanks(os.Stdout); err != nil {
			return complain(err, exitFailed)
		}
		return 0
	}
	o.runStaged(args, env)
	p, err := prepare(o, env, engines)
	if err != nil {
		return complain(err, exitUsage)
	}
	defer p.logFile.Close()
	if status := p.runFree(); status != 0 {
		return status
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := p.listenToSignals(cancel)
	defer stop()
	defer o.unstage()
	defer o.received.Close()
	return p.serve(ctx)
}

// complain shows an error and returns the status.
func complain(err error, status int) int {
	fmt.Fprintf(os.Stderr, "sdm-server: %v\n", err)
	return status
}

// program is a server that is about to run.
type program struct {
	jobSize int // size of the job of cfg.Existing
	o       *options
	log     *slog.Logger
	logFile io.Closer
	cfg     server.Config
	self    *server.Self
	number  launch.Identity
	ending  chan string // texts about the end that the starter has announced
	env     []string    // of the program of our slot
	// inherited are the descriptors that the starter meant for the program of our slot.
	inherited []int
	node      *node                          // nil: without --per-node
	route     *protocol.Route                // nil: without --routing-file
	secret    func() (overlay.Secret, error) // see key; nil until it is read
}

// prepare makes the program that the flags describe, without connections.
func prepare(o *options, env []string, engines map[string]engine) (*program, error) {
	inherited, err := local.Inherited(o.ownDescriptors()...) // before others are opened
	if err != nil {
		return nil, err
	}
	engine, ok := engines[o.backend]
	if !ok {
		return nil, fmt.Errorf("--backend %q: give gdb, lazy, probe or sim", o.backend)
	}
	p := &program{o: o, env: env, inherited: inherited}
	if p.log, p.logFile, err = o.log.Open(os.Stderr); err != nil {
		return nil, err
	}
	if p.number, err = o.identify(env); err != nil {
		return nil, err
	}
	if o.host == "" {
		o.host, _ = os.Hostname()
	}
	p.cfg = server.Config{
		ID: protocol.ServerID(p.number.Number), Host: o.host, RankFrom: o.rankFrom, Slot: o.slot(), Through: o.output == "starter",
		Linger: o.linger, LetRun: o.lost == "detach", Log: p.log,
		NewBackend: func(k backend.Sink) (backend.Backend, error) { return engine.open(o, p.log, k) },
		Stage:      o.received.Take, Note: o.unstaged,
		SlotRank: rank.ID(max(p.number.Number, 0)), LetGo: o.letGo, SimulatedPID: engine.simulatedPID,
	}
	if slot := p.cfg.Slot; slot != nil {
		p.env = launch.InSlot(env, slot.Program, slot.Args)
		p.cfg.Env = p.env
		if !p.cfg.Through {
			p.cfg.LateOutput = lateOutput()
		}
	}
	if o.like {
		own := os.Environ()
		o.own = new(atomic.Pointer[[]string])
		p.cfg.TakeSettings = func(pid int) error {
			err := takeSettings(pid)
			o.own.Store(&own)
			return err
		}
	}
	if err := p.findExisting(); err != nil {
		return nil, err
	}
	if engine.name != nil {
		p.cfg.Engine = sync.OnceValue(func() string { return engine.name(o) })
	}
	if engine.simulatedPID == nil {
		p.cfg.Forker = local.NewForker(inherited...)
	}
	path, _ := os.Executable()
	p.self = server.NewSelf(overlay.Identity{
		Node: tree.NodeID(p.number.Number) + 1, Session: o.session, Size: p.number.Size,
		Host: o.host, Program: path, Build: startup.Build(),
	})
	return p, nil
}

// identify returns the number of this server, from a flag or else from the starter's environment.
func (o *options) identify(env []string) (launch.Identity, error) {
	id, err := o.rankFrom.Identify(env)
	switch {
	case o.server >= 0:
		id.Number, err = o.server, nil
	case o.byHost:
		id.Number, err = 0, nil // the master assigns it
	}
	if err == nil && id.Number == launch.Unknown {
		err = errors.New("which server is this? give --server I, or start it by a starter that numbers its processes")
	}
	if o.size > 0 {
		id.Size = o.size
	}
	id.Size = max(id.Size, 0)
	return id, err
}

// letGo tells the process that has started us that it need not wait for us any longer; see
// local.LetGo.
func (o *options) letGo() {
	if o.linkFD < 0 && o.listenFD < 0 {
		return
	}
	fmt.Fprint(os.Stderr, local.LetGo)
	null, err := unix.Open(os.DevNull, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Dup3(null, 2, 0)
		unix.Close(null)
	}
}

// serve connects to the parent and runs as a server.
func (p *program) serve(ctx context.Context) int {
	defer p.o.endAhead(p.log)
	if err := p.o.startAhead(p.log); err != nil {
		return complain(err, exitUsage)
	}
	links, standIn, status, err := p.place(ctx)
	switch {
	case standIn:
		return status
	case err != nil:
		if p.cfg.Forker != nil {
			p.cfg.Forker.Close()
		}
		p.node.dismiss()
		return complain(err, exitNoTree)
	}
	defer p.node.dismiss()
	if p.o.background {
		if err := giveUpStreams(); err != nil {
			p.log.Warn("the standard streams stay open", "err", err)
		}
	}
	status, err = server.Run(ctx, p.cfg, links)
	switch {
	case errors.Is(err, server.ErrNoParent):
		return complain(err, exitNoTree)
	case err != nil && !errors.Is(err, context.Canceled):
		return complain(err, exitFailed)
	}
	return status
}

// place finds the parent in the tree, or runs as a stand-in in the slot of a rank whose server is
// another process.
func (p *program) place(ctx context.Context) (links server.Links, standIn bool, status int, err error) {
	if p.o.routingFile != "" {
		if err := p.unlessEnding(ctx, p.findRoute); err != nil {
			return links, false, 0, err
		}
	}
	if p.o.perNode {
		if standIn, status, err = p.joinNode(ctx); standIn || err != nil {
			return links, standIn, status, err
		}
	}
	err = p.unlessEnding(ctx, func(ctx context.Context) (err error) {
		links, err = p.links(ctx)
		return err
	})
	return links, false, 0, err
}
