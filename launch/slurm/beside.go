// Steps of ours beside the step that is debugged.

package slurm

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

// options are the options of every srun that sdm starts. A step beside a running one needs
// --overlap, or it waits for its end. The others take back what the site or the job's environment
// may have set and what would delay the step, bind it, or take resources from the job: one server
// for each node needs none. The failure of one server must not end the others (--kill-on-bad-exit,
// --wait).
var options = []string{
	"--overlap", "--mpi=none", "--input=none", "--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0",
	"--cpu-bind=none", "--mem-bind=none", "--mem-per-cpu=0", "--gres=none", "--oversubscribe", "--quiet", "--disable-status",
}

// beside returns a command line of srun with these options and further words.
func beside(words ...string) []string {
	return append(append([]string{"srun"}, options...), words...)
}

// Tool is a template for --start-tool that starts a program once on each node of the job, beside
// its ranks.
var Tool = strings.Join(beside("--jobid={jobid}", "--nodes={nodes}", "--ntasks={nodes}", "--nodelist={hosts}", "{daemon}"), " ")

// Beside returns the words before a command that start it once on each of some hosts of a job.
func Beside(job string, hosts []string) []string {
	n := strconv.Itoa(len(hosts))
	return beside("--jobid="+job, "--nodes="+n, "--ntasks="+n, "--nodelist="+strings.Join(hosts, ","))
}

// ToolWithoutNetwork is Tool for jobs whose steps use all of the interconnect that a node has for
// steps (HPE Slingshot). Our servers need none of it.
var ToolWithoutNetwork = strings.Replace(Tool, "{daemon}", "--network=no_vni {daemon}", 1)

// IsTool reports whether a template is one of these.
func IsTool(template string) bool { return template == Tool || template == ToolWithoutNetwork }

// Component is a component of a heterogeneous job with some of its hosts.
type Component struct {
	Group int
	Hosts []string
}

// BesideAll returns the line for a shell that starts a program once on each of some hosts of a
// heterogeneous job: its components have nodes of their own, which one set of options cannot name.
// daemon is the quoted command, template Tool or ToolWithoutNetwork. Components without any of the
// hosts are left out; same compares host names.
func BesideAll(template, job string, all []Component, hosts []string, daemon string,
	same func(a, b string) bool) string {
	var parts []string
	for _, c := range all {
		var own []string
		for _, host := range hosts {
			if slices.ContainsFunc(c.Hosts, func(h string) bool { return same(h, host) }) {
				own = append(own, host)
			}
		}
		if len(own) == 0 {
			continue
		}
		part := strings.NewReplacer("{jobid}", job, "{nodes}", strconv.Itoa(len(own)), "{hosts}", strings.Join(own, ","),
			"{daemon}", daemon).Replace(strings.Replace(template, "--jobid={jobid}", "--jobid={jobid} --het-group="+strconv.Itoa(c.Group), 1))
		if len(parts) > 0 {
			part = strings.TrimPrefix(part, "srun ")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " : ")
}

// LacksNetwork reports whether srun has said that a step gets none of the interconnect.
func LacksNetwork(said string) bool {
	return strings.Contains(strings.ToLower(said), "error configuring interconnect")
}

// IsNoise reports whether a line of srun says that an option of ours has no effect here.
func IsNoise(line string) bool {
	return strings.Contains(line, "cluster configuration lacks support for cpu binding")
}

// prologFails finds in a line of srun or of its daemon that a task prolog has failed: the site's
// (TaskProlog), the one of --task-prolog, or the job's. The tasks are then not started, and seem to
// have vanished.
var prologFails = pattern.New(`(?i)(task ?prolog|task[_-]prolog|--task-prolog|\bprolog\b).*(failed|did not exit normally|cannot be executed|can not be executed)`)

// FailedProlog returns the first line of a text that says that a task prolog has failed; "" if none
// does.
func FailedProlog(said string) string {
	for line := range strings.Lines(said) {
		if prologFails.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// inputs are variables from which srun takes options of the step (srun(1), input environment
// variables), and which sbatch and salloc set for the job: they describe the job's own steps. Names
// that end with an underscore are prefixes.
var inputs = []string{
	"SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_NTASKS", "SLURM_NTASKS_", "SLURM_NPROCS",
	"SLURM_PARTITION", "SLURM_NETWORK", "SLURM_RESV_PORTS", "SLURM_TASK_PROLOG", "SLURM_TASK_EPILOG", "SLURM_WORKING_DIR",
	"SLURM_MEM_PER_", "SLURM_CPU_BIND", "SLURM_CPU_BIND_", "SLURM_MEM_BIND", "SLURM_MEM_BIND_", "SLURM_GRES", "SLURM_GPUS", "SLURM_GPUS_", "SLURM_TRES_PER_TASK",
	"SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_HINT", "SLURM_THREADS_PER_CORE", "SLURM_CORE_SPEC", "SLURM_KILL_BAD_EXIT", "SLURM_WAIT",
	"SLURM_MPI_TYPE", "SLURM_LABELIO", "SLURM_MULTI_PROG", "SLURM_STDINMODE", "SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SLURM_OPEN_MODE",
	"SLURM_BCAST", "SLURM_PROLOG", "SLURM_EPILOG", "SLURM_HET_GROUP", "SLURM_OVERCOMMIT", "SLURM_RELATIVE",
}

// Environ returns an environment (NAME=VALUE) without the variables by which it would change the
// options of our own steps. env is not changed.
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.ContainsFunc(inputs, func(one string) bool {
			return name == one || strings.HasSuffix(one, "_") && strings.HasPrefix(name, one)
		})
	})
}
