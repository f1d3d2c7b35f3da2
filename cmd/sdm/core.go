// sdm core: core files in place of ranks.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sdm/cmd/internal/job"
	"sdm/launch"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/topology"
)

// coreOptions are the values of the flags of sdm core.
type coreOptions struct{ options }

// flags returns the flags of sdm core: the flags of other sessions, except flags about processes.
func (o *coreOptions) flags() *flagSet {
	f := newFlags("core", usageCore, flagsOf(wayCore, missing)...)
	f.SetInterspersed(true)
	o.declare(f)
	f.add("Leaving and coming back", o.declareKeep)
	f.add("gdb", o.job.Servers.GDB.Declare, o.perServer("core files of one server"))
	return f
}

// plan checks the options: sdm core opens core files as ranks, in the order of the command line.
func (o *coreOptions) plan(a *app, f *flagSet) (*plan, error) {
	o.args = f.Args()
	err := o.check()
	if err == nil {
		err = o.refusal(f, wayCore)
	}
	if err != nil {
		return nil, err
	}
	program, err := o.program()
	if err != nil {
		return nil, &job.Error{Status: console.StatusNotStarted, Err: err}
	}
	return a.planned(&o.options, func(ctx context.Context, p *plan) (*job.Job, error) {
		return a.openCores(ctx, p, program)
	}), nil
}

// openCores opens the core files of a command line.
func (a *app) openCores(ctx context.Context, p *plan, program string) (j *job.Job, err error) {
	files := coreFiles{remark: a.remark, tells: isTerminal(a.stderr)}
	defer func() {
		if err != nil {
			files.remove()
		}
	}()
	cores, err := files.open(ctx, program, p.args[1:])
	if err != nil {
		return nil, err
	}
	if len(cores) == 0 {
		return nil, errSaid // of each file
	}
	p.clock.Restart()
	s := p.spec()
	s.Ranks = ranksOf(cores)
	if j, err = job.Run(ctx, s, a.io(p)); err != nil {
		return nil, err
	}
	j.First = &session.Call{Command: "core", Args: protocol.Args{Cores: cores}}
	j.AtEnd(func(status console.Status) console.Status {
		files.remove()
		if status == console.StatusGood && len(cores) < len(p.args)-1 {
			return console.StatusNotStarted
		}
		return status
	})
	return j, nil
}

// check checks the options.
func (o *coreOptions) check() error {
	s := &o.job.Servers
	switch {
	case len(o.args) == 0:
		return errors.New("which program, and which core files? (sdm core [flags] PROGRAM CORE...)")
	case len(o.args) == 1 && isCore(o.args[0]):
		return fmt.Errorf("%s is a core file: the program that left it comes first (sdm core PROGRAM CORE...)", o.args[0])
	case len(o.args) == 1:
		return errors.New("which core files? (sdm core [flags] PROGRAM CORE...)")
	case len(o.args)-1 > int(rank.MaxID):
		return fmt.Errorf("%d core files: a session has %d ranks at most", len(o.args)-1, rank.MaxID)
	}
	if _, err := topology.ParseShape(s.Shape(), s.Count(len(o.args)-1)); err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	return o.validate()
}

// isCore reports whether a file is a core file, or a packed one.
func isCore(path string) bool { return launch.CheckCore(path) == nil || launch.IsPacked(path) }

// program returns the absolute path of the program, since servers may have other working directories.
func (o *coreOptions) program() (string, error) {
	program := o.args[0]
	switch info, err := os.Stat(program); {
	case err != nil:
		return "", fmt.Errorf("%s: no such program (give its path)", program)
	case info.IsDir():
		return "", fmt.Errorf("%s: is a directory (give the path of a program)", program)
	case isCore(program):
		return "", fmt.Errorf("%s is a core file: the program that left it comes first (sdm core PROGRAM CORE...)", program)
	}
	return filepath.Abs(program)
}

// coreFiles opens the core files of a command line.
type coreFiles struct {
	remark   func(string)
	tells    bool             // a person waits and is told what takes time
	unpacker *launch.Unpacker // nil: no file has been packed so far
}

// open returns the absolute paths of the files that can be debugged, where packed ones are unpacked, with the
// ranks of their places in the line. It reports the other files, one line each. The error is the cause of ctx.
func (c *coreFiles) open(ctx context.Context, program string, paths []string) ([]protocol.Core, error) {
	var all []protocol.Core
	for i, path := range paths {
		file, err := c.one(ctx, path, i)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			c.remark(err.Error())
			continue
		}
		all = append(all, protocol.Core{Rank: rank.ID(i), File: file, Program: program})
	}
	return all, nil
}

// one checks one file, and unpacks it if it is packed.
func (c *coreFiles) one(ctx context.Context, path string, place int) (string, error) {
	if !launch.IsPacked(path) {
		if err := launch.CheckCore(path); err != nil {
			return "", err
		}
		return filepath.Abs(path)
	}
	if c.unpacker == nil {
		var err error
		if c.unpacker, err = launch.NewUnpacker(unpackBelow()); err != nil {
			return "", fmt.Errorf("%s: a packed file, and there is no place to unpack it: %w", path, err)
		}
	}
	if c.tells {
		c.remark("unpacking " + path)
	}
	base := filepath.Base(path)
	return c.unpacker.Core(ctx, path, strconv.Itoa(place)+"."+strings.TrimSuffix(base, filepath.Ext(base)))
}

// unpackBelow returns the folder for large files that need not stay (file-hierarchy(7)).
func unpackBelow() string { return cmp.Or(os.Getenv("TMPDIR"), "/var/tmp") }

// remove removes unpacked files.
func (c *coreFiles) remove() {
	if c.unpacker == nil {
		return
	}
	if err := c.unpacker.Remove(); err != nil {
		c.remark("an unpacked core file could not be removed: " + err.Error())
	}
}

// ranksOf returns the ranks of core files.
func ranksOf(cores []protocol.Core) rank.Set {
	ranks := make([]rank.ID, len(cores))
	for i, c := range cores {
		ranks[i] = c.Rank
	}
	return rank.Of(ranks...)
}
