// The subcommand run with a PMIx server that starts the ranks, and its flags.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/launch/pmix"
	"sdm/master/frontend/console"
)

// launcherPMIx is the value of --launcher for a PMIx server that starts the ranks.
const launcherPMIx = "pmix"

// pmixOptions are the values of the flags about PMIx servers.
type pmixOptions struct {
	server, stop, mapBy, rankBy, bindTo, hosts string
	indirect                                   string // --pmix-indirect; not one of pmixFlags
	allocNodes                                 int
	allocTime                                  time.Duration
}

// declarePMIxLog adds --pmix-log.
func (o *options) declarePMIxLog(f *pflag.FlagSet) {
	f.BoolVar(&o.job.PMIxLog, "pmix-log", false, "let the PMIx server of the job write to the log of the system (PMIx_Log): start and end of the session, and faults")
}

// pmixFlags are the names of the flags of pmixOptions.
var pmixFlags = []string{"pmix-server", "pmix-stop", "map-by", "rank-by", "bind-to", "pmix-hosts", "alloc-nodes", "alloc-time"}

// declare declares the flags.
func (o *pmixOptions) declare(f *pflag.FlagSet) {
	f.StringVar(&o.server, "pmix-server", "", "the PMIx `server` of --launcher pmix: its process id, its namespace, or its rendezvous file (default: the only one of yours here, or that of the system)")
	f.StringVar(&o.stop, "pmix-stop", string(pmix.InInit), "where ranks are held: init (in MPI_Init), app (where the program waits), or exec (their first instruction)")
	f.StringVar(&o.mapBy, "map-by", "", "`policy` by which ranks get their places: slot, node, core, ppr:N:node …, with :oversubscribe and the like")
	f.StringVar(&o.rankBy, "rank-by", "", "`policy` by which ranks are numbered: slot, node, fill, span")
	f.StringVar(&o.bindTo, "bind-to", "", "`policy` by which ranks are bound: none, core, package …")
	f.StringVar(&o.hosts, "pmix-hosts", "", "comma `list` of hosts of the server that the ranks may use")
	f.StringVar(&o.indirect, "pmix-indirect", indirectFork, "who starts a starter whose PMIx server holds the ranks: fork (sdm) or spawn (libpmix, as PMIx documents it; the starter has no standard input)")
	f.IntVar(&o.allocNodes, "alloc-nodes", 0, "`number` of nodes to allocate for the job")
	f.DurationVar(&o.allocTime, "alloc-time", 0, "time to allocate them for")
}

// Values of --pmix-indirect.
const (
	indirectFork  = "fork"
	indirectSpawn = "spawn"
)

// checkIndirect checks --pmix-indirect.
func (o *runOptions) checkIndirect() error {
	switch spawns := o.pmix.indirect == indirectSpawn; {
	case !spawns && o.pmix.indirect != indirectFork:
		return fmt.Errorf("--pmix-indirect %s: give %s or %s", o.pmix.indirect, indirectFork, indirectSpawn)
	case spawns && !o.needsPMIx():
		return fmt.Errorf("--pmix-indirect %s: it goes with --launcher %s and a starter (sdm run --launcher %s -- mpirun ...)", indirectSpawn, launcherPMIx, launcherPMIx)
	case spawns && o.job.PMIxLog:
		return fmt.Errorf("--pmix-log and --pmix-indirect %s: a starter that libpmix starts has no log of the system (--pmix-indirect %s has)", indirectSpawn, indirectFork)
	case spawns && o.ranks.stdinFile != "":
		return fmt.Errorf("--stdin-file and --pmix-indirect %s: a starter that libpmix starts has no standard input (--pmix-indirect %s has)", indirectSpawn, indirectFork)
	}
	return nil
}

// target returns which server is meant: digits are a process id, what has a slash is a file.
func (o *pmixOptions) target() (pmix.Target, error) {
	pid, err := strconv.Atoi(o.server)
	switch {
	case o.server == "":
		return pmix.Target{}, nil
	case err == nil && pid > 0:
		return pmix.Target{PID: pid}, nil
	case err == nil:
		return pmix.Target{}, fmt.Errorf("--pmix-server %s: not a process id", o.server)
	case strings.Contains(o.server, "/"):
		path, err := filepath.Abs(o.server)
		return pmix.Target{File: path}, err
	}
	return pmix.Target{Namespace: o.server}, nil
}

// directSpec returns what the flags say about the job.
func (o *runOptions) directSpec() (pmix.DirectSpec, error) {
	target, err := o.pmix.target()
	if err != nil {
		return pmix.DirectSpec{}, err
	}
	spec := pmix.DirectSpec{ServerSpec: pmix.ServerSpec{Target: target}, Stop: pmix.Stop(o.pmix.stop),
		Directives: pmix.Directives{
			MapBy: o.pmix.mapBy, RankBy: o.pmix.rankBy, BindTo: o.pmix.bindTo, Hosts: o.pmix.hosts,
			AllocNodes: o.pmix.allocNodes, AllocTime: o.pmix.allocTime,
		}}
	if !slices.Contains(pmix.Stops, spec.Stop) {
		return spec, fmt.Errorf("--pmix-stop %s: give init, app or exec", o.pmix.stop)
	}
	if err := spec.CheckWords(); err != nil {
		return spec, err
	}
	spec.Apps, err = o.pmixApps()
	return spec, err
}

// pmixApps returns the programs of the job.
func (o *runOptions) pmixApps() ([]pmix.App, error) {
	list := o.apps
	common := o.ranks.directives
	if len(list) == 0 {
		list = []application{{np: o.np, args: o.args}}
	} else {
		common = common[:o.jobLevel]
	}
	var all []pmix.App
	for _, a := range list {
		infos, err := pmix.Envars(slices.Concat(common, a.directives))
		if err != nil {
			return nil, err
		}
		app := pmix.App{Argv: slices.Clone(a.args), Procs: a.np, Info: infos}
		if app.Dir, err = directory(a.cwd, o.ranks.cwd); err != nil {
			return nil, err
		}
		all = append(all, app)
	}
	return all, nil
}

// directory returns the first directory that is given, as an absolute path; our own if none is.
func directory(choices ...string) (string, error) {
	for _, dir := range choices {
		if dir != "" {
			return filepath.Abs(dir)
		}
	}
	return os.Getwd()
}

// validatePMIx checks the options that do not fit a PMIx server.
func (o *runOptions) validatePMIx() error {
	s := &o.job.Servers
	switch {
	case len(o.args) == 0:
		return errors.New("which program? (sdm run --launcher pmix -n N PROGRAM [ARG...])")
	case o.np < 1:
		return fmt.Errorf("-n %d: the number of ranks is 1 or more", o.np)
	case len(o.launcherArgs) > 0:
		return fmt.Errorf("--launcher-arg %s: a PMIx server takes no arguments (there are --map-by, --bind-to and others)", o.launcherArgs[0])
	case o.stopAtGiven:
		return fmt.Errorf("--stop-at %s: a PMIx server holds ranks in MPI_Init, past their first line (--pmix-stop exec holds them before it, where the server can)", o.ranks.stopAt)
	case o.ranks.tty, o.ranks.stdinFile != "", o.ranks.stdin != stdinReader:
		return errors.New("--tty, --stdin and --stdin-file: the PMIx server has the streams of the ranks")
	case s.Stage != "", s.StageGDB:
		return errors.New("--stage: the PMIx server starts our servers where they are")
	}
	return o.validateStarterEnv()
}

// runPMIx executes sdm run --launcher pmix.
func (a *app) runPMIx(o *runOptions) console.Status {
	if err := o.validatePMIx(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	spec, err := o.directSpec()
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	return a.within(&o.options, func(l *lifetime, p *plan) console.Status {
		p.program = o.ranks.program(o.args)
		j, err := job.Direct(l.ctx, o.spec(), spec, a.io(p))
		return a.control(l, p, j, err)
	})
}

// refusePMIxFlags refuses, for any other job, the flags of jobs that a PMIx server starts.
func (o *runOptions) refusePMIxFlags(f *flagSet) error {
	for _, name := range pmixFlags {
		if f.isTyped(name) {
			if o.needsPMIx() {
				return fmt.Errorf("--%s: %s starts the ranks (write it into its line)", name, o.args[0])
			}
			return fmt.Errorf("--%s goes with --launcher %s", name, launcherPMIx)
		}
	}
	return nil
}
