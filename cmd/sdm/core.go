// sdm core: core files in place of ranks.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sdm/cmd/internal/job"
	"sdm/launch"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/topology"
)

// coreFlags returns the flags of sdm core: those of other sessions except flags about processes.
func (o *options) coreFlags() *flagSet {
	f := newFlags("core", append([]string{"when-lost", "secret-file", "linger", "reverse"}, rankFlags...)...)
	f.SetInterspersed(true)
	o.declare(f)
	f.add("gdb", o.job.Servers.GDB.Declare, o.perServer("core files of one server"))
	return f
}

// core executes sdm core: it opens core files as ranks, in the order of the command line.
func (a *app) core(args []string) console.Status {
	o := newOptions(a.env)
	f := o.coreFlags()
	if status, done := a.read(f, args, coreHelp); done {
		return status
	}
	o.args = f.Args()
	if err := o.validateCore(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	cores, err := o.cores()
	if err != nil {
		return a.fail(console.StatusNotStarted, err)
	}
	return a.within(&o, func(l *lifetime, p *plan) console.Status {
		s := p.spec()
		s.Ranks = len(cores)
		j, err := job.Run(l.ctx, s, a.io(p))
		if err == nil {
			j.First = &session.Call{Command: "core", Args: protocol.Args{Cores: cores}}
		}
		return a.control(l, p, j, err)
	})
}

// validateCore checks the options.
func (o *options) validateCore() error {
	s := &o.job.Servers
	switch {
	case len(o.args) == 0:
		return errors.New("which program, and which core files? (sdm core [flags] PROGRAM CORE...)")
	case len(o.args) == 1 && launch.CheckCore(o.args[0]) == nil:
		return fmt.Errorf("%s is a core file: the program that left it comes first (sdm core PROGRAM CORE...)", o.args[0])
	case len(o.args) == 1:
		return errors.New("which core files? (sdm core [flags] PROGRAM CORE...)")
	case len(o.args)-1 > int(rank.MaxID):
		return fmt.Errorf("%d core files: a session has %d ranks at most", len(o.args)-1, rank.MaxID)
	case s.PerServer < 0:
		return errors.New("--ranks-per-server cannot be negative")
	}
	if _, err := topology.ParseShape(s.Shape(), s.Count(len(o.args)-1)); err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	return o.validate()
}

// cores checks the files and returns their absolute paths, since servers may have other working
// directories.
func (o *options) cores() ([]protocol.Core, error) {
	program := o.args[0]
	switch info, err := os.Stat(program); {
	case err != nil:
		return nil, fmt.Errorf("%s: no such program (give its path)", program)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a directory (give the path of a program)", program)
	case launch.CheckCore(program) == nil:
		return nil, fmt.Errorf("%s is a core file: the program that left it comes first (sdm core PROGRAM CORE...)", program)
	}
	whole, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	all := make([]protocol.Core, len(o.args)-1)
	for i, path := range o.args[1:] {
		if err := launch.CheckCore(path); err != nil {
			return nil, err
		}
		file, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		all[i] = protocol.Core{Rank: rank.ID(i), File: file, Program: whole}
	}
	return all, nil
}
