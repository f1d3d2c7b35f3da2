package job

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"sdm/launch"
	"sdm/launch/pmix"
	"sdm/launch/slot"
)

// byPMIx takes control of a starter's job by its PMIx server. If that is impossible and not
// required, chosen is false, and nothing was started.
func (t *start) byPMIx(ctx context.Context, line slot.Line) (j *Job, chosen bool, err error) {
	spec, why := t.pmixSpec(ctx, line)
	if why != nil {
		if t.NeedsPMIx {
			return nil, true, notStarted("--launcher pmix: %w", why)
		}
		t.Log.Info("no PMIx for this starter", "why", why)
		return nil, false, nil
	}
	if !t.NeedsPMIx {
		t.Remark(fmt.Sprintf("%s (%s) has no MPIR: PMIx holds the ranks in MPI_Init (--launcher slot holds them before main)", StarterName(t.Argv[0]), spec.Dialect))
	}
	h := &mpirJob{start: t}
	held := pmix.NewIndirect(spec)
	j, err = h.hold(ctx, func() error {
		streams := h.spec()
		held.SetStreams(streams.Stdin, streams.Stdout, streams.Stderr)
		h.launch = held
		return nil
	})
	var known *Error
	switch {
	case err == nil || errors.As(err, &known):
		return j, true, err
	case t.notMPI(line) != "":
		return nil, true, notStarted("%w (ranks that do not call MPI_Init are not held: --launcher slot has them start under control)", err)
	}
	return nil, true, notStarted("%w", err)
}

// pmixSpec returns how the starter of a line is held by PMIx, or why it is not.
func (t *start) pmixSpec(ctx context.Context, line slot.Line) (spec pmix.IndirectSpec, why error) {
	dialect, found := pmix.DialectOf(ctx, t.Argv[0], t.Servers.StarterEnv)
	if !found {
		return spec, fmt.Errorf("%s is no starter with a PMIx server (Open MPI's mpirun from release 5 on, or prterun)", t.Argv[0])
	}
	program, err := pmix.FindProgram()
	if err != nil {
		return spec, err
	}
	if name := t.notMPI(line); name != "" && !t.NeedsPMIx {
		return spec, fmt.Errorf("%s is not linked with MPI, and may not call MPI_Init", name)
	}
	return pmix.IndirectSpec{
		ServerSpec:  pmix.ServerSpec{Program: program, Env: t.Servers.StarterEnv, Force: t.Force, Log: t.PMIxLog, Notice: t.notice},
		StarterSpec: pmix.StarterSpec{Argv: t.Argv, Env: t.Servers.StarterEnv},
		Dialect:     dialect,
	}, nil
}

// notMPI returns the first program of a line that is not linked with MPI; "": all are.
func (t *start) notMPI(line slot.Line) string {
	for _, p := range line.Programs {
		if name := t.Argv[p.At]; !callsMPI(name) {
			return name
		}
	}
	return ""
}

// callsMPI reports whether a program is linked with MPI.
func callsMPI(name string) bool {
	if path, err := exec.LookPath(name); err == nil {
		name = path
	}
	real, err := filepath.EvalSymlinks(name)
	return err == nil && launch.LinksMPI(real)
}
