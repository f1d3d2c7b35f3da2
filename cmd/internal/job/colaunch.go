// Starts servers on the nodes of a job by the job's own starter.

package job

import (
	"context"
	"slices"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/mpir"
)

// hostWords and hostVars are the options and environment variables that name further hosts for a
// starter's job. From them sdm guesses the best way to start the servers. If the guess is wrong,
// another way is tried.
var (
	hostWords = []string{"-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "-default-hostfile", "--default-hostfile"}
	hostVars  = []string{"PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile", "SLURM_JOB_NODELIST"}
)

// spansHosts reports whether the starter should start the servers itself, one on each node, by the
// Tool Daemon Launch Extension of MPIR. On other hosts this needs nothing that the job does not
// need. Explicit options of the user take precedence.
func (s *Spec) spansHosts() bool {
	if s.Servers.IsChosen() || s.Only != "" {
		return false
	}
	for _, word := range s.Argv {
		name, _, _ := strings.Cut(word, "=")
		if slices.Contains(hostWords, name) {
			return true
		}
	}
	return slices.ContainsFunc(hostVars, func(name string) bool { return s.Servers.Lookup(name) != "" })
}

// coAttach lets the starter of a running job start the servers on its nodes, if the starter can and
// the user has not chosen another way.
func coAttach(ctx context.Context, b *servers.Builder, p servers.Placement, holder launch.Launcher) servers.Placement {
	nodes := p.Whole.Nodes()
	if b.IsChosen() || isHere(p.Whole) {
		return p
	}
	if server, ok := holder.(daemonStarter); ok {
		return spawnServers(ctx, b, p, server)
	}
	starter, ok := holder.(*mpir.Attach)
	if !ok {
		return p
	}
	if len(nodes) > len(p.Table.Nodes()) { // the starter would start servers on all
		return besideInSlurm(&b.Way, p, starter.StarterPID())
	}
	r, err := b.Open(true)
	if err == nil {
		if err = r.Offer(starter.CoLaunch); err == nil {
			p.Coming = r
			return p
		}
		r.Discard()
	}
	b.Log.Info("the starter does not start our servers", "why", err)
	p.Refused = err
	return besideInSlurm(&b.Way, p, starter.StarterPID())
}

// besideInSlurm lets srun start the servers if the starter runs in a job of Slurm, whose nodes may
// refuse ssh.
func besideInSlurm(way *servers.Way, p servers.Placement, starter int) servers.Placement {
	if id := launch.SlurmJobOf(starter); id != "" {
		way.UseSlurm()
		p.ID = id
	}
	return p
}
