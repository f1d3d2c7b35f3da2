// Attaches to jobs of PMIx servers.

package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/pmix"
	"sdm/protocol"
)

// daemonStarter is a launcher whose PMIx server starts a process on each node of the job.
type daemonStarter interface {
	StartDaemons(ctx context.Context, argv []string, input []byte, hosts []string) error
	Server() pmix.Found
}

// hostsIn returns the hosts of a job.
func hostsIn(table protocol.Proctable) (hosts []string) {
	for _, n := range table.Nodes() {
		hosts = append(hosts, n.Host)
	}
	return hosts
}

// spawnServers lets the PMIx server of a running job start the servers on its nodes. If it cannot,
// or if none of them registers, they are started as for any other job of the starter.
func spawnServers(ctx context.Context, b *servers.Builder, p servers.Placement, by daemonStarter) servers.Placement {
	r, err := b.OpenPushed()
	if err != nil {
		p.Refused = err
		return p
	}
	argv, input, err := r.DetachedLine()
	if err == nil {
		err = by.StartDaemons(ctx, argv, input, hostsIn(p.Whole))
	}
	if err != nil {
		r.Discard()
		p.Refused = fmt.Errorf("the PMIx server does not start our servers: %w", err)
		b.Log.Info("no servers by PMIx", "why", err)
		return p
	}
	p.Coming = r
	p.Instead = func(p *servers.Placement) {
		if j, found := launch.FamilyOf(by.Server().PID).PRRTE(); found && j.Slurm != "" {
			b.UseSlurm()
			p.ID = j.Slurm
		} else if found {
			b.UseShell(strings.Fields(j.Shell))
		}
	}
	return p
}

// findByPMIx finds the ranks of a job by its PMIx server. name is the namespace of the job, the
// process id of its starter, of its server or of a rank, or a file with the address of the server.
func (f finder) findByPMIx(ctx context.Context, name string) (servers.Placement, launch.Launcher, error) {
	var spec pmix.AttachSpec
	pid, err := strconv.Atoi(name)
	switch {
	case name == "" || err == nil && pid <= 0:
		return servers.Placement{}, nil, misused("pmix:%s names no job (pmix:NAMESPACE, pmix:PID of the starter, of the server or of a rank, or pmix:FILE with the address of the server)", name)
	case err == nil:
		spec = f.pmixProcess(pid)
	case strings.Contains(name, "/"):
		if spec.Target.File, err = filepath.Abs(name); err != nil {
			return servers.Placement{}, nil, misused("%w", err)
		}
	default:
		spec.Namespace = name
	}
	return f.askPMIx(ctx, spec)
}

// pmixProcess returns the job of a process. For a rank this is its own job, for a starter or a
// parent of one the starter's, and for a PMIx server its only job.
func (f finder) pmixProcess(pid int) (spec pmix.AttachSpec) {
	env, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ")) // unreadable: it is no rank of ours
	of := servers.Spec{Env: strings.Split(string(env), "\x00")}
	if name := of.Lookup("PMIX_NAMESPACE"); name != "" && of.Lookup("PMIX_RANK") != "" {
		spec.Namespace = name
		return spec
	}
	spec.Target.PID = pid
	if prrte, found := launch.FamilyOf(pid).PRRTE(); found {
		spec.Target.PID = prrte.PID
	}
	return spec
}

// askPMIx asks the PMIx server of a job for its ranks.
func (f finder) askPMIx(ctx context.Context, spec pmix.AttachSpec) (servers.Placement, launch.Launcher, error) {
	program, err := pmix.FindProgram()
	if err != nil {
		return servers.Placement{}, nil, fmt.Errorf("PMIx: %w", err)
	}
	spec.ServerSpec = f.pmixServer(program, spec.Target)
	holder := pmix.NewAttach(spec)
	inTime, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	table, err := holder.Acquire(inTime, f.Remark)
	cancel()
	if err != nil {
		endLauncher(holder, f.Log)
		return servers.Placement{}, nil, err
	}
	return servers.Placement{Table: table, ID: holder.Job()}, holder, nil
}

// pmixServer returns how the PMIx server of a running job is used. The output of the ranks is not
// shown, because it goes to the starter's streams.
func (f finder) pmixServer(program string, target pmix.Target) pmix.ServerSpec {
	return pmix.ServerSpec{
		Program: program, Target: target, Env: f.StarterEnv, Log: f.job.PMIxLog, Force: f.job.Force, Notice: f.io.notice,
	}
}

// askPRRTE finds the ranks of a prterun by its PMIx server, and tells the user. After an error,
// which it tells the user too, the caller finds the ranks by their environment.
func (f finder) askPRRTE(ctx context.Context, j launch.PRRTE) (servers.Placement, launch.Launcher, error) {
	p, holder, err := f.askPMIx(ctx, pmix.AttachSpec{ServerSpec: pmix.ServerSpec{Target: pmix.Target{PID: j.PID}}})
	if err == nil {
		f.Remark(fmt.Sprintf("process %d (prterun) has no MPIR; %d ranks were found by PMIx", j.PID, len(p.Table)))
		return p, holder, nil
	}
	if !errors.Is(err, pmix.ErrNoProgram) {
		f.Remark(fmt.Sprintf("process %d (prterun) is not asked by PMIx: %v", j.PID, err))
	}
	return p, nil, err
}
