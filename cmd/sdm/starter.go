// The starters of sdm run: their flags, their lines, and what they are needed for.

package main

import (
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
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

// knowsStarter reports whether a word is a known starter, or the one that --starter names.
func (o *runOptions) knowsStarter(word string) bool {
	return slices.Contains(job.Starters, job.StarterName(word)) || o.starter != "" &&
		(filepath.Base(word) == o.starter || word == o.starter)
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

// triesMPIR reports whether MPIR is tried first. Servers in slots do what MPIR cannot: change the
// environment of the ranks, stop them before main, and separate their output by rank. For srun,
// MPIR would have to start the servers by a second srun.
func (o *runOptions) triesMPIR() bool {
	switch {
	case o.needsMPIR() != "":
		return true
	case o.launcher != launcherAuto:
		return false
	case o.isComposed || len(o.ranks.directives) > 0 || o.stopAtGiven || o.ranks.stdinFile == "" &&
		o.ranks.stdin != stdinReader:
		return false
	}
	return job.StarterName(o.args[0]) != "srun" && !job.IsTorchrun(o.args)
}

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
