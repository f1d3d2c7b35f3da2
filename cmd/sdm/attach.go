// sdm attach, and the flags of all that finds running jobs.

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
)

// attachOptions are the values of the flags of sdm attach.
type attachOptions struct {
	options
	lazy bool
}

// flags returns the flags of sdm attach.
func (o *attachOptions) flags() *flagSet {
	f := newFlags("attach", usageAttach)
	f.first = []string{"ranks", "execute", "eval", "batch", "lazy", "hosts", "match", "gdb", "ranks-per-gdb", "wait"}
	f.add("Ranks", func(f *pflag.FlagSet) {
		f.BoolVar(&o.lazy, "lazy", false, "attach no gdb to a rank before a command other than stacks is about it; until then it runs")
	})
	o.declareAttach(f)
	f.add("Jobs in a queue", o.declareWhenStarted)
	f.add("Leaving and coming back", o.declareKeep)
	o.processes = true
	return f
}

// plan checks the options: sdm attach takes control of a running job, which runs on at the end.
func (o *attachOptions) plan(a *app, f *flagSet) (*plan, error) {
	o.args = f.Args()
	if o.lazy || len(o.args) > 0 && job.RunsOn(o.args[0]) {
		o.job.Servers.Backend = engineLazy
	}
	return a.attaching(&o.options, f, wayAttach)
}

// attaching returns the plan to take control of the running job that the argument names.
func (a *app) attaching(o *options, f *flagSet, w way) (*plan, error) {
	if err := o.refusal(f, w); err != nil {
		return nil, err
	}
	return a.planned(o, func(ctx context.Context, p *plan) (*job.Job, error) {
		return job.Attach(ctx, o.spec(), a.io(p), o.args[0])
	}), o.validateAttach()
}

// declareAttach adds the flags of sdm attach.
func (o *options) declareAttach(f *flagSet) {
	f.SetInterspersed(true)
	o.declare(f)
	f.hide(flagsOf(wayAttach, ignored)...) // the ranks run already
	f.add("Servers on other hosts", o.declareHosts, o.declareNodes, o.perServer("ranks of one server on this host"))
	f.add("PMIx servers", o.declarePMIxLog, o.declareForce)
	f.add("gdb", o.job.Servers.GDB.Declare)
}

// declareHosts adds the flags about jobs whose starter does not know the hosts, or that have none.
func (o *options) declareHosts(f *pflag.FlagSet) {
	f.StringVar(&o.job.Servers.Hosts, "hosts", "", "`HOST,HOST...` or @FILE: where the ranks are that no starter knows, of torchrun or --match (default: the hosts of the allocation, or this one)")
	f.StringVar(&o.match, "match", "", "in place of a job: your processes on --hosts whose command lines are like `'PROGRAM ARG...'`, in the order of host and process id")
}

// declareWhenStarted adds --when-started.
func (o *options) declareWhenStarted(f *pflag.FlagSet) {
	f.BoolVar(&o.job.WhenStarted, "when-started", false, "wait until slurm:JOBID, flux:JOBID or pbs:JOBID, which may be in the queue, has started its ranks, and take them then; Ctrl-C leaves the job alone")
}

// declareForce adds --force of sdm attach.
func (o *options) declareForce(f *pflag.FlagSet) {
	f.BoolVar(&o.job.Force, "force", false, "connect to a PMIx server that is known to end when a tool connects")
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
		return errors.New("attach to what? (sdm attach PID of mpirun, slurm:JOBID[.STEP], flux:JOBID, pbs:JOBID, pmix:NAMESPACE, torchrun:ID, nccl:HOST, pids:PID,PID..., hostfile:FILE or --match 'PROGRAM ARG...')")
	case len(o.args) > 1:
		return fmt.Errorf("%q: one job at a time (several processes are pids:%s)", o.args[1], strings.Join(o.args, ","))
	}
	if o.job.WhenStarted {
		if err := job.CheckWhenStarted(o.args[0]); err != nil {
			return err
		}
	}
	return o.validate()
}
