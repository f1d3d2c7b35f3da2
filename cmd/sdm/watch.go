// sdm watch: a sentinel for batch scripts.

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/backend/probe"
	"sdm/cmd/internal/job"
	"sdm/master/frontend/console"
	"sdm/master/frontend/sentinel"
	"sdm/master/language"
)

// Values of --on-stall.
const (
	stallStacks = "stacks"
	stallReport = "report"
	stallKill   = "kill"
)

// statusStall is the exit status if the job has stalled and has not gone on, unless the user wants another one.
const statusStall = console.Status(5)

// forever is a time that no job runs.
const forever = 100 * 365 * 24 * time.Hour

// watchOptions are the values of the flags of sdm watch.
type watchOptions struct {
	options
	stall    time.Duration
	interval time.Duration // 0: depends on stall
	onStall  []string
	hold     time.Duration // 0: not at all
	exec     string
	also     []string
	progress string
	file     string
	quietFor time.Duration // 0: silence of the output is nothing
	status   int           // exit status if the job was ended
	summary  string        // file; "": none
	given    *flagSet      // what was parsed
	target   string        // the argument; "": a starter
	line     []string      // of the starter
}

// flags returns the flags of sdm watch: its own, and the flags of sdm attach that are not about the
// console.
func (o *watchOptions) flags() *flagSet {
	f := newFlags("watch", usageWatch, flagsOf(wayWatch, missing)...)
	f.foot = statusOfWatch
	f.add("Watching", o.declareWatch)
	o.declareAttach(f)
	f.add("Jobs in a queue", o.declareWhenStarted)
	f.words = func(args []string) error {
		if name := firstWord(f.FlagSet, args); slices.Contains(job.Starters, job.StarterName(name)) {
			return fmt.Errorf("%s: write -- before the starter's line (sdm watch [flags] -- %s ...)", name, name)
		}
		return nil
	}
	o.given = f
	return f
}

// declareWatch adds the flags that only sdm watch has.
func (o *watchOptions) declareWatch(f *pflag.FlagSet) {
	f.Var(newDuration(&o.stall, 2*time.Minute), "stall", "how long there may be no progress before the job has stalled; 0 is for ever (with --quiet-for)")
	f.Var(newDuration(&o.quietFor, 0), "quiet-for", "how long the job may write nothing to its standard output and standard error before that is treated as a stall; 0 is for ever")
	f.Var(newDuration(&o.interval, 0), "interval", "time between samples; 0 is a quarter of --stall, at most 30s")
	f.StringArrayVar(&o.onStall, "on-stall", nil, "what to do at a stall besides writing the file: `WHAT` is stacks (write them to standard error, too), report (nothing more) or kill (end the job, with all processes that the line has started on this host); may repeat (default report)")
	f.IntVar(&o.status, "stall-status", int(statusStall), "exit `status` if the job was ended at a stall (timeout(1) has 124)")
	f.StringVar(&o.summary, "summary", "", "`file` to which a summary in Markdown is added at the end, such as \"$GITHUB_STEP_SUMMARY\"")
	f.Var(newDuration(&o.hold, 0), "hold", "at a stall, hold the job as it stands for this long, in a session that people join (sdm join); then let it go, and go on; 0 is not at all")
	f.StringVar(&o.exec, "exec", "", "`command` for sh that is executed at a stall, a crash or an abort, with SDM_HANG_FILE, SDM_HANG_REPORT, SDM_HANG_REASON, SDM_HANG_RANKS and SDM_HANG_TEXT (with --hold also SDM_HANG_SESSION) in its environment")
	f.StringArrayVar(&o.also, "also", nil, "at a stall, also have gdb execute this `command` of the prompt, such as 'print x' or '[0] info locals'; may repeat")
	f.StringVar(&o.progress, "progress", "", "judge progress by the value of this `expression` only: a global or static variable or a part of it, as in step, p->grid.iter[2], *p, Class::count or mod::s%step(3); it is read without gdb")
	f.StringVarP(&o.file, "file", "o", "", "`file` to write; the report is FILE.html; none is replaced; DIR/ gets files with the default name (default: sdm-hang-JOB-TIME in the working directory)")
	o.declareMode(f)
}

// plan checks the options.
func (o *watchOptions) plan(a *app, f *flagSet) (*plan, error) {
	o.args = f.Args()
	if err := o.check(f.ArgsLenAtDash()); err != nil {
		return nil, err
	}
	if err := o.refusal(f, wayWatch); err != nil {
		return nil, err
	}
	o.job.Servers.Backend, o.job.Servers.StageGDB = engineLazy, false
	p := &plan{options: &o.options}
	if err := a.open(context.Background(), p); err != nil {
		return nil, err
	}
	w := &watch{app: a, o: o, plan: p, said: findings{began: time.Now()}}
	p.alone = func() console.Status {
		defer p.close()
		if o.target == "" {
			return w.summarize(w.commandLine(), w.starter())
		}
		return w.summarize(w.commandLine(), w.running())
	}
	return p, nil
}

// firstWord returns the first word that is no flag and no value of a flag; "": there is none before "--".
func firstWord(f *pflag.FlagSet, args []string) string {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		case takesNext(f, args[i]):
			i++
		}
	}
	return ""
}

// check checks the options. dash is the number of arguments before "--"; -1: there is none.
func (o *watchOptions) check(dash int) error {
	switch {
	case dash == 0 && o.match == "" && len(o.args) > 0:
		o.line = o.args
	case dash > 0 || dash == 0 && o.match != "":
		return errors.New("a running job or a starter's line: one of the two (sdm watch PID, or sdm watch -- mpirun -n 4 PROGRAM)")
	case len(o.args) == 0 && o.match == "":
		return errors.New("watch what? (sdm watch -- mpirun -n 4 PROGRAM, or the PID of mpirun, slurm:JOBID[.STEP], flux:JOBID, pbs:JOBID, nccl:HOST, pids:PID,PID..., hostfile:FILE or --match 'PROGRAM ARG...')")
	}
	if o.line != nil && o.job.WhenStarted {
		return errors.New("--when-started: the line is started here (it is for sdm watch slurm:JOBID and its like)")
	}
	if o.line == nil {
		if err := o.validateAttach(); err != nil {
			return err
		}
		o.target = o.args[0]
	} else if err := o.validate(); err != nil {
		return err
	}
	return o.checkOwn()
}

// checkOwn checks the flags that only sdm watch has.
func (o *watchOptions) checkOwn() error {
	switch {
	case o.stall < 0 || o.quietFor < 0:
		return errors.New("--stall and --quiet-for cannot be negative (0 is for ever)")
	case o.stall == 0 && o.quietFor == 0:
		return errors.New("--stall: give a time, such as 2m (0 is for --quiet-for alone)")
	case o.status < 0 || o.status > 255:
		return fmt.Errorf("--stall-status %d: give 0 to 255", o.status)
	case o.hold < 0:
		return errors.New("--hold cannot be negative (0: the job is not held)")
	case o.interval < 0 || o.stall > 0 && o.interval > o.stall:
		return fmt.Errorf("--interval %v: give a time that is not longer than --stall %v", o.interval, o.stall)
	}
	for _, what := range o.onStall {
		if !slices.Contains([]string{stallStacks, stallReport, stallKill}, what) {
			return fmt.Errorf("--on-stall %q: give stacks, report or kill", what)
		}
	}
	if slices.Contains(o.onStall, stallKill) && o.line == nil {
		if _, err := o.victims(); err != nil {
			return err
		}
	}
	if o.progress != "" {
		if err := probe.CheckExpression(o.progress); err != nil {
			return fmt.Errorf("--progress %w", err)
		}
	}
	for _, line := range o.also {
		if _, _, err := language.Parse(line); err != nil {
			return fmt.Errorf("--also %q: %w", line, err)
		}
	}
	return nil
}

// victims returns the processes that --on-stall kill ends in a running job.
func (o *watchOptions) victims() (pids []int, err error) {
	list, named := strings.CutPrefix(o.target, "pids:")
	if !named && strings.Contains(o.target, ":") {
		return nil, fmt.Errorf("--on-stall kill: give the PID of the starter, pids:PID,PID... or the starter's line (not %s)", o.target)
	}
	for text := range strings.SplitSeq(list, ",") {
		pid, err := strconv.Atoi(text)
		if err != nil || pid <= 1 {
			return nil, fmt.Errorf("--on-stall kill: %q is no process", text)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// running watches a job that runs already.
func (w *watch) running() console.Status {
	o := w.o
	l := newLifetime(0)
	defer l.stop()
	pid, _ := strconv.Atoi(o.target)
	w.out = openOutputs(pid)
	defer w.out.close()
	if err := w.listen(pid); err != nil {
		return w.app.fail(console.StatusUsage, err)
	}
	defer w.ears.close()
	killed := false
	if slices.Contains(o.onStall, stallKill) {
		pids, _ := o.victims() // see checkOwn
		w.kill = func() string {
			killed = true
			return endProcesses(pids)
		}
	}
	io := w.io()
	if o.job.WhenStarted {
		io.Remark = w.remark
	}
	j, err := job.Attach(l.ctx, o.spec(), io, o.target)
	if err != nil {
		return w.app.failed(err, console.StatusNotStarted)
	}
	w.target = o.target
	found, err := sentinel.Run(l.ctx, w.config(j))
	w.end(l.ctx, j)
	switch {
	case errors.Is(err, sentinel.ErrNoRank):
		return w.app.fail(console.StatusNotStarted, err)
	case err != nil:
		return w.app.fail(statusOf(err, console.StatusRankFailed), err)
	case !found.Alive.IsEmpty():
		return w.app.fail(console.StatusRankFailed, fmt.Errorf("the servers of ranks %s are lost, so they are not watched any more", found.Alive))
	}
	return w.judge(l.ctx, found, sentinel.End{Status: -1, Asked: killed, Tail: w.out.tail()})
}
