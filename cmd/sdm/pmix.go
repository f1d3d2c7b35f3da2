// Flags about PMIx servers, and what they say about a job that one starts.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/launch/pmix"
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
