// The subcommand run with the line of a starter.

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/launch/flux"
	"sdm/master/frontend/console"
)

// Values of --launcher besides the names of starters.
const (
	launcherAuto  = ""      // depends on the line and the environment
	launcherLocal = "local" // ranks on this machine
	launcherSlurm = "slurm" // srun
	launcherSlot  = "slot"  // for the line of a starter: our servers in its slots
	launcherMPIR  = "mpir"  // for the line of a starter: it runs under control until its ranks are held
)

// starterFlux is the starter of Flux, whose word run starts a job.
const starterFlux = "flux"

// declareStarter adds the flags about starters.
func (o *runOptions) declareStarter(f *pflag.FlagSet) {
	f.StringVar(&o.starter, "starter", "", "`name` of a further starter (besides mpirun, mpiexec, srun and the like)")
	f.StringVar(&o.job.StarterArgs, "starter-args", "", "`template` of arguments put after the starter's name, by which it starts our servers, one a node: '--tool {daemon} --tool-arguments \"{args}\"', or openmpi")
	f.StringVar(&o.launcher, "launcher", launcherAuto, "who starts PROGRAM: local, slurm, pmix (a PMIx server, as prte), or a starter (mpirun); for a starter's line: mpir (it runs under control until its ranks are held), pmix (its PMIx server holds them) or slot (our servers in the places of its ranks); default: mpir if the starter offers it, else slot")
	f.StringArrayVar(&o.launcherArgs, "launcher-arg", nil, "further `argument` for the starter of --launcher, passed unchanged; may repeat")
	f.Var(newDuration(&o.job.QueueWait, 0), "queue-wait", "how long a starter may take to start the job, in a queue or before MPI_Init; 0 is no limit")
	f.Var(envValue{&o.starterDirs, "set"}, "starter-env", "set `NAME=VALUE` for the starter only; these flags apply in order")
	f.Var(envValue{&o.starterDirs, "add"}, "starter-env-add", "set `NAME=VALUE` unless NAME is set")
	f.Var(envValue{&o.starterDirs, "unset"}, "starter-env-unset", "remove `NAME`")
	f.Var(envValue{&o.starterDirs, "prepend"}, "starter-env-prepend", "prepend VALUE: `NAME[;]=VALUE`")
	f.Var(envValue{&o.starterDirs, "append"}, "starter-env-append", "append VALUE: `NAME[;]=VALUE`")
	f.StringVar(&o.job.Servers.Output, "output", servers.OutputConsole, "who gets the output of the ranks of a starter's job: console, or starter")
}

// isStarter reports whether the line begins with a starter.
func (o *runOptions) isStarter() bool {
	return len(o.args) > 0 && o.startsStarter(o.args)
}

// startsStarter reports whether a line, which is not empty, begins with a starter, or a shell that is told to start
// one.
func (o *runOptions) startsStarter(line []string) bool {
	return o.knowsStarter(line[0]) || job.IsTorchrun(line) || job.IsShellOf(line, o.knowsStarter)
}

// knowsStarter reports whether a word is a known starter, or that of --starter.
func (o *runOptions) knowsStarter(word string) bool {
	return slices.Contains(job.Starters, job.StarterName(word)) || o.starter != "" &&
		(filepath.Base(word) == o.starter || word == o.starter)
}

// chooseStarter puts a starter before the program if one is needed: that of --launcher, or srun
// inside an allocation of Slurm.
func (o *runOptions) chooseStarter() error {
	name := o.launcher
	switch {
	case o.job.StarterArgs != "" && (name == launcherAuto || name == launcherLocal):
		return errors.New("--starter-args: no starter is used (sdm run --starter-args TEMPLATE -- mpirun -n 4 PROGRAM)")
	case name == launcherAuto && job.InAllocation(o.env()):
		if _, err := exec.LookPath("srun"); err != nil {
			return nil
		}
		name = "srun"
	case name == launcherAuto, name == launcherLocal:
		if len(o.launcherArgs) > 0 {
			return fmt.Errorf("--launcher-arg %s: no starter is used (give --launcher slurm or --launcher mpirun)", o.launcherArgs[0])
		}
		return nil
	case name == launcherSlurm:
		name = "srun"
	case name == launcherSlot || name == launcherMPIR:
		return fmt.Errorf("--launcher %s: of which starter? (sdm run --launcher %s -- mpirun -n 4 PROGRAM, or --launcher mpirun)", name, name)
	case job.StarterName(name) == "torchrun":
		return fmt.Errorf("--launcher %s: write its own line (sdm run -- torchrun --nproc_per_node 4 SCRIPT)", name)
	case !o.knowsStarter(name):
		return fmt.Errorf("--launcher %q: give local, slurm, pmix, or the name of a starter (%s, or another with --starter)", name, strings.Join(job.Starters, ", "))
	}
	o.args, o.composed = o.composedLine(name), true
	return nil
}

// composedLine returns the starter's line for the programs.
func (o *runOptions) composedLine(starter string) []string {
	line := []string{starter}
	if starter == starterFlux {
		line = append(line, "run")
	}
	line = append(line, o.launcherArgs...)
	if len(o.apps) == 0 {
		if o.npGiven {
			line = append(line, "-n", strconv.Itoa(o.np))
		}
		line = append(line, o.args...)
	}
	for i, a := range o.apps {
		if i > 0 {
			line = append(line, ":")
		}
		line = append(append(line, "-n", strconv.Itoa(a.np)), a.args...)
	}
	return line
}

// validateStarter checks the options that do not fit a starter's line.
func (o *runOptions) validateStarter() error {
	badRanks := o.job.CheckRanks()
	if err := o.validateFlux(); err != nil {
		return err
	}
	switch {
	case o.npTyped && !o.composed:
		return fmt.Errorf("-n %d: the number of ranks belongs to the line of %s", o.np, o.args[0])
	case badRanks != nil:
		return badRanks
	case o.job.Servers.PerServer != 0:
		return errors.New("--ranks-per-server: under a starter there is one server for each node (leave it out)")
	case !slices.Contains([]string{launcherAuto, launcherSlot, launcherMPIR, launcherPMIx}, o.launcher) && !o.composed:
		return fmt.Errorf("--launcher %s: %s starts the ranks already (give %s, %s or %s, or leave it out)", o.launcher, o.args[0], launcherMPIR, launcherPMIx, launcherSlot)
	case len(o.launcherArgs) > 0 && !o.composed:
		return fmt.Errorf("--launcher-arg %s: write it into the line of %s", o.launcherArgs[0], o.args[0])
	case o.holdsInInit() && o.stopAtGiven:
		return fmt.Errorf("--stop-at %s: with --launcher %s ranks are held in MPI_Init, past their first line (leave --launcher out)", o.ranks.stopAt, o.launcher)
	case o.holdsInInit() && len(o.ranks.directives) > 0:
		return fmt.Errorf("--env: with --launcher %s the starter alone decides what its ranks get (mpirun -x NAME=VALUE; or leave --launcher out)", o.launcher)
	}
	if _, err := exec.LookPath(o.args[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("%s: no such program (is its module loaded? give its path)", o.args[0])
	}
	if err := o.validateStarterArgs(); err != nil {
		return err
	}
	if err := o.validateStarterEnv(); err != nil {
		return err
	}
	s := o.spec()
	return s.CheckFront()
}

// validateFlux checks the options that do not fit the line of flux run, which holds its ranks at
// their first instruction itself.
func (o *runOptions) validateFlux() error {
	switch {
	case job.StarterName(o.args[0]) != starterFlux:
		return nil
	case len(o.apps) > 1:
		return errors.New("flux run starts one program: several with colons are not possible")
	case o.launcher == launcherSlot || o.launcher == launcherMPIR:
		return fmt.Errorf("--launcher %s: flux run holds its ranks itself (leave it out)", o.launcher)
	case o.job.StarterArgs != "":
		return errors.New("--starter-args: flux exec starts our servers (leave it out)")
	case o.stopAtGiven:
		return fmt.Errorf("--stop-at %s: flux run holds ranks at their first instruction (break %s and continue go there)", o.ranks.stopAt, o.ranks.stopAt)
	case len(o.ranks.directives) > 0 || o.ranks.cwd != "":
		return errors.New("--env and --cwd: Flux decides what its ranks get (flux run --env=NAME=VALUE, --cwd=DIR)")
	}
	_, err := flux.Held(o.args)
	return err
}

// validateStarterArgs checks --starter-args and the flags that exclude it.
func (o *runOptions) validateStarterArgs() error {
	if o.job.StarterArgs == "" {
		return nil
	}
	err := job.CheckTemplate(o.job.StarterArgs)
	switch {
	case err != nil:
		return err
	case o.job.Servers.IsChosen():
		return errors.New("--starter-args, --start-tool and --remote-shell all start the servers: give only one")
	case o.launcher == launcherSlot:
		return errors.New("--starter-args goes with MPIR, not with --launcher slot")
	case len(o.ranks.directives) > 0:
		return errors.New("--env: with --starter-args the starter alone decides what its ranks get (mpirun -x NAME=VALUE)")
	}
	return nil
}

// runStarter executes sdm run for a starter's line.
func (a *app) runStarter(o *runOptions) console.Status {
	if err := o.validateStarter(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	return a.within(&o.options, func(l *lifetime, p *plan) console.Status {
		p.program = o.ranks.program([]string{slotProgram})
		j, err := job.Start(l.ctx, o.spec(), a.io(p))
		return a.control(l, p, j, err)
	})
}

// triesMPIR reports whether MPIR is tried first. Servers in slots do what MPIR cannot: change the
// environment of the ranks, stop them before main, and separate their output by rank. For srun,
// MPIR would have to start the servers by a second srun.
func (o *runOptions) triesMPIR() bool {
	switch {
	case o.needsMPIR() != "":
		return true
	case o.launcher != launcherAuto:
		return false
	case o.composed || len(o.ranks.directives) > 0 || o.stopAtGiven || o.ranks.stdinFile == "" &&
		o.ranks.stdin != stdinReader:
		return false
	}
	return job.StarterName(o.args[0]) != "srun" && !job.IsTorchrun(o.args)
}

// holdsInInit reports whether the user wants the ranks of a starter to be held in MPI_Init.
func (o *runOptions) holdsInInit() bool { return o.launcher == launcherMPIR || o.needsPMIx() }

// needsPMIx reports whether the user wants the starter's PMIx server to hold the ranks.
func (o *runOptions) needsPMIx() bool { return o.launcher == launcherPMIx && o.isStarter() }

// needsMPIR returns the flag that requires MPIR; "": none.
func (o *runOptions) needsMPIR() string {
	switch {
	case o.launcher == launcherMPIR:
		return "--launcher mpir"
	case o.job.StarterArgs != "":
		return "--starter-args"
	}
	return ""
}
