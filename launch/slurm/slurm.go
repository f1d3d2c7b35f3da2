// Package slurm names jobs of Slurm and their steps, and the commands that reach
// them.
package slurm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Step is a step of a job: "12.0", or "12_3.0" of an array. Step "" leaves open
// which.
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

// ListSteps is the command that lists the steps of a job, for ChooseStep.
func (s Step) ListSteps() []string { return []string{"squeue", "-h", "-s", "-j", s.Job, "-o", "%i"} }

// ChooseStep completes a job by its only step that started ranks: those of the
// batch script and of salloc's shell have names, not numbers.
func (s Step) ChooseStep(listed string) (Step, error) {
	var found []string
	for _, line := range strings.Fields(listed) {
		if one, err := ParseStep(line); err == nil && one.Step != "" && one.Job == s.Job {
			found = append(found, one.Step)
		}
	}
	switch len(found) {
	case 0:
		return s, fmt.Errorf("job %s runs no step now (squeue -s -j %s lists them; one that mpirun started on its own is reached by the PID of mpirun)", s.Job, s.Job)
	case 1:
		s.Step = found[0]
		return s, nil
	}
	return s, fmt.Errorf("job %s has several steps: %s (give one: slurm:%s.%s)", s.Job, strings.Join(found, ", "), s.Job, found[0])
}

// Attach is the command that finds the ranks of a running step: it offers MPIR
// (sattach(1)) on whatever login node.
func (s Step) Attach() []string { return []string{"sattach", s.String()} }

// Broadcast is the command that copies a file to all nodes of the allocation that we
// are in (sbcast(1)).
func Broadcast(file, to string) []string { return []string{"sbcast", file, to} }

// OnAll is a command that runs another one on so many nodes of our allocation.
func OnAll(nodes int, command ...string) []string {
	n := strconv.Itoa(nodes)
	return append([]string{"srun", "--overlap", "--mpi=none", "--input=none", "--ntasks-per-node=1", "--nodes=" + n, "--ntasks=" + n}, command...)
}

// BroadcastTo is the command that copies a program of ours to some nodes of a job, and
// has it say its version there.
func BroadcastTo(job string, hosts []string, program, to string) []string {
	n := strconv.Itoa(len(hosts))
	return []string{"srun", "--overlap", "--jobid=" + job, "--mpi=none", "--input=none", "--ntasks-per-node=1", "--nodes=" + n, "--ntasks=" + n,
		"--nodelist=" + strings.Join(hosts, ","), "--bcast=" + to, program, "--version"}
}

// Tool starts a program once on each node of the job, beside its ranks: a
// template as --start-tool takes it. Without --overlap it would wait for the
// step that is debugged to end.
const Tool = "srun --overlap --jobid={jobid} --mpi=none --input=none --ntasks-per-node=1 --nodes={nodes} --ntasks={nodes} --nodelist={hosts} {daemon}"
