// Package slurm provides names of Slurm's jobs and steps, and the commands that reach them.
package slurm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sdm/launch"
)

// Step is a step of a job: "12.0", or "12_3.0" of an array. If Step is "", the step is not chosen
// yet.
type Step struct {
	Job, Step string
}

var stepText = regexp.MustCompile(`^([0-9]+(?:[_+][0-9]+)?)(?:\.([0-9]+(?:\+[0-9]+)?))?$`)

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

// ListSteps returns the command that lists the steps of a job with their names, for ChooseStep.
func (s Step) ListSteps() []string {
	return []string{"squeue", "-h", "-s", "-j", s.Job, "-o", "%i %j"}
}

// ChooseStep completes a job by its only step that started ranks: the steps of the batch script
// and of salloc's shell have names in place of numbers. inner reports that mpirun has started the
// ranks: the tasks of the step are its helpers, or there is no step, as when mpirun needs no other
// node.
func (s Step) ChooseStep(listed string) (chosen Step, inner bool, err error) {
	var found []string
	for line := range strings.Lines(listed) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		one, err := ParseStep(id)
		if err != nil || one.Step == "" || one.Job != s.Job || s.Step != "" && s.Step != one.Step {
			continue
		}
		found = append(found, one.Step)
		inner = launch.IsHelper(name) // the name of a step is that of its program
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
func (s Step) Nodes() []string { return []string{"squeue", "-h", "-j", s.Job, "-o", "%A %T %N"} }

// ReadNodes returns the number of a running job as its processes know it (for an array it differs
// from the one that users name), and its list of nodes in Slurm's syntax.
func (s Step) ReadNodes(text string) (id, nodes string, err error) {
	fields := strings.Fields(text)
	switch {
	case len(fields) == 3:
		return fields[0], fields[2], nil
	case len(fields) == 2:
		return "", "", fmt.Errorf("job %s has no nodes, it is %s", s.Job, strings.ToLower(fields[1]))
	case len(fields) == 0:
		return "", "", fmt.Errorf("job %s does not run", s.Job)
	}
	return "", "", fmt.Errorf("job %s is several (squeue -j %s lists them: give one)", s.Job, s.Job)
}

// HostNames returns the command that expands a list of nodes, one a line.
func HostNames(nodes string) []string { return []string{"scontrol", "show", "hostnames", nodes} }

// Attach returns the command that finds the ranks of a running step: sattach(1), which has MPIR on
// any login node.
func (s Step) Attach() []string { return []string{"sattach", s.String()} }

// Broadcast returns the command that copies a file to all nodes of the current allocation
// (sbcast(1)).
func Broadcast(file, to string) []string { return []string{"sbcast", file, to} }

// OnAll returns a command that runs another one on the given number of nodes of the current
// allocation.
func OnAll(nodes int, command ...string) []string {
	n := strconv.Itoa(nodes)
	return append([]string{"srun", "--overlap", "--mpi=none", "--input=none", "--ntasks-per-node=1", "--nodes=" + n, "--ntasks=" + n}, command...)
}

// BroadcastTo returns the command that copies an sdm program to some nodes of a job, and runs it
// there with --version.
func BroadcastTo(job string, hosts []string, program, to string) []string {
	n := strconv.Itoa(len(hosts))
	return []string{"srun", "--overlap", "--jobid=" + job, "--mpi=none", "--input=none", "--ntasks-per-node=1", "--nodes=" + n, "--ntasks=" + n,
		"--nodelist=" + strings.Join(hosts, ","), "--bcast=" + to, program, "--version"}
}

// Tool is a template for --start-tool that starts a program once on each node of the job, beside
// its ranks. Without --overlap it would wait for the end of the step that is debugged.
const Tool = "srun --overlap --jobid={jobid} --mpi=none --input=none --ntasks-per-node=1 --nodes={nodes} --ntasks={nodes} --nodelist={hosts} {daemon}"
