// The subcommand run: starts a program or a starter.

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"sdm/backend/gdb"
	"sdm/cmd/internal/job"
	"sdm/launch"
	"sdm/master/frontend/console"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/topology"
)

// runOptions are the values of the flags of sdm run.
type runOptions struct {
	options
	np       int
	npTyped  bool          // -n is on the command line
	npGiven  bool          // -n is there, or in the environment
	force    bool          // --force
	jobLevel int           // number of directives before -n, which hold for all programs
	apps     []application // programs of the job; nil: a single one

	starter      string                  // name of a further starter
	starterDirs  []protocol.EnvDirective // --starter-env flags, in the order given
	launcher     string                  // see launcherAuto
	launcherArgs []string
	composed     bool // sdm has put the starter before the program
	stopAtGiven  bool // --stop-at is given, on the command line or in the environment
	pmix         pmixOptions
}

// maxUsed are the flags that help about sdm run shows first.
var maxUsed = []string{"np", "execute", "eval", "batch", "stop-at", "env", "cwd", "stdin-file", "launcher", "gdb"}

func newRunOptions(env []string) *runOptions {
	o := &runOptions{options: newOptions(env), np: 1}
	o.sharable = true
	return o
}

// flags returns the flags of sdm run.
func (o *runOptions) flags() *flagSet {
	f := newFlags("run")
	f.first = maxUsed
	f.add("Ranks on this machine", func(f *pflag.FlagSet) {
		f.VarP(npValue{o}, "np", "n", "`number` of ranks")
		f.BoolVar(&o.force, "force", false, "start more than 1000 ranks on this machine, or connect to a PMIx server that is known to end when a tool connects")
	}, o.perServer("ranks of one server"))
	o.declare(f)
	f.add("Leaving and coming back", o.declareKeep)
	f.add("Starters (mpirun, mpiexec, srun)", o.declareStarter)
	f.add("PMIx servers (--launcher pmix)", o.pmix.declare, o.declarePMIxLog)
	f.add("Servers on other hosts", o.declareNodes)
	f.add("gdb", o.job.Servers.GDB.Declare)
	return f
}

// read sets the options that are not flags from what was parsed.
func (o *runOptions) read(f *flagSet) {
	o.job.Front, o.args = job.SplitFront(f.Args(), o.startsStarter, job.IsProgram)
	o.npTyped, o.npGiven, o.stopAtGiven = f.isTyped("np"), f.Changed("np"), f.Changed("stop-at")
}

// runJob executes sdm run: it starts the ranks of a program on this machine, or a starter, and runs
// the console.
func (a *app) runJob(args []string) console.Status {
	o := newRunOptions(a.env)
	f := o.flags()
	if status, done := a.read(f, args, runHelp); done {
		return status
	}
	o.read(f)
	if err := o.checkIndirect(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if o.launcher != launcherPMIx || o.isStarter() {
		if err := o.refusePMIxFlags(f); err != nil {
			return a.fail(console.StatusUsage, err)
		}
	}
	if o.isStarter() {
		return a.runStarter(o)
	}
	if err := o.readApps(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if o.launcher == launcherPMIx {
		return a.runPMIx(o)
	}
	if err := o.validateRun(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if err := o.chooseStarter(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if o.composed {
		return a.runStarter(o)
	}
	if err := o.refuseOthers(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if err := o.checkPrograms(); err != nil {
		return a.fail(console.StatusNotStarted, err)
	}
	return a.within(&o.options, func(l *lifetime, p *plan) console.Status {
		a.hintMPI(o)
		p.program = o.program()
		s := o.spec()
		s.Ranks = rank.Range(0, rank.ID(o.np-1))
		j, err := job.Run(l.ctx, s, a.io(p))
		return a.control(l, p, j, err)
	})
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

// manyRanks is the number of ranks on one machine above which --force is required, because the
// number is probably a typing error. Their gdbs would need 20 GB.
const manyRanks = 1000

// validateRun checks the options of sdm run.
func (o *runOptions) validateRun() error {
	s := &o.job.Servers
	switch {
	case len(o.args) == 0:
		return errors.New("which program? (sdm run [flags] PROGRAM [ARG...])")
	case o.np < 1 || o.np > int(rank.MaxID):
		return fmt.Errorf("-n %d: the number of ranks is 1 to %d", o.np, rank.MaxID)
	case o.np > manyRanks && !o.force && o.lookup("SDM_BACKEND") == "":
		return fmt.Errorf("-n %d: on one machine? each rank has a gdb of some 20 MB (--force if you mean it; sdm sim -n %d tries it without processes)", o.np, o.np)
	case s.PerServer < 0:
		return errors.New("--ranks-per-server cannot be negative")
	}
	if _, err := o.inputRanks(); err != nil {
		return err
	}
	if _, err := topology.ParseShape(s.Shape(), s.Count(o.np)); err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	return o.validateStarterEnv()
}

// validateStarterEnv checks the options, and the --starter-env flags.
func (o *runOptions) validateStarterEnv() error {
	if _, err := launch.Environ(nil, o.starterDirs); err != nil {
		return err
	}
	return o.validate()
}

// inputRanks returns the ranks that --stdin selects.
func (o *runOptions) inputRanks() (rank.Set, error) {
	return o.ranks.inputOf(rank.Range(0, rank.ID(o.np-1)), o.job.Only != "")
}

// foreignStarters are known starters whose jobs sdm cannot control.
var foreignStarters = []string{"mpirun_rsh", "horovodrun"}

// refuseOthers refuses the lines of starters that sdm does not support.
func (o *runOptions) refuseOthers() error {
	name := job.StarterName(o.args[0])
	if slices.Contains(foreignStarters, name) {
		return fmt.Errorf("sdm does not know how to take control of a job of %s (let it start the servers: %s; if it offers MPIR: --starter %s)", name, underStarter(name), name)
	}
	return nil
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
