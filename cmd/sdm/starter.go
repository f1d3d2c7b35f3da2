package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/launch/mpir"
	"sdm/launch/slot"
	"sdm/master/frontend/console"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// starters are the starters that sdm can take control of. --starter adds one.
var starters = []string{"mpirun", "mpiexec", "orterun", "prterun", "srun"}

// foreignStarters are known starters whose jobs sdm cannot control.
var foreignStarters = []string{"aprun", "jsrun", "flux"}

// isStarter reports whether the line begins with a starter.
func (o *options) isStarter() bool { return len(o.args) > 0 && o.knowsStarter(o.args[0]) }

func (o *options) knowsStarter(word string) bool {
	base := filepath.Base(word)
	name, _, _ := strings.Cut(base, ".")
	return slices.Contains(starters, name) || o.starter != "" && (base == o.starter || word == o.starter)
}

// Values of --launcher besides the names of starters.
const (
	launcherAuto  = ""      // depends on the line and the environment
	launcherLocal = "local" // ranks on this machine
	launcherSlurm = "slurm" // srun
	launcherSlot  = "slot"  // for the line of a starter: our servers in its slots
	launcherMPIR  = "mpir"  // for the line of a starter: it runs under control until its ranks are held
)

// chooseStarter puts a starter before the program if one is needed: that of --launcher, or srun
// inside an allocation of Slurm.
func (o *options) chooseStarter() error {
	name := o.launcher
	switch {
	case o.starterArgs != "" && (name == launcherAuto || name == launcherLocal):
		return errors.New("--starter-args: no starter is used (sdm run --starter-args TEMPLATE -- mpirun -n 4 PROGRAM)")
	case name == launcherAuto && inAllocation(o.env):
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
	case !o.knowsStarter(name):
		return fmt.Errorf("--launcher %q: give local, slurm, or the name of a starter (%s, or another with --starter)", name, strings.Join(starters, ", "))
	}
	line := append([]string{name}, o.launcherArgs...)
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
	o.args, o.composed = line, true
	return nil
}

// inAllocation reports whether sdm runs in an allocation of Slurm and is not one of its tasks: in
// the shell of salloc, or in a batch script. The steps of these have numbers above maxStep
// (slurm.h, SLURM_BATCH_SCRIPT and the like).
func inAllocation(env []string) bool {
	o := options{env: env}
	if o.lookup("SLURM_JOB_ID") == "" {
		return false
	}
	const maxStep = 4294967000
	step, err := strconv.ParseUint(o.lookup("SLURM_STEP_ID"), 10, 64)
	return err != nil || step > maxStep
}

// validateStarter checks the options that do not fit a starter's line.
func (o *options) validateStarter() error {
	_, badRanks := o.awaited()
	switch {
	case o.npTyped && !o.composed:
		return fmt.Errorf("-n %d: the number of ranks belongs to the line of %s", o.np, o.args[0])
	case badRanks != nil:
		return badRanks
	case o.ranksPerServer != 0:
		return errors.New("--ranks-per-server: under a starter there is one server for each node (leave it out)")
	case !slices.Contains([]string{launcherAuto, launcherSlot, launcherMPIR}, o.launcher) && !o.composed:
		return fmt.Errorf("--launcher %s: %s starts the ranks already (give %s or %s, or leave it out)", o.launcher, o.args[0], launcherMPIR, launcherSlot)
	case len(o.launcherArgs) > 0 && !o.composed:
		return fmt.Errorf("--launcher-arg %s: write it into the line of %s", o.launcherArgs[0], o.args[0])
	case o.launcher == launcherMPIR && o.stopAtGiven:
		return fmt.Errorf("--stop-at %s: with --launcher mpir ranks are held in MPI_Init, past their first line (leave --launcher out)", o.stopAt)
	case o.launcher == launcherMPIR && len(o.directives) > 0:
		return errors.New("--env: with --launcher mpir the starter alone decides what its ranks get (mpirun -x NAME=VALUE; or leave --launcher out)")
	}
	if _, err := exec.LookPath(o.args[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("%s: no such program (is its module loaded? give its path)", o.args[0])
	}
	return nil
}

// starterLine parses the starter's line.
func (o *options) starterLine() (slot.Line, error) {
	resolved := ""
	if path, err := exec.LookPath(o.args[0]); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			resolved = real
		}
	}
	return slot.Parse(o.args, resolved, func(word string) bool {
		_, err := exec.LookPath(word)
		return err == nil
	})
}

// debugOptions make Open MPI's mpirun start itself under a debugger.
var debugOptions = []string{"--debug", "-debug", "--tv", "-tv"}

// isDebugger removes the options by which mpirun was told to start a debugger, which is sdm. Some
// of them remain in @mpirun_args@, and mpirun would look for another debugger.
func (o *options) isDebugger() {
	line, err := o.starterLine()
	if err != nil || len(line.Programs) == 0 || !line.IsOpenMPI {
		return
	}
	at := line.Programs[0].At
	before := slices.DeleteFunc(slices.Clone(o.args[:at]), func(word string) bool { return slices.Contains(debugOptions, word) })
	o.args = append(before, o.args[at:]...)
}

// runStarter executes sdm run for a starter's line.
func (a *app) runStarter(o *options) console.Status {
	if err := errors.Join(o.validateStarter(), o.validateInjection(), o.validate()); err != nil {
		return a.fail(console.StatusUsage, firstOf(err))
	}
	return a.within(o, a.startStarter)
}

// startStarter takes control of the starter's job by MPIR, or puts our servers into its slots in
// place of the ranks.
func (a *app) startStarter(l *lifetime, p *plan) console.Status {
	o := p.o
	o.isDebugger()
	p.pack()
	defer p.drop()
	a.jobIs(o, protocol.JobState{State: "starting", Text: strings.Join(o.args, " ")})
	if o.triesMPIR() {
		status, err := a.runHeld(l, p)
		mute, is := isMute(err)
		switch {
		case err == nil:
			return status
		case hasEnded(err):
			return a.fail(status, fmt.Errorf("%w (ranks that do not call MPI_Init are not held: --launcher slot has them start under control)", err))
		case !is:
			return a.fail(status, err)
		case mute.Called:
			return a.fail(status, fmt.Errorf("%w: give its own line in place of the script's (sdm run -- %s -n N PROGRAM), or put sdm run -- in front of it in the script", err, mute.Starter))
		case o.mustMPIR():
			return a.fail(status, fmt.Errorf("%w: leave %s out, and sdm-server takes the place of each rank", err, o.needsMPIR()))
		}
		p.log.Info("our servers take the places of the ranks", "why", err)
		p.forgetHeld()
	}
	line, err := o.starterLine()
	switch {
	case err != nil:
		return a.fail(console.StatusUsage, err)
	case o.only != "" && (len(o.directives) > 0 || o.cwd != ""):
		return a.fail(console.StatusUsage, errors.New("--ranks with --env or --cwd: the other ranks would not get them (let the starter give them to all)"))
	}
	return a.runSlots(l, p, line)
}

// hasEnded reports whether a starter has ended successfully without holding any rank.
func hasEnded(err error) bool {
	var ended *mpir.Ended
	return errors.As(err, &ended) && ended.Status.Exited() && ended.Status.ExitStatus() == 0
}

// triesMPIR reports whether MPIR is tried first. Servers in slots do what MPIR cannot: change the
// environment of the ranks, stop them before main, and separate their output by rank. For srun,
// MPIR would have to start the servers by a second srun.
func (o *options) triesMPIR() bool {
	switch {
	case o.mustMPIR():
		return true
	case o.launcher != launcherAuto:
		return false
	case o.composed || len(o.directives) > 0 || o.stopAtGiven || o.stdinFile == "" && o.stdin != stdinReader:
		return false
	}
	return starterName(o.args[0]) != "srun"
}

// mustMPIR reports whether only MPIR will do.
func (o *options) mustMPIR() bool { return o.needsMPIR() != "" }

// needsMPIR returns the flag that requires MPIR; "": none.
func (o *options) needsMPIR() string {
	switch {
	case o.launcher == launcherMPIR:
		return "--launcher mpir"
	case o.starterArgs != "":
		return "--starter-args"
	}
	return ""
}

// forgetHeld resets a plan before another way is tried.
func (p *plan) forgetHeld() {
	p.seat, p.take, p.lost, p.started, p.over = nil, nil, rank.Set{}, nil, nil
}
