// sdm sim: simulated ranks.

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

// plan checks the options: the console, or another front end, gets simulated ranks.
func (o *simOptions) plan(a *app, f *flagSet) (*plan, error) {
	o.args = f.Args()
	some := []way{waySim}
	if o.connect != "" {
		some = append(some, wayFrontEnd)
	}
	cfg, err := o.config()
	if err == nil {
		err = o.refusal(f, some...)
	}
	if err != nil {
		return nil, err
	}
	inprocess.LimitMemory(cfg)
	p := a.planned(&o.options, func(ctx context.Context, p *plan) (*job.Job, error) { return a.simulate(ctx, p, cfg) })
	if o.connect != "" {
		p.serve = func(l *lifetime) console.Status {
			cfg.Log = p.log
			return a.serveSimulated(l.ctx, o, cfg)
		}
	}
	return p, nil
}

// flags returns the flags of sdm sim.
func (o *simOptions) flags() *flagSet {
	f := newFlags("sim", usageSim, flagsOf(waySim, missing)...)
	f.SetInterspersed(true) // there is no PROGRAM
	f.add("Simulation", o.declareSimulation)
	o.declare(f)
	f.add("Leaving and coming back", o.declareKeep)
	o.ranks.stdin = "none"
	f.foot = "\nScripts (--script):\n" + inprocess.Grammar + footer
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
	cfg.Script, err = o.readScript(cfg.Servers)
	return cfg, err
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

// simulate makes simulated ranks with their servers.
func (a *app) simulate(ctx context.Context, p *plan, cfg inprocess.Config) (*job.Job, error) {
	cfg.Log = p.log
	c, err := inprocess.New(cfg)
	if err != nil {
		return nil, job.NotBuilt(ctx, err, nil)
	}
	report, err := c.Build(ctx, p.job.Servers.ConnectWait)
	if err != nil {
		return nil, job.NotBuilt(ctx, err, servers.CloseInTime(c))
	}
	p.program = p.ranks.program([]string{simProgram})
	j := &job.Job{Session: c.Master, Ranks: report.Ranks}
	j.AtEnd(func(status console.Status) console.Status {
		if err := servers.CloseInTime(c); err != nil {
			p.log.Warn("a simulated server has ended badly", "err", err)
		}
		return status
	})
	return j, nil
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
			servers.CloseInTime(c)
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
		err = errors.Join(err, servers.CloseInTime(c))
	}
	if err != nil {
		return statusOf(context.Cause(ctx), a.fail(console.StatusRankFailed, err))
	}
	return console.StatusGood
}
