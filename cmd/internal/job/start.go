// Starts a starter's job in the way that the starter supports.

package job

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch/mpir"
	"sdm/launch/slot"
	"sdm/protocol"
)

// Starters are the names of the starters that sdm can take control of. The slice is read only.
var Starters = []string{"mpirun", "mpiexec", "orterun", "prterun", "srun", "flux", "aprun", "torchrun", "oshrun", "shmemrun", "prun", "jsrun"}

// fromStarter is the name of the writer in events of a starter's output.
const fromStarter = "starter"

// StarterName returns the base name of a starter, without the suffix that distributions append
// (mpirun.openmpi).
func StarterName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// InAllocation reports whether sdm runs in an allocation of Slurm and is not one of its tasks: in
// the shell of salloc, or in a batch script. The steps of these have numbers above maxStep
// (slurm.h, SLURM_BATCH_SCRIPT and the like).
func InAllocation(env []string) bool {
	s := servers.Spec{Env: env}
	if s.Lookup("SLURM_JOB_ID") == "" {
		return false
	}
	const maxStep = 4294967000
	step, err := strconv.ParseUint(s.Lookup("SLURM_STEP_ID"), 10, 64)
	return err != nil || step > maxStep
}

// start is the start of a starter's job.
type start struct {
	Spec
	IO
	b *servers.Builder
}

// Start starts a starter and takes control of its job by MPIR or PMIx, or puts our servers into its
// slots in place of the ranks.
func Start(ctx context.Context, s Spec, io IO) (*Job, error) {
	s.Argv = withoutDebugger(s.Argv)
	t := &start{Spec: s, IO: io, b: s.builder(io)}
	t.b.PackGDB()
	defer t.b.DropGDB()
	io.report(protocol.JobState{State: "starting", Text: strings.Join(slices.Concat(s.Front, s.Argv), " ")})
	if isFlux(s.Argv) {
		j, err := t.byMPIR(ctx)
		if err != nil {
			return nil, notStarted("%w", err)
		}
		return j, nil
	}
	line, badLine := starterLine(s.Argv, s.Servers.Lookup("PYTHON_EXEC"))
	if s.TriesMPIR && (badLine != nil || !line.IsTorchrun || s.NeedsMPIR != "") {
		j, err := t.byMPIR(ctx)
		if err == nil {
			return j, nil
		}
		if err := t.explained(err); err != nil {
			return nil, err
		}
		s.NeedsPMIx = len(s.Front) == 0 && t.choosePMIx(ctx, err, badLine)
	}
	switch {
	case s.NeedsPMIx:
		return t.byPMIx(ctx, line)
	case badLine != nil:
		return nil, misused("%w", badLine)
	case s.Only != "" && s.ChangesRanks:
		return nil, misused("--ranks with --env or --cwd: the other ranks would not get them (let the starter give them to all)")
	}
	if line.IsTorchrun {
		t.aboutTorchrun(line)
	}
	return t.inSlots(ctx, line)
}

// explained adds a hint what to do to the error of byMPIR. It returns nil if another way may be
// tried.
func (t *start) explained(err error) error {
	var known *Error
	var none *mpir.NoMPIR
	switch {
	case errors.As(err, &known):
		return err
	case hasEnded(err):
		return notStarted("%w (ranks that do not call MPI_Init are not held: --launcher slot has them start under control)", err)
	case !errors.As(err, &none):
		return notStarted("%w", err)
	case none.Called && len(t.Front) == 0:
		return notStarted("%w: give its own line in place of the script's (sdm run -- %s -n N PROGRAM), or put sdm run -- in front of it in the script", err, none.Starter)
	case t.NeedsMPIR != "":
		return notStarted("%w: leave %s out, and sdm-server takes the place of each rank", err, t.NeedsMPIR)
	}
	return nil // nothing was started
}

// hasEnded reports whether a starter has ended successfully without holding any rank.
func hasEnded(err error) bool {
	var ended *mpir.Ended
	return errors.As(err, &ended) && ended.Status.Exited() && ended.Status.ExitStatus() == 0
}

// starterLine parses a starter's line. python is the interpreter that torchrun is told to use; "":
// its own.
func starterLine(argv []string, python string) (slot.Line, error) {
	if protocol.IsShell(argv[0]) {
		return slot.Line{}, fmt.Errorf("%s: sdm does not see what it starts (give the line of the starter)", argv[0])
	}
	interpreter := func(argv []string) string { return interpreterOf(argv, python) }
	if _, is := slot.IsTorchrun(argv); is {
		return slot.ParseTorchrun(argv, interpreter(argv))
	}
	line, err := plainLine(argv)
	if err != nil {
		return line, err
	}
	return line.Within(interpreter)
}

// plainLine parses the line of a starter other than torchrun.
func plainLine(argv []string) (slot.Line, error) {
	resolved := ""
	if path, err := exec.LookPath(argv[0]); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			resolved = real
		}
	}
	return slot.Parse(argv, resolved, func(word string) bool {
		_, err := exec.LookPath(word)
		return err == nil
	})
}

// debugOptions make Open MPI's mpirun start itself under a debugger.
var debugOptions = []string{"--debug", "-debug", "--tv", "-tv"}

// withoutDebugger removes the options by which the user has told mpirun to start a debugger. That
// debugger is sdm, which mpirun has started with some of these options in @mpirun_args@. With them
// mpirun would look for another debugger.
func withoutDebugger(argv []string) []string {
	line, err := plainLine(argv)
	if err != nil || len(line.Programs) == 0 || !line.IsOpenMPI {
		return argv
	}
	at := line.Programs[0].At
	before := slices.DeleteFunc(slices.Clone(argv[:at]),
		func(word string) bool { return slices.Contains(debugOptions, word) })
	return append(before, argv[at:]...)
}
