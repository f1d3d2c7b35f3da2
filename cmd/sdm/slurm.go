package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/launch/slurm"
)

// findBySlurm finds the ranks of a step of Slurm, from any login node: sattach
// knows them and offers MPIR. Servers are started beside them by srun.
func (a *app) findBySlurm(ctx context.Context, p *plan, text string) (job, launch.Launcher, error) {
	step, err := slurm.ParseStep(text)
	if err != nil {
		return job{}, nil, err
	}
	if _, err := exec.LookPath("sattach"); err != nil {
		return job{}, nil, fmt.Errorf("slurm:%s: no sattach in PATH (is this a machine of the cluster?)", text)
	}
	if step.Step == "" {
		if step, err = a.chooseStep(ctx, step); err != nil {
			return job{}, nil, err
		}
	}
	t := mpir.New(mpir.Spec{Argv: step.Attach(), Env: p.o.starterEnv(), Stderr: a.stderr})
	table, err := t.Acquire(ctx, a.remark)
	if err != nil {
		return job{}, t, fmt.Errorf("slurm:%s: %w", step, err)
	}
	p.o.useSlurm()
	return job{table: table, id: step.Job}, t, nil
}

// useSlurm has srun start the servers, unless the person has said who shall.
func (o *options) useSlurm() {
	if o.startTool == "" && o.remoteShell == "" {
		o.startTool = slurm.Tool
	}
}

// ownTool takes the start tool that comes with a starter: srun.
func (o *options) ownTool(starter int) {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", starter)); err == nil && starterName(exe) == "srun" {
		o.useSlurm()
	}
}

// chooseStep asks Slurm which steps a job has.
func (a *app) chooseStep(ctx context.Context, step slurm.Step) (slurm.Step, error) {
	line := step.ListSteps()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = a.env
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && len(exit.Stderr) > 0 {
		return step, fmt.Errorf("slurm:%s: %s", step, strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return step, fmt.Errorf("slurm:%s: %s: %w", step, line[0], err)
	}
	return step.ChooseStep(string(out))
}
