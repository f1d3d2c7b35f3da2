// Finds the ranks of a running job of Slurm.

package job

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/launch/slurm"
	"sdm/protocol"
)

// findBySlurm finds the ranks of a job of Slurm from any login node: sattach knows the ranks of a
// step and offers MPIR. srun starts the servers.
func (f finder) findBySlurm(ctx context.Context, text string) (servers.Placement, launch.Launcher, error) {
	step, err := slurm.ParseStep(text)
	if err != nil {
		return servers.Placement{}, nil, misused("%w", err)
	}
	step.Job, _, _ = strings.Cut(step.Job, "+") // all components have the ranks of one job
	if _, err := exec.LookPath("sattach"); err != nil {
		return servers.Placement{}, nil, fmt.Errorf("slurm:%s: no sattach in PATH (is this a machine of the cluster?)", text)
	}
	if step.HasSLUID() {
		if step.Job, _, err = f.nodesOf(ctx, step); err != nil {
			return servers.Placement{}, nil, err
		}
	}
	a := f.askAbout(ctx, step)
	if a.stepErr != nil {
		return servers.Placement{}, nil, a.stepErr
	}
	if a.nodesErr != nil {
		return servers.Placement{}, nil, a.nodesErr
	}
	if step = a.step; a.inner {
		p, err := f.askInside(ctx, step, a.id, a.nodes)
		return p, nil, err
	}
	id, nodes, why := a.id, a.nodes, a.noSattach
	if len(f.Components) > 0 {
		why = errors.New("sattach knows only a part of a heterogeneous job")
	}
	if why == nil {
		var t launch.Launcher
		var table protocol.Proctable
		if t, table, why = f.sattach(ctx, step); why == nil {
			f.UseSlurm()
			return servers.Placement{Table: table, ID: id, BySrun: true}, t, nil
		}
		endLauncher(t, f.Log)
	}
	if ctx.Err() != nil {
		return servers.Placement{}, nil, fmt.Errorf("slurm:%s: %w", step, why)
	}
	f.Remark(fmt.Sprintf("%v: the hosts of step %s are asked for its ranks", why, step))
	f.UseSlurm()
	p, err := f.askHosts(ctx, id, nodes, "--jobid", id+"."+step.Step)
	if err != nil {
		err = fmt.Errorf("slurm:%s: %w", step, err)
	}
	return p, nil, err
}

// about is what Slurm tells of a job.
type about struct {
	step      slurm.Step // the step with the ranks
	inner     bool       // mpirun has started the ranks; see slurm.Step.ChooseStep
	id        string     // of the job, in the environment of its processes
	nodes     []string   // names of the job's nodes
	noSattach error      // why sattach is not to be used; nil: it is

	stepErr, nodesErr error
}

// askAbout asks Slurm for the step, for the nodes of the job, and for the release, all at once: each
// question takes the time of a command that asks the controller.
func (f finder) askAbout(ctx context.Context, step slurm.Step) (a about) {
	var group sync.WaitGroup
	group.Go(func() { a.step, a.inner, a.stepErr = f.chooseStep(ctx, step) })
	group.Go(func() { a.noSattach = f.sattachFails(ctx) })
	a.id, a.nodes, a.nodesErr = f.nodesOf(ctx, step)
	group.Wait()
	return a
}

// sattachFails returns why sattach is not to be used; nil: it is.
func (f finder) sattachFails(ctx context.Context) error {
	version, err := f.askSlurm(ctx, []string{"sattach", "--version"})
	if err != nil {
		return fmt.Errorf("sattach: %w", err)
	}
	return slurm.Broken(version)
}

// sattachWait limits the time of sattach, which hangs if the step belongs to another release of
// Slurm. Otherwise sattach takes about a quarter of a second.
const sattachWait = 15 * time.Second

// sattachAgain is the interval at which a step that is still starting is asked again.
const sattachAgain = 300 * time.Millisecond

// sattach gets the table of a step from sattach, and asks again while some of its ranks are not
// started yet. The caller must end the launcher that it returns, also after an error.
func (f finder) sattach(ctx context.Context, step slurm.Step) (launch.Launcher, protocol.Proctable, error) {
	limit := sattachWait
	if left := f.Clock.Left(); left > 0 {
		limit = min(limit, left/2)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer in %v (is the step of another release of Slurm?)", limit.Round(time.Second/10)))
	defer cancel()
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

// findInSlurm finds ranks that mpirun has started in a job of Slurm. Slurm does not know them, but
// their environment names the job.
func (f finder) findInSlurm(ctx context.Context, step slurm.Step) (servers.Placement, error) {
	id, nodes, err := f.nodesOf(ctx, step)
	if err != nil {
		return servers.Placement{}, err
	}
	return f.askInside(ctx, step, id, nodes)
}

// askInside asks the nodes of a job for the ranks that mpirun has started in it.
func (f finder) askInside(ctx context.Context, step slurm.Step, id string, nodes []string) (servers.Placement, error) {
	f.UseSlurm()
	j, err := f.askHosts(ctx, id, nodes, "--jobid", id)
	if err != nil {
		return servers.Placement{}, fmt.Errorf("slurm:%s: srun has started no ranks in it, mpirun perhaps: %w", step, err)
	}
	return j, nil
}

// nodesOf returns the ID of a job in the environment of its processes, and its nodes. It records the
// components of a heterogeneous job for srun.
func (f finder) nodesOf(ctx context.Context, step slurm.Step) (id string, nodes []string, err error) {
	text, err := f.askSlurm(ctx, step.Nodes())
	if err != nil {
		return "", nil, fmt.Errorf("slurm:%s: %w", step, err)
	}
	id, parts, err := step.ReadNodes(text)
	if err != nil {
		return "", nil, err
	}
	f.Components = nil
	for _, part := range parts {
		if text, err = f.askSlurm(ctx, slurm.HostNames(part.Nodes)); err != nil {
			return "", nil, fmt.Errorf("slurm:%s: %w", step, err)
		}
		own := strings.Fields(text)
		if part.Group >= 0 {
			f.Components = append(f.Components, slurm.Component{Group: part.Group, Hosts: own})
		}
		nodes = append(nodes, own...)
	}
	return id, nodes, nil
}

// askSlurm returns the output of a command of Slurm.
func (f finder) askSlurm(ctx context.Context, line []string) (string, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = slurm.Environ(f.Env)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && len(exit.Stderr) > 0 {
		return "", errors.New(strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", line[0], err)
	}
	return string(out), nil
}
