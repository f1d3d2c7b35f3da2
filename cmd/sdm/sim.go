// The subcommand sim: a console with simulated ranks.

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	inprocess "sdm/cmd/internal/cluster"
	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/protocol/userfile"
	"sdm/tree/topology"
)

// simOptions are the values of the flags of sdm sim.
type simOptions struct {
	options
	np        int
	servers   int
	script    string
	connect   string // address of the front end; "": the console
	plaintext bool
}

// simulate executes sdm sim: the console, or another front end, with simulated ranks.
func (a *app) simulate(args []string) console.Status {
	o := &simOptions{options: newOptions(a.env)}
	f := o.flags()
	if status, done := a.read(f, args, simHelp); done {
		return status
	}
	o.args = f.Args()
	cfg, err := o.config()
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	inprocess.LimitMemory(cfg)
	return a.within(&o.options, func(l *lifetime, p *plan) console.Status {
		cfg.Log = p.log
		if o.connect != "" {
			return a.serveSimulated(l.ctx, o, cfg)
		}
		return a.driveSimulated(l, p, cfg)
	})
}

// flags returns the flags of sdm sim.
func (o *simOptions) flags() *flagSet {
	f := newFlags("sim", processFlags...)
	f.SetInterspersed(true) // there is no PROGRAM
	f.add("Simulation", o.declareSimulation)
	o.declare(f)
	o.ranks.stdin = "none"
	return f
}

// declareSimulation adds the flags that only sdm sim has.
func (o *simOptions) declareSimulation(f *pflag.FlagSet) {
	f.IntVarP(&o.np, "np", "n", 8, "`number` of ranks")
	f.IntVar(&o.servers, "servers", 0, fmt.Sprintf("`number` of servers (default: one for %d ranks, and at least 4)", inprocess.RanksPerServer))
	f.StringVar(&o.script, "script", "", "`file` that says what the ranks do")
	f.StringVar(&o.connect, "connect", "", "no console: dial the front end at `HOST:PORT`, unix:PATH or stdio, as sdm-master does")
	f.BoolVar(&o.plaintext, "plaintext", false, "permit a front end without TLS")
}

// processFlags are the shared flags about processes, which simulated ranks do not have.
var processFlags = []string{"env", "env-add", "env-unset", "env-prepend", "env-append", "stdin", "stdin-file", "cwd"}

// simProgram is the program of simulated ranks.
const simProgram = "work"

// config checks the flags of sim and reads its script.
func (o *simOptions) config() (inprocess.Config, error) {
	cfg := inprocess.Config{Ranks: o.np, Servers: o.servers, Shape: o.job.Servers.Shape(), Wait: o.console.wait}
	if len(o.args) > 0 {
		return cfg, fmt.Errorf("%q: the ranks of sdm sim run a program of its own (sdm help sim says what it can do)", o.args[0])
	}
	if err := cfg.Validate(); err != nil {
		return cfg, err
	}
	cfg = cfg.WithDefaults()
	if err := o.validate(); err != nil {
		return cfg, err
	}
	if _, err := topology.ParseShape(cfg.Shape, cfg.Servers); err != nil {
		return cfg, fmt.Errorf("--tree: %w", err)
	}
	var err error
	if cfg.Script, err = o.readScript(cfg.Servers); err != nil {
		return cfg, err
	}
	if o.connect != "" && (o.console.batch || len(o.console.scripts) > 0) {
		return cfg, errors.New("with --connect the front end gives the commands, -b, -x and -e have no place")
	}
	return cfg, nil
}

// readScript reads --script. Without it each run takes up to 50 ms.
func (o *simOptions) readScript(servers int) (inprocess.Script, error) {
	if o.script == "" {
		return inprocess.ParseScript(strings.NewReader("run 0ms..50ms\n"), o.np, servers)
	}
	ctx, cancel := deadline(o.console.timeout)
	defer cancel()
	f, err := userfile.Open(ctx, o.script)
	if err != nil {
		return inprocess.Script{}, fmt.Errorf("--script: %w", err)
	}
	defer f.Close()
	s, err := inprocess.ParseScript(f, o.np, servers)
	if err != nil {
		return s, fmt.Errorf("--script %s: %w", o.script, err)
	}
	return s, nil
}

// driveSimulated runs the console over simulated ranks.
func (a *app) driveSimulated(l *lifetime, p *plan, cfg inprocess.Config) console.Status {
	c, err := inprocess.New(cfg)
	if err != nil {
		return a.fail(console.StatusNoTree, err)
	}
	report, err := c.Build(l.ctx, p.job.Servers.ConnectWait)
	if err != nil {
		return a.notBuilt(l.ctx, err, endOf(c))
	}
	p.program = p.ranks.program([]string{simProgram})
	status := a.drive(l, p, &job.Job{Session: c.Master, Ranks: report.Ranks})
	if err := endOf(c); err != nil {
		p.log.Warn("a simulated server has ended badly", "err", err)
	}
	return status
}

// endOf closes a cluster within the grace period.
func endOf(c *inprocess.Cluster) error {
	ctx, cancel := servers.Closing()
	defer cancel()
	return c.Close(ctx)
}

// serveSimulated connects to a front end as sdm-master does. Each "initialize" gets a session with
// simulated ranks.
func (a *app) serveSimulated(ctx context.Context, o *simOptions, cfg inprocess.Config) console.Status {
	wait := o.job.Servers.ConnectWait
	r := rpc.Options{Plaintext: o.plaintext, Wait: wait, Build: startup.Build(), Log: cfg.Log}
	conn, err := a.dialFrontEnd(ctx, o.connect, &o.options, r)
	if err != nil {
		return a.fail(console.StatusNoTree, err)
	}
	var c *inprocess.Cluster
	open := func(ctx context.Context, s rpc.Setup, _ func(string)) (session.Session, session.Report, error) {
		if c != nil {
			endOf(c)
		}
		var err error
		if c, err = inprocess.New(cfg); err != nil {
			return nil, session.Report{}, err
		}
		report, err := c.Build(ctx, wait)
		return c.Master, report, err
	}
	err = rpc.Serve(ctx, conn, open, r)
	if c != nil {
		err = errors.Join(err, endOf(c))
	}
	if err != nil {
		return statusOf(context.Cause(ctx), a.fail(console.StatusRankFailed, err))
	}
	return console.StatusGood
}

// stdio is the address of a front end that has started this process.
const stdio = "stdio"

// dialFrontEnd connects to the front end of --connect.
func (a *app) dialFrontEnd(ctx context.Context, address string, o *options, r rpc.Options) (*rpc.Conn, error) {
	if address == stdio {
		return rpc.Stdio(a.stdin, a.stdout), nil
	}
	if !strings.HasPrefix(address, "unix:") {
		key, err := o.job.Servers.Key()
		if err != nil {
			return nil, err
		}
		r.Secret = key[:]
	}
	return rpc.Dial(ctx, address, r)
}
