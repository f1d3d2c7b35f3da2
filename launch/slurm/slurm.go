// Package slurm provides names of Slurm's jobs and steps, and the commands that reach them.
package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// Step is a step of a job: "12.0", or "12_3.0" of an array; from Slurm 25.11 on jobs have names, too,
// SLUIDs: "sDTDM86RQBGH00.0". If Step is "", the step is not chosen yet.
type Step struct {
	Job, Step string
}

// stepText matches JOBID[.STEP]. A SLUID is an s and 13 digits of Crockford's base 32 (seen with
// Slurm 26.05).
var stepText = pattern.New(`^([0-9]+(?:[_+][0-9]+)?|s[0-9A-HJKMNP-TV-Z]{13})(?:\.([0-9]+(?:\+[0-9]+)?))?$`)

// ParseStep reads JOBID[.STEP].
func ParseStep(text string) (Step, error) {
	m := stepText.FindStringSubmatch(text)
	if m == nil || len(text) > 64 {
		return Step{}, fmt.Errorf("%q is no job of Slurm (JOBID or JOBID.STEP; squeue lists jobs, squeue -s steps)", text)
	}
	return Step{m[1], m[2]}, nil
}

func (s Step) String() string {
	if s.Step == "" {
		return s.Job
	}
	return s.Job + "." + s.Step
}

// HasSLUID reports whether the job has a SLUID in place of a number: squeue lists no steps by it.
func (s Step) HasSLUID() bool { return strings.HasPrefix(s.Job, "s") }

// ListSteps returns the command that lists the steps of a job with their names, for ChooseStep.
func (s Step) ListSteps() []string {
	return []string{"squeue", "-h", "-s", "-j", s.Job, "-o", "%i %j"}
}

// ChooseStep completes a job by its only step that started ranks: the steps of the batch script
// and of salloc's shell have names in place of numbers. listed is the output of ListSteps. inner
// reports that mpirun has started the ranks: the tasks of the step are its helpers, or there is no
// step, because mpirun has started all ranks on its own node.
func (s Step) ChooseStep(listed string) (chosen Step, inner bool, err error) {
	var found []string
	for line := range strings.Lines(listed) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		one, err := ParseStep(id)
		if err != nil || one.Step == "" || one.Job != s.Job || s.Step != "" && s.Step != one.Step {
			continue
		}
		found = append(found, one.Step)
		inner = launch.IsHelper(name) // a step is named after its program
	}
	switch {
	case len(found) == 0 && s.Step == "":
		return s, true, nil
	case len(found) == 0:
		return s, false, fmt.Errorf("job %s has no step %s now (squeue -s -j %s lists them)", s.Job, s.Step, s.Job)
	case len(found) == 1:
		s.Step = found[0]
		return s, inner, nil
	}
	return s, false, fmt.Errorf("job %s has several steps: %s (give one: slurm:%s.%s)", s.Job, strings.Join(found, ", "), s.Job, found[0])
}

// Nodes returns the command whose output ReadNodes reads.
func (s Step) Nodes() []string { return []string{"squeue", "-h", "-j", s.Job, "-o", "%A %T %N %i"} }

// Queue returns the command whose output ReadQueue reads.
func (s Step) Queue() []string { return []string{"squeue", "-h", "-j", s.Job, "-o", "%T %r"} }

// Running is the state of a job that has its nodes (squeue(1)).
const Running = "RUNNING"

// ReadQueue returns the state of a job, of several that of one that runs, and why it does not run. known is false if no
// such job is in the queue.
func ReadQueue(text string) (state, why string, known bool) {
	for line := range strings.Lines(text) {
		one, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if one == "" || known && one != Running {
			continue
		}
		state, known = one, true
		why = strings.ToLower(one)
		if reason != "" && reason != "None" {
			why += " (" + reason + ")"
		}
	}
	return state, protocol.Clip(why), known
}

// IsUnknown reports whether an error of squeue says that there is no such job.
func IsUnknown(text string) bool { return strings.Contains(text, "Invalid job id") }

// Part is a component of a heterogeneous job, or the whole of a job of another kind.
type Part struct {
	Group int    // number of the component; -1: the job has none
	Nodes string // in Slurm's syntax
}

// ReadNodes returns the number of a running job as its processes have it in their environment, and
// its nodes. The number differs from the one that users give if the job is one of an array. The
// processes of all components of a heterogeneous job have the number of the first component, which
// is also the first part of their names (12+0, 12+1).
func (s Step) ReadNodes(text string) (id string, parts []Part, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 3 { // without nodes
			return "", nil, fmt.Errorf("job %s has no nodes, it is %s", s.Job, strings.ToLower(fields[1]))
		}
		if len(fields) != 4 {
			continue
		}
		leader, component, isPart := strings.Cut(fields[3], "+")
		group, err := strconv.Atoi(component)
		if !isPart || err != nil {
			leader, group = fields[0], -1
		}
		if id != "" && (id != leader || group < 0) {
			return "", nil, fmt.Errorf("job %s is several (squeue -j %s lists them: give one)", s.Job, s.Job)
		}
		id = leader
		parts = append(parts, Part{group, fields[2]})
	}
	if id == "" {
		return "", nil, fmt.Errorf("job %s does not run", s.Job)
	}
	return id, parts, nil
}

// HostNames returns the command that expands a list of nodes, one a line.
func HostNames(nodes string) []string { return []string{"scontrol", "show", "hostnames", nodes} }

// Attach returns the command that finds the ranks of a running step: sattach(1), which has MPIR on
// any login node.
func (s Step) Attach() []string { return []string{"sattach", s.String()} }

// broken are the releases whose sattach crashes (Slurm's CHANGELOG, corrected in the next release of
// each series).
var broken = []string{"23.02.8", "23.11.9", "24.05.2"}

// Broken returns the error that a release of sattach is not to be used; nil: it may be. version is
// what sattach --version prints: "slurm 24.05.2".
func Broken(version string) error {
	for _, word := range strings.Fields(version) {
		if slices.Contains(broken, word) {
			return fmt.Errorf("sattach of Slurm %s crashes", word)
		}
	}
	return nil
}

// maxTasks bounds the lines of a list of processes that are read.
const maxTasks = 1 << 20

// ListPids returns the command that lists the processes of a step on this host (scontrol(1)).
func (s Step) ListPids() []string { return []string{"scontrol", "listpids", s.String()} }

// ReadPids reads that list, a table with a header: PID JOBID STEPID LOCALID GLOBALID. Processes that
// are no tasks have "-" there. The result is the process of each rank of the step.
func (s Step) ReadPids(listed string) (map[int]int, error) {
	pids := map[int]int{}
	lines := 0
	for line := range strings.Lines(listed) {
		f := strings.Fields(line)
		if lines++; lines > maxTasks {
			return nil, fmt.Errorf("scontrol listpids: more than %d processes", maxTasks)
		}
		if len(f) != 5 || f[2] != s.Step || f[4] == "-" {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		number, err2 := strconv.Atoi(f[4])
		if err1 != nil || err2 != nil || pid <= 0 || number < 0 {
			return nil, fmt.Errorf("scontrol listpids: %q is no process of a rank", strings.TrimSpace(line))
		}
		if other, twice := pids[number]; twice && other != pid {
			return nil, fmt.Errorf("scontrol listpids: processes %d and %d are both rank %d", other, pid, number)
		}
		pids[number] = pid
	}
	return pids, nil
}

// Broadcast returns the command that copies a file to all nodes of the current allocation
// (sbcast(1)).
func Broadcast(file, to string) []string { return []string{"sbcast", file, to} }

// OnAll returns a command that runs another one on the given number of nodes of the current
// allocation.
func OnAll(nodes int, command ...string) []string {
	return append(beside("--nodes="+strconv.Itoa(nodes), "--ntasks="+strconv.Itoa(nodes)), command...)
}

// BroadcastTo returns the command that copies an sdm program to some nodes of a job, and runs it
// there with --version.
func BroadcastTo(job string, hosts []string, program, to string) []string {
	return append(Beside(job, hosts), "--bcast="+to, program, "--version")
}
