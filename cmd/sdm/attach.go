// The subcommand attach: takes control of a running job.

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/master/frontend/console"
)

// declareAttach adds the flags of sdm attach.
func (o *options) declareAttach(f *flagSet) {
	f.SetInterspersed(true)
	o.declare(f)
	f.hide(rankFlags...) // the ranks run already
	f.add("Leaving and coming back", o.declareKeep)
	o.sharable = true
	f.add("Servers on other hosts", o.declareHosts, o.declareNodes, o.perServer("ranks of one server on this host"))
	f.add("PMIx servers", o.declarePMIxLog, o.declareForce)
	f.add("gdb", o.job.Servers.GDB.Declare)
}

// declareHosts adds the flags about jobs whose starter does not know the hosts, or that have none.
func (o *options) declareHosts(f *pflag.FlagSet) {
	f.StringVar(&o.job.Servers.Hosts, "hosts", "", "`HOST,HOST...` or @FILE: where the ranks are that no starter knows, of torchrun or --match (default: the hosts of the allocation, or this one)")
	f.StringVar(&o.match, "match", "", "in place of a job: your processes on --hosts whose command lines are like `'PROGRAM ARG...'`, in the order of host and process id")
}

// declareForce adds --force of sdm attach.
func (o *options) declareForce(f *pflag.FlagSet) {
	f.BoolVar(&o.job.Force, "force", false, "connect to a PMIx server that is known to end when a tool connects")
}

// attachFlags returns the flags of sdm attach.
func (o *options) attachFlags() *flagSet {
	f := newFlags("attach")
	f.first = []string{"ranks", "execute", "eval", "batch", "lazy", "hosts", "match", "gdb", "ranks-per-gdb", "wait"}
	f.add("Ranks", func(f *pflag.FlagSet) {
		f.BoolVar(&o.lazy, "lazy", false, "attach no gdb to a rank before a command other than stacks is about it; until then it runs")
	})
	o.declareAttach(f)
	return f
}

// attach executes sdm attach: it takes control of a running job, which runs on at the end.
func (a *app) attach(args []string) console.Status {
	o := newOptions(a.env)
	f := o.attachFlags()
	if status, done := a.read(f, args, attachHelp); done {
		return status
	}
	o.args = f.Args()
	if err := o.validateAttach(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if o.lazy {
		o.job.Servers.Backend = engineLazy
	}
	return a.within(&o, a.attachTo)
}

// validateAttach checks the options and the arguments, and turns --match into an argument.
func (o *options) validateAttach() error {
	if o.match != "" {
		if len(o.args) > 0 {
			return fmt.Errorf("%q and --match: one job at a time", o.args[0])
		}
		o.args = []string{"match:" + o.match}
	}
	switch {
	case len(o.args) == 0:
		return errors.New("attach to what? (sdm attach PID of mpirun, slurm:JOBID[.STEP], flux:JOBID, pbs:JOBID, pmix:NAMESPACE, torchrun:ID, pids:PID,PID..., hostfile:FILE or --match 'PROGRAM ARG...')")
	case len(o.args) > 1:
		return fmt.Errorf("%q: one job at a time (several processes are pids:%s)", o.args[1], strings.Join(o.args, ","))
	case o.job.Servers.PerServer < 0:
		return errors.New("--ranks-per-server cannot be negative")
	}
	return o.validate()
}

// attachTo takes control of the job that the argument names and runs the console.
func (a *app) attachTo(l *lifetime, p *plan) console.Status {
	j, err := job.Attach(l.ctx, p.spec(), a.io(p), p.args[0])
	return a.control(l, p, j, err)
}
