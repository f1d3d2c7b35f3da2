// Jobs of prterun, which is mpirun of Open MPI from release 5 on, with ranks on several hosts. It
// does not offer MPIR, so the hosts are asked for the ranks of its namespace.

package job

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/slurm"
)

// findPRRTE finds the ranks of such a job: on all nodes of its allocation if srun has started the
// daemons, else by the starter's remote shell on the hosts to which it is connected.
func (f finder) findPRRTE(ctx context.Context, j launch.PRRTE) (servers.Placement, error) {
	if table, of, err := f.ranks().RanksOfJob(j.Namespace, servers.HostName()); err == nil && len(table) == of.Size {
		return servers.Placement{Table: table, ID: strconv.Itoa(j.PID)}, nil // all ranks are here, whatever the peers are
	}
	if j.Slurm != "" {
		id, nodes, err := f.nodesOf(ctx, slurm.Step{Job: j.Slurm})
		if err != nil {
			return servers.Placement{}, fmt.Errorf("process %d is mpirun in a job of Slurm: %w", j.PID, err)
		}
		f.UseSlurm()
		return f.askHosts(ctx, id, nodes, "--jobid", j.Namespace)
	}
	f.UseShell(strings.Fields(j.Shell))
	return f.askHosts(ctx, strconv.Itoa(j.PID), append(hostsOf(ctx, j), servers.HostName()), "--jobid", j.Namespace)
}

// lookupWait limits the time of name servers for all hosts of a job.
const lookupWait = 5 * time.Second

// hostsOf returns the hosts to which a job is connected. Names of the job's command line are
// preferred, because a remote shell may know no others; then names of the name service; then
// addresses. If the job has so many connections that further daemons may be connected to its
// daemons, all hosts of its command line are added.
func hostsOf(ctx context.Context, j launch.PRRTE) (hosts []string) {
	ctx, cancel := context.WithTimeout(ctx, lookupWait)
	defer cancel()
	left := slices.Clone(j.Peers)
	for _, name := range j.Named {
		addrs, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		known := slices.ContainsFunc(addrs, func(a netip.Addr) bool { return slices.Contains(left, a.Unmap()) })
		left = slices.DeleteFunc(left, func(peer netip.Addr) bool {
			return slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a.Unmap() == peer })
		})
		if known || len(j.Peers) >= launch.PRRTERadix && !servers.IsHere(name) {
			hosts = append(hosts, name)
		}
	}
	for _, peer := range left {
		name := peer.String()
		if names, err := net.DefaultResolver.LookupAddr(ctx, name); err == nil && len(names) > 0 {
			name = strings.TrimSuffix(names[0], ".")
		}
		hosts = append(hosts, name)
	}
	return hosts
}
