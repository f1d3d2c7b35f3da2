// sdm run: how its ranks are started, as the flags, the line and the environment say.

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"sdm/cmd/internal/job"
	"sdm/launch"
	"sdm/launch/flux"
	"sdm/master/frontend/console"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/topology"
)

// plan checks the options.
func (o *runOptions) plan(a *app, f *flagSet) (*plan, error) {
	if err := o.check(f); err != nil {
		return nil, err
	}
	switch {
	case o.isStarter():
		return a.planned(&o.options, func(ctx context.Context, p *plan) (*job.Job, error) {
			p.program = o.ranks.program([]string{protocol.GivenProgram})
			return job.Start(ctx, o.spec(), a.io(p))
		}), nil
	case o.launcher == launcherPMIx:
		direct, err := o.directSpec()
		return a.planned(&o.options, func(ctx context.Context, p *plan) (*job.Job, error) {
			p.program = o.ranks.program(o.args)
			return job.Direct(ctx, o.spec(), direct, a.io(p))
		}), err
	}
	if err := o.checkPrograms(); err != nil {
		return nil, &job.Error{Status: console.StatusNotStarted, Err: err}
	}
	return a.planned(&o.options, func(ctx context.Context, p *plan) (*job.Job, error) {
		a.hintMPI(o)
		p.program = o.program()
		s := o.spec()
		s.Ranks = rank.Range(0, rank.ID(o.np-1))
		return job.Run(ctx, s, a.io(p))
	}), nil
}

// check decides how the ranks are started, which may put a starter before the program, and returns what is wrong with
// the command line.
func (o *runOptions) check(f *flagSet) error {
	o.job.Front, o.args = job.SplitFront(f.Args(), o.startsStarter, job.IsProgram)
	o.npGiven, o.stopAtGiven = f.Changed("np"), f.Changed("stop-at")
	given := o.isStarter()
	if !given {
		if err := o.readApps(); err != nil {
			return err
		}
	}
	if p := o.pmix.indirect; p != indirectFork && p != indirectSpawn {
		return fmt.Errorf("--pmix-indirect %s: give %s or %s", p, indirectFork, indirectSpawn)
	}
	some, err := o.ways(given)
	if err != nil {
		return err
	}
	starter := ""
	if o.isStarter() {
		starter = o.args[0]
	}
	line := asked{flags: f, ways: o.andOptional(some...), programs: len(o.apps), starter: starter, launcher: o.launcher}
	err = line.refusal()
	if err == nil {
		_, err = launch.Environ(nil, o.starterDirs)
	}
	if err == nil {
		err = o.validate()
	}
	switch {
	case err != nil:
		return err
	case starter != "":
		return o.checkStarter()
	case o.launcher == launcherPMIx:
		_, err := o.directSpec()
		return err
	}
	return o.checkLocal()
}

// ways returns the ways that the ranks are started; given says that the line of a starter is. It puts a starter before
// the program if one is needed: the one that --launcher names, or srun inside an allocation of Slurm.
func (o *runOptions) ways(given bool) (some []way, err error) {
	switch {
	case given && !slices.Contains([]string{launcherAuto, launcherSlot, launcherMPIR, launcherPMIx}, o.launcher):
		return nil, fmt.Errorf("--launcher %s: %s starts the ranks already (give %s, %s or %s, or leave it out)", o.launcher, o.args[0], launcherMPIR, launcherPMIx, launcherSlot)
	case given:
		some = []way{wayLine}
	default:
		if err := o.checkCount(); err != nil {
			return nil, err
		}
		if some, err = o.composed(); err != nil {
			return nil, err
		}
	}
	if !o.isStarter() {
		return some, nil
	}
	switch o.launcher {
	case launcherSlot:
		some = append(some, waySlot)
	case launcherMPIR:
		some = append(some, wayMPIR)
	case launcherPMIx:
		some = append(some, wayHeld)
		if o.pmix.indirect == indirectSpawn {
			some = append(some, waySpawn)
		}
	}
	if o.job.StarterArgs != "" {
		some = append(some, wayTemplate)
	}
	if job.StarterName(o.args[0]) == starterFlux {
		some = append(some, wayFlux)
	}
	return some, nil
}

// composed puts a starter before the program if one is needed.
func (o *runOptions) composed() ([]way, error) {
	name, some := o.launcher, []way{wayComposed}
	switch {
	case name == launcherPMIx:
		return []way{wayServer}, nil
	case name == launcherAuto && o.inSlurm():
		name, some = "srun", append(some, wayQueue)
	case name == launcherAuto, name == launcherLocal:
		return []way{wayLocal}, nil
	case name == launcherSlurm:
		name = "srun"
	case name == launcherSlot || name == launcherMPIR:
		return nil, fmt.Errorf("--launcher %s: of which starter? (sdm run --launcher %s -- mpirun -n 4 PROGRAM, or --launcher mpirun)", name, name)
	case job.StarterName(name) == "torchrun":
		return nil, fmt.Errorf("--launcher %s: write its own line (sdm run -- torchrun --nproc_per_node 4 SCRIPT)", name)
	case !o.knowsStarter(name):
		return nil, fmt.Errorf("--launcher %q: give local, slurm, pmix, or the name of a starter (%s, or another with --starter)", name, strings.Join(job.Starters, ", "))
	}
	o.args, o.isComposed = o.composedLine(name), true
	return some, nil
}

// inSlurm reports whether srun starts programs, since we are in an allocation of Slurm.
func (o *runOptions) inSlurm() bool {
	_, err := exec.LookPath("srun")
	return err == nil && job.InAllocation(o.env())
}

// manyRanks is the number of ranks on one machine above which --force is required, because the
// number is probably a typing error. Their gdbs would need 20 GB.
const manyRanks = 1000

// checkCount checks that there is a program, and the number of its ranks.
func (o *runOptions) checkCount() error {
	switch {
	case len(o.args) == 0 && o.launcher == launcherPMIx:
		return errors.New("which program? (sdm run --launcher pmix -n N PROGRAM [ARG...])")
	case len(o.args) == 0:
		return errors.New("which program? (sdm run [flags] PROGRAM [ARG...])")
	case o.np < 1 || o.np > int(rank.MaxID):
		return fmt.Errorf("-n %d: the number of ranks is 1 to %d", o.np, rank.MaxID)
	}
	return nil
}

// foreignStarters are known starters whose jobs sdm cannot control.
var foreignStarters = []string{"mpirun_rsh", "horovodrun"}

// checkLocal checks what servers on this host are to start.
func (o *runOptions) checkLocal() error {
	s, name := &o.job.Servers, job.StarterName(o.args[0])
	switch {
	case o.np > manyRanks && !o.force && o.lookup("SDM_BACKEND") == "":
		return fmt.Errorf("-n %d: on one machine? each rank has a gdb of some 20 MB (--force if you mean it; sdm sim -n %d tries it without processes)", o.np, o.np)
	case slices.Contains(foreignStarters, name):
		return fmt.Errorf("sdm does not know how to take control of a job of %s (let it start the servers: %s; if it offers MPIR: --starter %s)", name, underStarter(name), name)
	}
	if _, err := o.inputRanks(); err != nil {
		return err
	}
	if _, err := topology.ParseShape(s.Shape(), s.Count(o.np)); err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	return nil
}

// checkStarter checks the line of a starter.
func (o *runOptions) checkStarter() error {
	if err := o.job.CheckRanks(); err != nil {
		return err
	}
	if job.StarterName(o.args[0]) == starterFlux {
		if _, err := flux.Held(o.args); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath(o.args[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("%s: no such program (is its module loaded? give its path)", o.args[0])
	}
	if o.job.StarterArgs != "" {
		if err := job.CheckTemplate(o.job.StarterArgs); err != nil {
			return err
		}
	}
	s := o.spec()
	return s.CheckFront()
}

// underStarter tells how to debug a job of such a starter.
func underStarter(starter string) string {
	return fmt.Sprintf("sdm listen 0, then %s -n N sdm-server --rendezvous HOST:PORT -- PROGRAM", starter)
}

// hintMPI tells the user who starts several ranks of an MPI program without its starter that each
// is a job of its own.
func (a *app) hintMPI(o *runOptions) {
	inJob, err := launch.Identify(a.env)
	if o.np == 1 || err == nil && inJob.Number != launch.Unknown || !launch.LinksMPI(o.first().file()) {
		return
	}
	program := text.Clean(o.args[0])
	a.remark(fmt.Sprintf("note: %s uses MPI, but its starter (mpirun, srun) does not start it: "+
		"%d jobs of one rank each (for one job: sdm run -- mpirun -n %d %s)", program, o.np, o.np, program))
}
