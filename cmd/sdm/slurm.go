package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/launch/slurm"
	"sdm/protocol"
)

// findBySlurm finds the ranks of a job of Slurm from any login node: sattach knows those of a step
// and offers MPIR. srun starts the servers.
func (a *app) findBySlurm(ctx context.Context, p *plan, text string) (job, launch.Launcher, error) {
	step, err := slurm.ParseStep(text)
	if err != nil {
		return job{}, nil, misuse{err}
	}
	if _, err := exec.LookPath("sattach"); err != nil {
		return job{}, nil, fmt.Errorf("slurm:%s: no sattach in PATH (is this a machine of the cluster?)", text)
	}
	step, inner, err := a.chooseStep(ctx, step)
	if err != nil {
		return job{}, nil, err
	}
	if inner {
		j, err := a.findInSlurm(ctx, p, step)
		return j, nil, err
	}
	ctx, cancel := bounded(ctx, p.o.clock.left(), "--connect-wait")
	defer cancel()
	t, table, err := a.sattach(ctx, p, step)
	if err != nil {
		return job{}, t, fmt.Errorf("slurm:%s: %w", step, err)
	}
	p.o.useSlurm()
	return job{table: table, id: step.Job}, t, nil
}

// sattachAgain is the interval at which a step that is still starting is asked again.
const sattachAgain = 300 * time.Millisecond

// sattach gets the table of a step from sattach, and asks again while some of its ranks are not
// started yet. The caller must end the launcher that it returns, also after an error.
func (a *app) sattach(ctx context.Context, p *plan, step slurm.Step) (launch.Launcher, protocol.Proctable, error) {
	for {
		t := mpir.New(mpir.Spec{Argv: step.Attach(), Env: p.o.starterEnv(), Stderr: a.stderr})
		table, err := t.Acquire(ctx, a.remark)
		if !errors.Is(err, protocol.ErrNotStarted) {
			return t, table, err
		}
		select {
		case <-time.After(sattachAgain):
			t.End(ctx)
		case <-ctx.Done():
			return t, nil, err
		}
	}
}

// useSlurm lets srun start the servers, unless the user has chosen another way.
func (o *options) useSlurm() {
	if o.startTool == "" && o.remoteShell == "" {
		o.startTool = slurm.Tool
	}
}

// ownTool uses the start tool that comes with a starter, if there is one: srun.
func (o *options) ownTool(starter int) {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", starter)); err == nil && starterName(exe) == "srun" {
		o.useSlurm()
	}
}

// chooseStep asks Slurm for the steps of a job and selects one.
func (a *app) chooseStep(ctx context.Context, step slurm.Step) (slurm.Step, bool, error) {
	listed, err := a.askSlurm(ctx, step.ListSteps())
	if err != nil {
		return step, false, fmt.Errorf("slurm:%s: %w", step, err)
	}
	return step.ChooseStep(listed)
}

// findInSlurm finds ranks that mpirun has started in a job. Slurm does not know them, but their
// environment names the job.
func (a *app) findInSlurm(ctx context.Context, p *plan, step slurm.Step) (job, error) {
	id, nodes, err := a.nodesOf(ctx, step)
	if err != nil {
		return job{}, err
	}
	p.o.useSlurm()
	j, err := a.askHosts(ctx, p, id, nodes, "--jobid", id)
	if err != nil {
		return job{}, fmt.Errorf("slurm:%s: srun has started no ranks in it, mpirun perhaps: %w", step, err)
	}
	return j, nil
}

// nodesOf returns the ID of a job in the environment of its processes, and its nodes.
func (a *app) nodesOf(ctx context.Context, step slurm.Step) (id string, nodes []string, err error) {
	text, err := a.askSlurm(ctx, step.Nodes())
	if err != nil {
		return "", nil, fmt.Errorf("slurm:%s: %w", step, err)
	}
	id, list, err := step.ReadNodes(text)
	if err != nil {
		return "", nil, err
	}
	if text, err = a.askSlurm(ctx, slurm.HostNames(list)); err != nil {
		return "", nil, fmt.Errorf("slurm:%s: %w", step, err)
	}
	return id, strings.Fields(text), nil
}

// askSlurm returns the output of a command of Slurm.
func (a *app) askSlurm(ctx context.Context, line []string) (string, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = a.env
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && len(exit.Stderr) > 0 {
		return "", errors.New(strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", line[0], err)
	}
	return string(out), nil
}
