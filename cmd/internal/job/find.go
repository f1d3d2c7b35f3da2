// Finds the ranks of the running job that the argument of attach names.

package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/flux"
	"sdm/launch/mpir"
	"sdm/launch/slurm"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/userfile"
)

// finder finds the ranks of running jobs. It changes the way to their hosts to the one that the
// job's starter uses, unless the user has chosen one.
type finder struct {
	*servers.Builder
	job    *Spec
	io     *IO
	counts *counts // set if NCCL has named the ranks
}

// find finds the ranks of the job that target, the argument of attach, names. The caller must end
// the launcher that find returns, unless it is nil.
func (f finder) find(ctx context.Context, target string) (servers.Placement, launch.Launcher, error) {
	kind, rest, named := strings.Cut(target, ":")
	switch {
	case named && kind == "pids":
		table, err := launch.ParsePids(rest, servers.HostName())
		if err != nil {
			err = misused("%w (sdm attach pids:PID,PID...)", err)
		}
		return servers.Placement{Table: table}, nil, err
	case named && kind == "hostfile":
		table, err := readHostfile(ctx, rest)
		return servers.Placement{Table: table}, nil, err
	case named && kind == "slurm":
		return f.findBySlurm(ctx, rest)
	case named && kind == "torchrun":
		p, err := f.findTorchrun(ctx, target)
		return p, nil, err
	case named && kind == "match":
		p, err := f.findMatch(ctx, rest)
		return p, nil, err
	case named && kind == "nccl":
		p, err := f.findNCCL(ctx, rest)
		return p, nil, err
	case named && kind == "flux":
		id, err := flux.ParseID(rest)
		if err != nil {
			return servers.Placement{}, nil, misused("%w", err)
		}
		p, err := f.findByFlux(ctx, id)
		return p, nil, err
	case named && kind == "pbs":
		p, err := f.findByPBS(ctx, rest)
		return p, nil, err
	case named && kind == "pals":
		p, err := f.findByAPID(ctx, rest)
		return p, nil, err
	case named && kind == "pmix":
		return f.findByPMIx(ctx, rest)
	case named && kind == "job":
		return f.findByTool(ctx, rest)
	}
	pid, err := strconv.Atoi(target)
	if err != nil || pid <= 0 {
		return servers.Placement{}, nil, misused("%q is no job (give the PID of mpirun, slurm:JOBID[.STEP], flux:JOBID, pbs:JOBID, pals:APID, pmix:NAMESPACE, torchrun:ID, nccl:HOST, pids:PID,PID..., hostfile:FILE, job:ID or match:'PROGRAM ARG...')", target)
	}
	return f.findByPID(ctx, pid)
}

// maxPids bounds a hostfile, in bytes: some 30 a rank, for a million of them.
const maxPids = 64 << 20

// readHostfile reads the table of ranks of hostfile:FILE.
func readHostfile(ctx context.Context, path string) (protocol.Proctable, error) {
	text, err := userfile.Read(ctx, path, maxPids)
	if err != nil {
		return nil, misused("hostfile: %w", err)
	}
	table, err := launch.ReadPids(bytes.NewReader(text))
	if err != nil {
		return nil, misused("%s: %w", path, err)
	}
	return table, nil
}

// findByPID finds the ranks of a process: a starter, a script that has called a starter, or a
// single rank.
func (f finder) findByPID(ctx context.Context, pid int) (servers.Placement, launch.Launcher, error) {
	if id, found := flux.Of(pid); found {
		p, err := f.findByFlux(ctx, id)
		return p, nil, err
	}
	family := launch.FamilyOf(pid)
	if prrte, found := family.PRRTE(); found {
		if p, holder, err := f.askPRRTE(ctx, prrte); err == nil {
			return p, holder, nil
		}
		if prrte.Elsewhere() {
			p, err := f.findPRRTE(ctx, prrte)
			return p, nil, err
		}
	}
	var hydra *launch.Hydra
	if h, found := family.Hydra(); found {
		hydra = &h
	}
	starter, err := mpir.Find(pid, family.Descendants(), f.isOnlyRank)
	var none *mpir.NoStarter
	switch {
	case errors.As(err, &none) && hydra != nil && hydra.Elsewhere():
		p, err := f.findHydra(ctx, *hydra, strconv.Itoa(pid), nil)
		return p, nil, err
	case errors.As(err, &none):
		p, err := f.withoutMPIR(ctx, pid, family, none)
		return p, nil, err
	case err != nil:
		return servers.Placement{}, nil, err
	}
	table, err := f.listed(ctx, starter)
	if early := (*unlisted)(nil); errors.As(err, &early) {
		endLauncher(starter, f.Log)
		if early.elsewhere.Elsewhere() {
			p, err := f.findPRRTE(ctx, early.elsewhere)
			return p, nil, err
		}
		return servers.Placement{Table: early.table, ID: strconv.Itoa(pid)}, nil, nil
	}
	if err == nil && launch.HasHelpers(table) {
		defer endLauncher(starter, f.Log)
		p, err := f.ranksOfHelpers(ctx, table, hydra, starter.JobID())
		return p, nil, err
	}
	p := servers.Placement{Table: table, ID: starter.JobID()}
	p.BySrun = f.useToolOf(ctx, starter.StarterPID(), p.ID)
	usePALS(ctx, f.Builder, &p, table)
	return p, starter, err
}

// listTime is how long a starter may take to list its ranks before they are looked for below it. Starters that make
// their list on request need much less.
const listTime = 3 * time.Second

// unlisted is the error that a starter has not listed its ranks, which were found below it, or are to be looked for on
// other hosts.
type unlisted struct {
	table     protocol.Proctable
	elsewhere launch.PRRTE
}

func (*unlisted) Error() string { return "the starter has not listed its ranks" }

// listed returns the table of a starter. The error is an *unlisted if the starter waits for a rank that has not called
// MPI_Init, and all of them are on this host, or it is known where its daemons are.
func (f finder) listed(ctx context.Context, starter *mpir.Attach) (protocol.Proctable, error) {
	soon, cancel := servers.Bounded(ctx, min(listTime, f.Clock.Left()), "--connect-wait")
	table, err := starter.Acquire(soon, f.Remark)
	cancel()
	var late *mpir.NotListed
	if ctx.Err() != nil || !errors.As(err, &late) {
		return table, err
	}
	family := launch.FamilyOf(starter.StarterPID())
	if orte, is := family.ORTE(starter.StarterPID()); is {
		f.Remark(fmt.Sprintf("process %d has not listed its ranks (some have not called MPI_Init); they are looked for on its hosts", late.PID))
		return nil, &unlisted{elsewhere: orte}
	}
	found, notBelow := f.ranks().RanksBelow(family)
	if notBelow == nil && len(found) > 0 {
		for i := range found {
			found[i].Host = servers.HostName()
		}
		f.Remark(unlistedText(late.PID, found.Ranks(), launch.Unconnected(found)))
		return nil, &unlisted{table: found}
	}
	inTime, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	defer cancel()
	return starter.Acquire(inTime, f.Remark)
}

// unlistedText says that a starter has not listed its ranks; without are those that have no connection to it.
func unlistedText(starter int, all, without rank.Set) string {
	why := "some have not called MPI_Init"
	if !without.IsEmpty() {
		why = without.String() + " has not called MPI_Init"
	}
	return fmt.Sprintf("process %d has not listed its ranks (%s); %s were found below it by their environment", starter, why, all)
}

// ranks returns the variables that tell which rank a process is.
func (f finder) ranks() launch.RankFrom {
	from, err := launch.ParseRankFrom(f.RankFrom)
	if err != nil {
		panic(err) // checked with the other flags
	}
	return from
}

// isOnlyRank reports whether a process is a rank and not a starter that was called in a rank.
func (f finder) isOnlyRank(pid int) (is, sure bool) {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if slices.Contains(Starters, StarterName(exe)) {
		return false, false
	}
	return f.ranks().IsRank(pid)
}

// useToolOf uses the start tool that comes with the starter of a job, if there is one: srun.
func (f finder) useToolOf(ctx context.Context, starter int, id string) (bySrun bool) {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", starter))
	if err != nil || StarterName(exe) != "srun" {
		return false
	}
	f.UseSlurm()
	if _, _, err := f.nodesOf(ctx, slurm.Step{Job: id}); err != nil { // nodesOf records the components
		f.Log.Info("Slurm does not tell the nodes of the job", "err", err)
	}
	return true
}

// withoutMPIR looks for ranks below a starter that does not offer MPIR, and on other hosts if the
// ranks belong to torchrun. Any other process is a job of one rank.
func (f finder) withoutMPIR(ctx context.Context, pid int, family launch.Family,
	none *mpir.NoStarter) (servers.Placement, error) {
	found, err := f.ranks().RanksBelow(family)
	if f.Hosts != "" || err != nil {
		if name := launch.TorchrunJob(pid); name != "" {
			return f.findTorchrun(ctx, name)
		}
	}
	switch {
	case err != nil:
		return servers.Placement{}, fmt.Errorf("%w, and its ranks cannot be found: %w (hostfile:FILE names them: RANK HOST PID lines)", none, err)
	case len(found) > 0:
		f.Remark(fmt.Sprintf("%s; %d ranks were found below it by their environment", none, len(found)))
		for i := range found {
			found[i].Host = servers.HostName()
		}
		return servers.Placement{Table: found, ID: strconv.Itoa(pid)}, nil
	case StarterName(none.Program) == "prun":
		return servers.Placement{}, fmt.Errorf("%w, and prte starts its ranks (sdm attach pmix:NAMESPACE, or pmix:PID of prte)", none)
	case slices.Contains(Starters, StarterName(none.Program)):
		return servers.Placement{}, fmt.Errorf("%w, and has no ranks on this host (hostfile:FILE names them: RANK HOST PID lines)", none)
	}
	return servers.Placement{Table: protocol.Proctable{{Host: servers.HostName(), PID: pid}}, ID: strconv.Itoa(pid)}, nil
}

// findByTool asks the start tool, which must offer MPIR itself, for the job with this ID. The job
// may have been started on another login node.
func (f finder) findByTool(ctx context.Context, id string) (servers.Placement, launch.Launcher, error) {
	if f.StartTool == "" {
		return servers.Placement{}, nil, misused("job:ID needs --start-tool CMD, a command that knows the job by its ID and offers MPIR")
	}
	command, _, _ := strings.Cut(f.StartTool, " -- ")
	line := servers.ToolLine(strings.ReplaceAll(command, "{hosts}", ""), id, nil, nil)
	t := mpir.New(mpir.Spec{Argv: []string{"/bin/sh", "-c", line}, Env: f.StarterEnv, Stdout: f.Stderr, Stderr: f.Stderr})
	ctx, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	defer cancel()
	table, err := t.Acquire(ctx, f.Remark)
	if err != nil {
		err = fmt.Errorf("--start-tool: %w", err)
	}
	return servers.Placement{Table: table, ID: id}, t, err
}
