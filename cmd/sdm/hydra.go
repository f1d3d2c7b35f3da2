// Jobs with ranks on other hosts whose starter cannot be asked for them: those of MPICH's mpiexec,
// and of an mpirun of which only the Slurm job is known. The hosts are asked instead.

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sdm/launch"
	"sdm/launch/local"
	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/protocol"
)

// findHydra finds the ranks of a job whose proxies are on other hosts. id is the job's ID for
// --start-tool; hosts are those of the proxies if one srun has started them.
func (a *app) findHydra(ctx context.Context, p *plan, h launch.Hydra, id string, hosts []string) (job, error) {
	p.o.likeStarter(h)
	for _, one := range h.Proxies {
		hosts = append(hosts, cmp.Or(one.Host, hostName()))
	}
	return a.askHosts(ctx, p, id, hosts, "--hydra", h.Control)
}

// askHosts runs sdm-server --list on each host to find the ranks of a job.
func (a *app) askHosts(ctx context.Context, p *plan, id string, hosts []string, which ...string) (job, error) {
	server, err := local.FindServer("")
	if err != nil {
		return job{}, err
	}
	look := append([]string{server, "--list"}, which...)
	spec := ssh.Spec{Shell: strings.Fields(p.o.remoteShell)}
	if p.o.startTool != "" {
		line := toolLine(p.o.startTool, id, hosts, look)
		spec.Commands = []ssh.Command{{Host: "--start-tool", Argv: []string{"/bin/sh", "-c", line}, Local: true}}
	} else {
		for _, host := range hosts {
			spec.Commands = append(spec.Commands, ssh.Command{Host: host, Argv: append(slices.Clone(look), "--host", host), Local: isHere(host)})
		}
	}
	ctx, cancel := bounded(ctx, p.o.clock.servers(), "--connect-wait")
	defer cancel()
	table, err := a.heardFrom(ssh.Ask(ctx, spec))
	return job{table: table, id: id}, err
}

// heardFrom makes a table of the hosts' answers. Missing ranks are left out with a message; without
// any rank it returns an error.
func (a *app) heardFrom(answers []ssh.Answer) (protocol.Proctable, error) {
	var all []launch.Found
	var troubles []string
	hint := ""
	for _, one := range answers {
		found, err := launch.ReadFound(bytes.NewReader(one.Out))
		if err == nil {
			err = one.Err
		}
		if err != nil {
			hint = " (" + shellHint + ")"
			troubles = append(troubles, err.Error())
		}
		all = append(all, found...)
	}
	for _, f := range all {
		if f.Error != "" {
			troubles = append(troubles, f.Error)
		}
	}
	table, missing, err := launch.Joined(all)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the ranks that the hosts have named: %w", err)
	case len(table) == 0:
		return nil, fmt.Errorf("no ranks were found on the hosts of the job: %s%s", strings.Join(troubles, "; "), hint)
	case !missing.IsEmpty():
		a.remark(fmt.Sprintf("without %s, not found: %s", rankWord(missing), cmp.Or(strings.Join(troubles, "; "), "have they ended?")))
	}
	return table, nil
}

// behindHelpers finds the ranks of a job whose table, made by srun, contains helper processes of
// another starter in place of the ranks.
func (a *app) behindHelpers(ctx context.Context, p *plan, table protocol.Proctable, hydra *launch.Hydra, id string) (job, error) {
	if hydra == nil {
		return a.findInSlurm(ctx, p, slurm.Step{Job: id})
	}
	var hosts []string
	for _, n := range table.Nodes() {
		hosts = append(hosts, n.Host)
	}
	return a.findHydra(ctx, p, *hydra, id, hosts)
}

// likeStarter reaches the hosts as mpiexec has, by its remote shell or by srun, unless the user has
// chosen a way.
func (o *options) likeStarter(h launch.Hydra) {
	if h.Srun > 0 {
		o.useSlurm()
	}
	for _, one := range h.Proxies {
		o.reachBy(one.Shell)
	}
}

// reachBy uses the remote shell of a starter, unless a way to the hosts is chosen already. For ssh
// sdm's own options are used, which suppress all prompts.
func (o *options) reachBy(shell []string) {
	split := slices.ContainsFunc(shell, func(w string) bool { return strings.ContainsAny(w, " \t\n") })
	if o.startTool == "" && o.remoteShell == "" && len(shell) > 0 && !split && filepath.Base(shell[0]) != "ssh" {
		o.remoteShell = strings.Join(shell, " ")
	}
}
