// Chooses whether a starter's ranks are held by its PMIx server.

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

// byPMIx takes control of a starter's job by its PMIx server.
func (t *start) byPMIx(ctx context.Context, line slot.Line) (*Job, error) {
	spec, err := t.pmixSpec(ctx)
	if err != nil {
		return nil, notStarted("--launcher pmix: %w", err)
	}
	h := &mpirJob{start: t}
	held := pmix.NewIndirect(spec)
	j, err := h.hold(ctx, func() error {
		streams := h.spec(ctx)
		if t.PMIxSpawn && streams.Stdin != nil {
			t.dropInput()
		}
		held.SetStreams(streams.Stdin, streams.Stdout, streams.Stderr)
		h.launch = held
		return nil
	})
	var known *Error
	switch {
	case err == nil || errors.As(err, &known):
		return j, err
	case t.notMPI(line) != "":
		return nil, notStarted("%w (ranks that do not call MPI_Init are not held: --launcher slot has them start under control)", err)
	}
	return nil, notStarted("%w", err)
}

// choosePMIx chooses how the ranks of a starter without MPIR are controlled, and tells the user. It
// returns true for the starter's PMIx server, if the line has no place for our servers (badLine) and
// there is a PMIx server. It returns false for the slots of the ranks. noMPIR is the error of byMPIR.
func (t *start) choosePMIx(ctx context.Context, noMPIR, badLine error) bool {
	spec, why := t.pmixSpec(ctx)
	switch {
	case why != nil:
		t.Log.Info("our servers take the slots of the ranks", "why", noMPIR, "not by PMIx", why)
	case badLine != nil:
		t.Remark(fmt.Sprintf("%s has no MPIR, and %v: its PMIx server holds the ranks in MPI_Init", spec.Dialect, badLine))
	default:
		t.Remark(fmt.Sprintf("%s has no MPIR: our servers take the slots of its ranks (--launcher pmix has its PMIx server hold them in MPI_Init)", spec.Dialect))
	}
	return why == nil && badLine != nil
}

// pmixSpec returns how the starter is held by PMIx, or why it cannot be.
func (t *start) pmixSpec(ctx context.Context) (spec pmix.IndirectSpec, why error) {
	dialect, found, err := pmix.DialectOf(ctx, t.Argv[0], t.Servers.StarterEnv)
	if err != nil {
		return spec, err
	}
	if !found {
		return spec, fmt.Errorf("%s is no starter with a PMIx server (Open MPI's mpirun from release 5 on, or prterun)", t.Argv[0])
	}
	program, err := pmix.FindProgram()
	if err != nil {
		return spec, err
	}
	return pmix.IndirectSpec{
		ServerSpec: pmix.ServerSpec{Program: program, Env: t.Servers.StarterEnv, Force: t.Force, Log: t.PMIxLog,
			Notice: t.notice},
		StarterSpec: pmix.StarterSpec{Argv: t.Argv, Env: t.Servers.StarterEnv},
		Dialect:     dialect,
		Spawn:       t.PMIxSpawn,
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
