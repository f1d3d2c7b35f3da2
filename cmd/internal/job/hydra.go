// Jobs with ranks on other hosts whose starter cannot be asked for them: jobs of MPICH's mpiexec,
// and of an mpirun of which only the Slurm job is known. The hosts are asked instead.

package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/local"
	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/protocol"
)

// findHydra finds the ranks of a job whose proxies are on other hosts. id is the job's ID for
// --start-tool; hosts are the hosts of the proxies if one srun has started them.
func (f finder) findHydra(ctx context.Context, h launch.Hydra, id string, hosts []string) (servers.Placement, error) {
	likeStarter(&f.Way, h)
	for _, one := range h.Proxies {
		hosts = append(hosts, cmp.Or(one.Host, servers.HostName()))
	}
	return f.askHosts(ctx, id, hosts, "--hydra", h.Control)
}

// askHosts finds the ranks of a job on its hosts. which is an option of sdm-server --list and its
// value, which names the job on the hosts.
func (f finder) askHosts(ctx context.Context, id string, hosts []string, which ...string) (servers.Placement, error) {
	answers, err := f.list(ctx, id, hosts, which...)
	if err != nil {
		return servers.Placement{}, err
	}
	table, err := f.fromAnswers(which[1], answers)
	return servers.Placement{Table: table, ID: id}, err
}

// list runs sdm-server --list on each host, with the option which.
func (f finder) list(ctx context.Context, id string, hosts []string, which ...string) ([]ssh.Answer, error) {
	server, err := local.FindServer("")
	if err != nil {
		return nil, err
	}
	look := append([]string{server, "--list"}, which...)
	if f.RankFrom != "" {
		look = append(look, "--rank-from", f.RankFrom)
	}
	ctx, cancel := servers.Bounded(ctx, f.Clock.ForServers(), "--connect-wait")
	defer cancel()
	answers := f.ask(ctx, id, hosts, look)
	for slices.ContainsFunc(answers, lacksNetwork) {
		said := f.LeaveNetwork()
		if said == "" {
			break
		}
		f.Remark(said)
		answers = f.ask(ctx, id, hosts, look)
	}
	return answers, nil
}

// lacksNetwork reports whether srun has failed because it has no interconnect left.
func lacksNetwork(a ssh.Answer) bool { return a.Err != nil && slurm.LacksNetwork(a.Err.Error()) }

// ask runs a command on each host.
func (f finder) ask(ctx context.Context, id string, hosts, look []string) []ssh.Answer {
	spec := ssh.Spec{Shell: f.Shell()}
	if f.StartTool != "" {
		command, env := f.OnHosts(id, hosts, look)
		spec.Commands, spec.Env = []ssh.Command{command}, env
	} else {
		for _, host := range hosts {
			spec.Commands = append(spec.Commands, ssh.Command{Host: host, Argv: append(slices.Clone(look), "--host", host),
				Local: servers.IsHere(host)})
		}
	}
	return ssh.Ask(ctx, spec)
}

// fromAnswers makes a table of the hosts' answers about the named job. It leaves out missing ranks
// with a message to the user. It returns an error if no rank was found.
func (f finder) fromAnswers(name string, answers []ssh.Answer) (protocol.Proctable, error) {
	var all []launch.Found
	var troubles []string
	hint := ""
	for _, one := range answers {
		found, err := launch.ReadFound(bytes.NewReader(one.Out))
		if err == nil {
			err = one.Err
		}
		if err != nil {
			hint = " (" + servers.ShellHint + ")"
			troubles = append(troubles, err.Error())
		}
		all = append(all, found...)
	}
	for _, one := range all {
		if one.Error != "" {
			troubles = append(troubles, one.Error)
		}
	}
	table, missing, err := launch.Joined(name, all)
	var several *launch.SeveralJobs
	switch {
	case errors.As(err, &several):
		return nil, several
	case err != nil:
		return nil, fmt.Errorf("the ranks that the hosts have named: %w", err)
	case len(table) == 0:
		return nil, fmt.Errorf("no ranks were found on the hosts of the job: %s%s", strings.Join(troubles, "; "), hint)
	case !missing.IsEmpty():
		f.Remark(fmt.Sprintf("without %s, not found: %s", servers.Named(missing), cmp.Or(strings.Join(troubles, "; "), f.elsewhere(name))))
	}
	return table, nil
}

// ranksOfHelpers finds the ranks of a job whose table, made by srun, contains helper processes of
// another starter in place of the ranks: the proxies of mpiexec or the daemons of mpirun.
func (f finder) ranksOfHelpers(ctx context.Context, table protocol.Proctable, hydra *launch.Hydra,
	id string) (servers.Placement, error) {
	if hydra == nil {
		return f.findInSlurm(ctx, slurm.Step{Job: id})
	}
	var hosts []string
	for _, n := range table.Nodes() {
		hosts = append(hosts, n.Host)
	}
	return f.findHydra(ctx, *hydra, id, hosts)
}

// likeStarter selects the way to the hosts that mpiexec has used, its remote shell or srun, unless
// the user has chosen one.
func likeStarter(way *servers.Way, h launch.Hydra) {
	if h.Srun > 0 {
		way.UseSlurm()
	}
	for _, one := range h.Proxies {
		way.UseShell(one.Shell)
	}
}
