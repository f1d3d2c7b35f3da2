// The flags of sdm run.

package main

import (
	"slices"

	"github.com/spf13/pflag"

	"sdm/backend/gdb"
	"sdm/cmd/internal/job"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// runOptions are the values of the flags of sdm run.
type runOptions struct {
	options
	np       int
	npGiven  bool          // -n is given, on the command line or in the environment
	force    bool          // --force
	jobLevel int           // number of directives before -n, which hold for all programs
	apps     []application // programs of the job; nil: a single one

	starter      string                  // name of a further starter
	starterDirs  []protocol.EnvDirective // --starter-env flags, in the order given
	launcher     string                  // see launcherAuto
	launcherArgs []string
	isComposed   bool // sdm has put the starter before the program
	stopAtGiven  bool // --stop-at is given, on the command line or in the environment
	pmix         pmixOptions
}

// maxUsed are the flags that help about sdm run shows first.
var maxUsed = []string{"np", "execute", "eval", "batch", "stop-at", "env", "cwd", "stdin-file", "launcher", "gdb"}

func newRunOptions(env []string) *runOptions {
	o := &runOptions{options: newOptions(env), np: 1}
	o.processes = true
	return o
}

// flags returns the flags of sdm run.
func (o *runOptions) flags() *flagSet {
	f := newFlags("run", usageRun)
	f.first = maxUsed
	f.add("Ranks on this machine", func(f *pflag.FlagSet) {
		f.VarP(npValue{o}, "np", "n", "`number` of ranks")
		f.BoolVar(&o.force, "force", false, "start more than 1000 ranks on this machine, or connect to a PMIx server that is known to end when a tool connects")
	}, o.perServer("ranks of one server"))
	o.declare(f)
	f.add("Leaving and coming back", o.declareKeep, func(f *pflag.FlagSet) {
		f.StringVar(&o.on, "on", "", "`host` that has the session, and the starter: it is reached as other hosts are (--remote-shell)")
	})
	f.add("Starters (mpirun, mpiexec, srun)", o.declareStarter)
	f.add("PMIx servers (--launcher pmix)", o.pmix.declare, o.declarePMIxLog)
	f.add("Servers on other hosts", o.declareNodes)
	f.add("gdb", o.job.Servers.GDB.Declare)
	return f
}

// spec returns what the flags say about the job.
func (o *runOptions) spec() job.Spec {
	s := o.options.spec()
	s.Argv, s.StdinFile = o.args, o.ranks.stdinFile
	s.NeedsMPIR, s.TriesMPIR = o.needsMPIR(), o.triesMPIR()
	s.NeedsPMIx, s.PMIxSpawn = o.needsPMIx(), o.pmix.indirect == indirectSpawn
	s.Force = o.force
	s.ChangesRanks = len(o.ranks.directives) > 0 || o.ranks.cwd != ""
	s.Servers.StarterEnv = starterEnv(o.env(), o.starterDirs...)
	return s
}

// program returns the job that the servers start.
func (o *runOptions) program() *protocol.Job {
	p := o.ranks.program(o.args)
	if len(o.apps) > 0 {
		p.Env, p.Apps = o.ranks.directives[:o.jobLevel], o.applications()
	}
	if o.job.Servers.GDB.Reverse {
		p.Env = slices.Concat(p.Env, gdb.Recordable())
	}
	return p
}

// inputRanks returns the ranks that --stdin selects.
func (o *runOptions) inputRanks() (rank.Set, error) {
	return o.ranks.inputOf(rank.Range(0, rank.ID(o.np-1)), o.job.Only != "")
}
