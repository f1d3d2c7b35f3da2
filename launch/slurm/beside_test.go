package slurm

import (
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	env := strings.Fields("PATH=/bin SLURM_CPUS_PER_TASK=4 SLURM_NTASKS=8 SLURM_NTASKS_PER_NODE=4 SLURM_NTASKS_PER=1 SLURM_TASK_PROLOG=/p " +
		"SLURM_JOB_ID=12 SLURM_CONF=/c SLURM_MEM_PER_NODE=100 SLURM_JOB_NODELIST=n SLURM_GPUS=1 SLURM_WAITING=1 SLURM_PARTITION=x")
	before := slices.Clone(env)
	got := strings.Join(Environ(env), " ")
	if want := "PATH=/bin SLURM_JOB_ID=12 SLURM_CONF=/c SLURM_JOB_NODELIST=n SLURM_WAITING=1"; got != want || !slices.Equal(env, before) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTool(t *testing.T) {
	if !IsTool(Tool) || !IsTool(ToolWithoutNetwork) || IsTool("srun {daemon}") || Tool == ToolWithoutNetwork {
		t.Error(Tool)
	}
	if !strings.HasSuffix(ToolWithoutNetwork, " --nodelist={hosts} --network=no_vni {daemon}") {
		t.Error(ToolWithoutNetwork)
	}
	for text, want := range map[string]bool{
		"srun: error: Unable to create step for job 12: Error configuring interconnect\n":            true,
		"srun: error: Task launch for StepId=12.3 failed on node n1: Error configuring interconnect": true,
		"srun: error: Unable to create step for job 12: Invalid job id specified":                    false,
		"": false,
	} {
		if LacksNetwork(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestBesideAll(t *testing.T) {
	all := []Component{{0, []string{"n1"}}, {2, []string{"n2", "n3"}}, {3, []string{"n4"}}}
	got := BesideAll(Tool, "12", all, []string{"n1", "n3"}, "server -x", func(a, b string) bool { return a == b })
	o := strings.Join(options, " ")
	want := "srun " + o + " --jobid=12 --het-group=0 --nodes=1 --ntasks=1 --nodelist=n1 server -x : " + o + " --jobid=12 --het-group=2 --nodes=1 --ntasks=1 --nodelist=n3 server -x"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestFailedProlog has the words of srun and slurmstepd, releases 22.05 and 24.11.
func TestFailedProlog(t *testing.T) {
	for text, want := range map[string]string{
		"x\nslurmstepd-m1: error: --task-prolog failed status=3\nsrun: error: m1: tasks 0-1: Exited with exit code 3\n":    "slurmstepd-m1: error: --task-prolog failed status=3",
		"slurmstepd-m1: error: user task_prolog did not exit normally. reason: \n":                                         "slurmstepd-m1: error: user task_prolog did not exit normally. reason:",
		"slurmstepd: error: TaskProlog failed status=1\n":                                                                  "slurmstepd: error: TaskProlog failed status=1",
		"slurmstepd-m1: error: run_command: user task_prolog can not be executed (/nonexistent) No such file or directory": "slurmstepd-m1: error: run_command: user task_prolog can not be executed (/nonexistent) No such file or directory",
		"srun: error: m1: tasks 0-1: Exited with exit code 1\n":                                                            "",
		"the prologue of my program has failed":                                                                            "",
	} {
		if got := FailedProlog(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
