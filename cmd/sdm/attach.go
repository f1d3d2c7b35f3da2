package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/master/frontend/console"
	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// declareNodes adds the flags about servers on the hosts of a job that is started by a starter.
func (o *options) declareNodes(f *pflag.FlagSet) {
	f.StringVarP(&o.only, "ranks", "r", "", "`set` of ranks of a starter's job to control; the others run free (default: all)")
	f.StringVar(&o.remoteShell, "remote-shell", "", "`command` in place of ssh that starts our servers on other hosts")
	f.StringVar(&o.stage, "stage", "", "`directory` in node-local storage to which our servers are copied (once for each node, removed when they run)")
	f.BoolVar(&o.stageGDB, "stage-gdb", false, "bring this host's gdb there as well, with its libraries and its Python (removed at the end)")
	f.StringVar(&o.startTool, "start-tool", "", "`command` that starts them all: 'CMD {jobid} {hosts} -- {daemon}'")
}

// attachFlags returns the flags of sdm attach.
func (o *options) attachFlags() *pflag.FlagSet {
	f := startup.NewFlags("sdm attach")
	f.SetInterspersed(true)
	o.declare(f)
	for _, name := range []string{"stop-at", "env", "env-add", "env-unset", "env-prepend", "env-append", "stdin", "stdin-file", "cwd", "tty"} {
		if flag := f.Lookup(name); flag != nil {
			flag.Hidden = true // the ranks run already
		}
	}
	o.declareNodes(f)
	f.StringVar(&o.listenHost, "listen", "", "`host` or address at which servers on other hosts register (default: all of this host)")
	o.gdb.Declare(f)
	f.IntVar(&o.ranksPerServer, "ranks-per-server", 0, "`number` of ranks of one server on this host (default: one server has all)")
	return f
}

// attach executes sdm attach: it takes control of a running job, which runs on at the end.
func (a *app) attach(args []string) console.Status {
	o := newOptions(a.env)
	if status, done := a.read(o, o.attachFlags(), args, attachHelp); done {
		return status
	}
	if err := errors.Join(o.validateAttach(), o.validate()); err != nil {
		return a.fail(console.StatusUsage, firstOf(err))
	}
	return a.within(o, func(l *lifetime, p *plan) console.Status { return a.attachTo(l, p, o.args[0]) })
}

func (o *options) validateAttach() error {
	switch {
	case len(o.args) == 0:
		return errors.New("attach to what? (sdm attach PID of mpirun, slurm:JOBID[.STEP], pids:PID,PID... or hostfile:FILE)")
	case len(o.args) > 1:
		return fmt.Errorf("%q: one job at a time (several processes are pids:%s)", o.args[1], strings.Join(o.args, ","))
	case o.ranksPerServer < 0:
		return errors.New("--ranks-per-server cannot be negative")
	}
	return nil
}

// attachTo finds the ranks of target, attaches to them and runs the console.
func (a *app) attachTo(l *lifetime, p *plan, target string) console.Status {
	j, holder, err := a.find(l.ctx, p, target)
	if holder != nil {
		defer endLauncher(holder, p)
	}
	j.whole = j.table
	if err == nil {
		j.table, err = p.o.chosen(j.whole)
	}
	if err == nil {
		err = refuseOurselves(j.table)
	}
	if err != nil {
		return a.fail(statusOf(err, console.StatusNotStarted), err)
	}
	p.pack()
	defer p.drop()
	j = p.o.coAttach(p, j, holder)
	p.take = attaching(j.table)
	p.started = func() {
		if holder != nil {
			holder.Release()
		}
	}
	c, err := a.assemble(l.ctx, p, j, nil)
	if err != nil {
		return a.notBuilt(l.ctx, err, nil)
	}
	defer c.close()
	return a.driveCrew(l, p, c)
}

// refuseOurselves refuses a job that contains this process, a process started by it, or init.
// Servers make the same check on their hosts.
func refuseOurselves(table protocol.Proctable) error {
	for _, n := range table.Nodes() {
		if !isHere(n.Host) {
			continue
		}
		for _, p := range n.Pids {
			if err := launch.RefuseOurselves(p.PID); err != nil {
				return fmt.Errorf("rank %d: %w", p.Rank, err)
			}
		}
	}
	return nil
}

// driveCrew runs the console over the ranks that have servers. At the end it reports the ranks that
// had none.
func (a *app) driveCrew(l *lifetime, p *plan, c *crew) console.Status {
	for _, one := range c.absent {
		p.lost = p.lost.Union(one.Ranks)
	}
	status := a.drive(l, p, c.session, c.ranks, nil)
	for _, one := range session.ByCause(c.absent) {
		a.remark(fmt.Sprintf("%s on %s had no part in it: %s", rankWord(one.Ranks), strings.Join(one.Hosts, ", "), one.Cause))
	}
	return status
}

// attaching returns the call that attaches to the ranks of a table.
func attaching(table protocol.Proctable) *session.Call {
	return &session.Call{Command: "attach", Args: protocol.Args{Pids: table.Pids()}}
}

func endLauncher(h launch.Launcher, p *plan) {
	ctx, cancel := closing()
	defer cancel()
	if err := h.End(ctx); err != nil {
		p.log.Warn("the starter", "err", err)
	}
}

// find finds the ranks of the argument of attach. The caller must end the launcher that it returns,
// unless it is nil.
func (a *app) find(ctx context.Context, p *plan, target string) (job, launch.Launcher, error) {
	kind, rest, named := strings.Cut(target, ":")
	switch {
	case named && kind == "pids":
		table, err := launch.ParsePids(rest, hostName())
		return job{table: table}, nil, explain(err, "sdm attach pids:PID,PID...")
	case named && kind == "hostfile":
		table, err := readHostfile(rest)
		return job{table: table}, nil, err
	case named && kind == "slurm":
		return a.findBySlurm(ctx, p, rest)
	case named && kind == "job":
		return a.findByTool(ctx, p, rest)
	}
	pid, err := strconv.Atoi(target)
	if err != nil || pid <= 0 {
		return job{}, nil, misused("%q is no job (give the PID of mpirun, slurm:JOBID[.STEP], pids:PID,PID..., hostfile:FILE or job:ID)", target)
	}
	return a.findByPID(ctx, p, pid)
}

func explain(err error, usage string) error {
	if err != nil {
		return misused("%w (%s)", err, usage)
	}
	return nil
}

func misused(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

func readHostfile(path string) (protocol.Proctable, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, misused("hostfile: %w", err)
	}
	defer f.Close()
	table, err := launch.ReadPids(f)
	if err != nil {
		return nil, misused("%s: %w", path, err)
	}
	return table, nil
}

// findByPID finds the ranks of a process: a starter, a script that has called a starter, or a
// single rank.
func (a *app) findByPID(ctx context.Context, p *plan, pid int) (job, launch.Launcher, error) {
	family := launch.FamilyOf(pid)
	if prrte, found := family.PRRTE(); found && prrte.Elsewhere() {
		j, err := a.findPRRTE(ctx, p, prrte)
		return j, nil, err
	}
	var hydra *launch.Hydra
	if h, found := family.Hydra(); found {
		hydra = &h
	}
	starter, err := mpir.Find(pid, isOnlyRank)
	var none *mpir.NoStarter
	switch {
	case errors.As(err, &none) && hydra != nil && hydra.Elsewhere():
		j, err := a.findHydra(ctx, p, *hydra, strconv.Itoa(pid), nil)
		return j, nil, err
	case errors.As(err, &none):
		return a.withoutMPIR(pid, none)
	case err != nil:
		return job{}, nil, err
	}
	inTime, cancel := bounded(ctx, p.o.clock.left(), "--connect-wait")
	table, err := starter.Acquire(inTime, a.remark)
	cancel()
	if err == nil && launch.HasHelpers(table) {
		defer endLauncher(starter, p)
		j, err := a.behindHelpers(ctx, p, table, hydra, starter.JobID())
		return j, nil, err
	}
	p.o.ownTool(starter.StarterPID())
	return job{table: table, id: starter.JobID()}, starter, err
}

// isOnlyRank reports whether a process is a rank and not a starter that was called in a rank.
func isOnlyRank(pid int) bool {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return launch.IsRank(pid) && !slices.Contains(starters, starterName(exe))
}

// withoutMPIR looks for ranks below a starter that does not offer MPIR. Any other process is a job
// of one rank.
func (a *app) withoutMPIR(pid int, none *mpir.NoStarter) (job, launch.Launcher, error) {
	found, err := launch.RanksBelow(pid)
	switch {
	case err != nil:
		return job{}, nil, fmt.Errorf("%w, and its ranks cannot be found: %w (hostfile:FILE names them: RANK HOST PID lines)", none, err)
	case len(found) > 0:
		a.remark(fmt.Sprintf("%s; %d ranks were found below it by their environment", none, len(found)))
		for i := range found {
			found[i].Host = hostName()
		}
		return job{table: found, id: strconv.Itoa(pid)}, nil, nil
	case slices.Contains(starters, starterName(none.Program)):
		return job{}, nil, fmt.Errorf("%w, and has no ranks on this host (hostfile:FILE names them: RANK HOST PID lines)", none)
	}
	return job{table: protocol.Proctable{{Host: hostName(), PID: pid}}, id: strconv.Itoa(pid)}, nil, nil
}

// findByTool asks the start tool, which must offer MPIR itself, for the job with this ID. So the
// job may have been started on another login node.
func (a *app) findByTool(ctx context.Context, p *plan, id string) (job, launch.Launcher, error) {
	if p.o.startTool == "" {
		return job{}, nil, misused("job:ID needs --start-tool CMD, a command that knows the job by its ID and offers MPIR")
	}
	command, _, _ := strings.Cut(p.o.startTool, " -- ")
	line := toolLine(strings.ReplaceAll(command, "{hosts}", ""), id, nil, nil)
	t := mpir.New(mpir.Spec{Argv: []string{"/bin/sh", "-c", line}, Env: p.o.starterEnv(), Stdout: a.stderr, Stderr: a.stderr})
	ctx, cancel := bounded(ctx, p.o.clock.left(), "--connect-wait")
	defer cancel()
	table, err := t.Acquire(ctx, a.remark)
	if err != nil {
		err = fmt.Errorf("--start-tool: %w", err)
	}
	return job{table: table, id: id}, t, err
}

// chosen returns the rows of the ranks that -r names; all rows without -r.
func (o *options) chosen(table protocol.Proctable) (protocol.Proctable, error) {
	if o.only == "" {
		return table, nil
	}
	if _, err := o.awaited(); err != nil {
		return nil, err
	}
	set, err := rank.Parse(o.only, rank.Env{All: table.Ranks()})
	if err != nil {
		return nil, fmt.Errorf("--ranks: %w", err)
	}
	if beyond := set.Minus(table.Ranks()); !beyond.IsEmpty() || set.IsEmpty() {
		return nil, fmt.Errorf("--ranks %s: the job has %s", o.only, table.Ranks())
	}
	return table.Only(set), nil
}

// remark writes a message of sdm to standard error.
func (a *app) remark(said string) { fmt.Fprintf(a.stderr, "sdm: %s\n", cleanLines(said)) }

// cleanLines removes control characters from each line of a message, since it may contain text of a
// starter, a host or a file.
func cleanLines(said string) string {
	lines := strings.Split(said, "\n")
	for i := range lines {
		lines[i] = text.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// starterName returns the base name of a starter, without the suffix that distributions append
// (mpirun.openmpi).
func starterName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}
