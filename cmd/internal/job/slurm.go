package job

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/launch/slurm"
	"sdm/protocol"
)

// findBySlurm finds the ranks of a job of Slurm from any login node: sattach knows those of a step
// and offers MPIR. srun starts the servers.
func (f finder) findBySlurm(ctx context.Context, text string) (servers.Placement, launch.Launcher, error) {
	step, err := slurm.ParseStep(text)
	if err != nil {
		return servers.Placement{}, nil, misused("%w", err)
	}
	if _, err := exec.LookPath("sattach"); err != nil {
		return servers.Placement{}, nil, fmt.Errorf("slurm:%s: no sattach in PATH (is this a machine of the cluster?)", text)
	}
	step, inner, err := f.chooseStep(ctx, step)
	if err != nil {
		return servers.Placement{}, nil, err
	}
	if inner {
		j, err := f.findInSlurm(ctx, step)
		return j, nil, err
	}
	ctx, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	defer cancel()
	t, table, err := f.sattach(ctx, step)
	if err != nil {
		return servers.Placement{}, t, fmt.Errorf("slurm:%s: %w", step, err)
	}
	f.UseSlurm()
	return servers.Placement{Table: table, ID: step.Job}, t, nil
}

// sattachAgain is the interval at which a step that is still starting is asked again.
const sattachAgain = 300 * time.Millisecond

// sattach gets the table of a step from sattach, and asks again while some of its ranks are not
// started yet. The caller must end the launcher that it returns, also after an error.
func (f finder) sattach(ctx context.Context, step slurm.Step) (launch.Launcher, protocol.Proctable, error) {
	for {
		t := mpir.New(mpir.Spec{Argv: step.Attach(), Env: f.StarterEnv, Stderr: f.Stderr})
		table, err := t.Acquire(ctx, f.Remark)
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

// chooseStep asks Slurm for the steps of a job and selects one.
func (f finder) chooseStep(ctx context.Context, step slurm.Step) (slurm.Step, bool, error) {
	listed, err := f.askSlurm(ctx, step.ListSteps())
	if err != nil {
		return step, false, fmt.Errorf("slurm:%s: %w", step, err)
	}
	return step.ChooseStep(listed)
}

// findInSlurm finds ranks that mpirun has started in a job. Slurm does not know them, but their
// environment names the job.
func (f finder) findInSlurm(ctx context.Context, step slurm.Step) (servers.Placement, error) {
	id, nodes, err := f.nodesOf(ctx, step)
	if err != nil {
		return servers.Placement{}, err
	}
	f.UseSlurm()
	j, err := f.askHosts(ctx, id, nodes, "--jobid", id)
	if err != nil {
		return servers.Placement{}, fmt.Errorf("slurm:%s: srun has started no ranks in it, mpirun perhaps: %w", step, err)
	}
	return j, nil
}

// nodesOf returns the ID of a job in the environment of its processes, and its nodes.
func (f finder) nodesOf(ctx context.Context, step slurm.Step) (id string, nodes []string, err error) {
	text, err := f.askSlurm(ctx, step.Nodes())
	if err != nil {
		return "", nil, fmt.Errorf("slurm:%s: %w", step, err)
	}
	id, list, err := step.ReadNodes(text)
	if err != nil {
		return "", nil, err
	}
	if text, err = f.askSlurm(ctx, slurm.HostNames(list)); err != nil {
		return "", nil, fmt.Errorf("slurm:%s: %w", step, err)
	}
	return id, strings.Fields(text), nil
}

// askSlurm returns the output of a command of Slurm.
func (f finder) askSlurm(ctx context.Context, line []string) (string, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = f.Env
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && len(exit.Stderr) > 0 {
		return "", errors.New(strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", line[0], err)
	}
	return string(out), nil
}
