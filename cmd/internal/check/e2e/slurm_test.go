package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
)

// newCluster returns a scene on the login node of a Slurm cluster with three nodes.
func newCluster(t *testing.T) (*scene, *launchtest.Slurm) {
	t.Helper()
	cluster := launchtest.UpSlurm(t, 3)
	s := newScene(t)
	s.env = append(s.env, cluster.Env())
	return s, cluster
}

// on starts a program on a simulated host.
func (s *scene) on(h *launchtest.Hosts, host int, name string, args ...string) *process {
	s.t.Helper()
	path, err := s.find(name)
	if err != nil {
		s.t.Fatal(err)
	}
	argv := h.Argv(host, append([]string{path}, args...)...)
	p := s.start(argv[0], argv[1:]...)
	p.name = name
	return p
}

// onOneMachine tells Open MPI 4, 5 and 6 what they cannot know of simulated hosts: they share
// memory and processors, and each release would bind its first rank on every host to the first
// core.
var onOneMachine = []string{
	"OMPI_MCA_btl=tcp,self", "OMPI_MCA_oob_tcp_if_include=eth0", "OMPI_MCA_btl_tcp_if_include=eth0",
	"OMPI_MCA_hwloc_base_binding_policy=none", "PRTE_MCA_hwloc_default_binding_policy=none", "PRTE_MCA_bindto=none",
}

// slurmMPI is how srun starts programs of each MPI.
var slurmMPI = map[string]string{"Open MPI": "--mpi=pmix", "MPICH": "--mpi=pmi2"}

// TestSlurm has one real cluster for all tests of jobs that sdm starts.
func TestSlurm(t *testing.T) {
	t.Parallel()
	s, cluster := newCluster(t)
	needPlugin := s.slurmPlugins(cluster)
	allocated := func(t *testing.T, m starter) {
		needPlugin(t, m)
		s := s.sub(t)
		args := append([]string{"-n", "4", "-N", "2", program("sdm"), "run", "-n", "4", "--launcher-arg", slurmMPI[m.name]}, hunt...)
		front := &console{process: s.on(cluster.Hosts, 0, "salloc", append(args, m.program("ring"))...), size: 4}
		front.exits(0)
		hunted(t, front)
	}
	srun := func(t *testing.T, m starter) {
		needPlugin(t, m)
		s := s.sub(t)
		args := append([]string{"run", "--launcher", "slot"}, hunt...)
		args = append(args, "--", "srun", "-n4", "-N", "3", slurmMPI[m.name], m.program("ring"))
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", args...), size: 4}
		front.exits(0)
		hunted(t, front)
	}
	for k, m := range starters {
		if inTurn(0, k) {
			t.Run("in an allocation, "+m.name, func(t *testing.T) { allocated(t, m) })
		}
		if inTurn(1, k) {
			t.Run("srun, "+m.name, func(t *testing.T) { srun(t, m) })
		}
		for i, way := range []string{"", "--per-node --session batch"} {
			if !inTurn(i, k) {
				continue
			}
			t.Run("batch script, "+m.name+" "+way, func(t *testing.T) { needPlugin(t, m); batch(t, s.sub(t), cluster, m, way) })
		}
	}
	t.Run("a batch script that is joined", func(t *testing.T) {
		needPlugin(t, starters[1])
		joinedBatch(t, s.sub(t), cluster, starters[1])
	})
	t.Run("a batch script that is watched", func(t *testing.T) {
		needPlugin(t, starters[1])
		watchedBatch(t, s.sub(t), cluster, starters[1])
	})
	for _, m := range starters {
		t.Run("srun under control, "+m.name, func(t *testing.T) { needPlugin(t, m); heldSrun(t, s.sub(t), cluster, m) })
	}
	for k, m := range starters {
		if inTurn(1, k) {
			t.Run("its own starter in an allocation, "+m.name, func(t *testing.T) { ownStarter(t, s.sub(t), cluster, m) })
		}
	}
	t.Run("as HPE Cray EX sets it up", func(t *testing.T) { craySrun(t, s.sub(t), cluster) })
	t.Run("directives for the environment", func(t *testing.T) {
		s := s.sub(t)
		s.env = append(s.env, ofTheServer)
		front := s.on(cluster.Hosts, 0, "sdm", slices.Concat([]string{"run", "--launcher", "slot"}, showDirected, directives, []string{"--", "srun", "-n2", "-N2", "--mpi=none", program("work")})...)
		front.status(patience)
		front.says(directed...)
	})
	t.Run("a task prolog fails", func(t *testing.T) { badProlog(t, s.sub(t), cluster) })
	t.Run("staged by Slurm", func(t *testing.T) { stagedBySlurm(t, s.sub(t), cluster) })
	t.Run("a job in the queue is cancelled", func(t *testing.T) {
		s := s.sub(t)
		first := s.on(cluster.Hosts, 0, "salloc", "-N3", "--exclusive", "sh", "-c", "echo granted; read end")
		first.after(first.out, "granted")
		front := s.on(cluster.Hosts, 0, "sdm", "run", "-b", "-e", "continue", "--connect-wait", "2s", "--", "srun", "-n2", "--mpi=none", program("hello"))
		front.after(front.err, "waits in the queue: ")
		front.signal(syscall.SIGINT)
		front.exits(130)
		front.says("sdm: job ", " was cancelled")
		left := s.on(cluster.Hosts, 0, "squeue", "-h", "-t", "PD")
		left.exits(0)
		if left.out.text() != "" {
			t.Errorf("jobs wait on: %s", left.out.text())
		}
		fmt.Fprintln(first.in)
		first.exits(0)
	})
	t.Run("a job waits too long in the queue", func(t *testing.T) {
		s := s.sub(t)
		first := s.on(cluster.Hosts, 0, "salloc", "-N3", "--exclusive", "sh", "-c", "echo granted; read end")
		first.after(first.out, "granted")
		front := s.on(cluster.Hosts, 0, "sdm", "run", "-b", "-e", "continue", "--queue-wait", "200ms", "--", "srun", "-n2", "--mpi=none", program("hello"))
		front.exits(4)
		front.says("the job has waited in the queue for 200ms (--queue-wait)")
		fmt.Fprintln(first.in)
		first.exits(0)
	})
	t.Run("a job comes out of the queue", func(t *testing.T) {
		s := s.sub(t)
		first := s.on(cluster.Hosts, 0, "salloc", "-N3", "--exclusive", "sh", "-c", "echo granted; read end")
		first.after(first.out, "granted")
		front := s.on(cluster.Hosts, 0, "sdm", "run", "--format", "ndjson", "-b", "-e", "continue", "--", "srun", "-n2", "--mpi=none", program("hello"))
		front.after(front.out, `"state":"queued"`)
		fmt.Fprintln(first.in)
		first.exits(0)
		front.exits(0)
		front.says(`{"event":"job","ranks":"","n":0,"state":"starting"`, `"state":"allocated"`, `"state":"held"`, `"state":"ended","status":0}`, `"state":"ended","text":"the starter has ended","status":0}`)
	})
}

// slurmPlugins returns a function that skips a test if srun cannot start programs of an MPI here.
func (s *scene) slurmPlugins(cluster *launchtest.Slurm) func(*testing.T, starter) {
	s.t.Helper()
	list := s.on(cluster.Hosts, 0, "srun", "--mpi=list")
	list.exits(0)
	plugins := strings.Join(strings.Fields(list.out.text()+list.err.text()), " ")
	return func(t *testing.T, m starter) {
		t.Helper()
		if name := strings.TrimPrefix(slurmMPI[m.name], "--mpi="); !strings.Contains(plugins, name) {
			t.Skipf("Slurm has no plugin %s here: %s", name, plugins)
		}
	}
}

// sub returns a scene for a part of a test that shares the environment of s.
func (s *scene) sub(t *testing.T) *scene {
	t.Helper()
	inner := newScene(t)
	inner.env = append(inner.env, s.env[len(s.env)-1])
	return inner
}

// batch is N+1 from a batch script: the console listens on the login node, the script starts the
// master, and srun the servers.
func batch(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter, way string) {
	front := &console{process: s.on(cluster.Hosts, 0, "sdm", append([]string{"listen", cluster.Address(0) + ":0"}, hunt...)...), size: 4}
	line := front.after(front.err, "start it with: sdm-master --connect ")
	addr, _, _ := strings.Cut(line, " ")
	port := s.freePort()
	session := ""
	if way != "" {
		session = "--session batch"
	}
	script := s.file("job.sh", fmt.Sprintf(`#!/bin/sh
at=$(hostname):%d
%s --connect %s --rendezvous $at %s &
srun -n 4 %s %s --rendezvous $at %s -- %s
wait
`, port, program("sdm-master"), addr, session, slurmMPI[m.name], program("sdm-server"), way, m.program("ring")), 0o700)
	job := s.submit(cluster, "-n", "4", "-N", "2", "-o", filepath.Join(s.dir, "out"), script)
	front.exits(0)
	s.completes(cluster, job)
	hunted(t, front)
}

// joinedBatch has a session of a batch script, which is joined, left, and joined and ended from the login node.
func joinedBatch(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter) {
	script := s.file("job.sh", fmt.Sprintf(`#!/bin/sh
at=$(hostname):%d
%s --keep 10m --rendezvous $at --session $SLURM_JOB_ID &
srun -n 4 %s %s --rendezvous $at --session $SLURM_JOB_ID --per-node -- %s
wait
`, s.freePort(), program("sdm-master"), slurmMPI[m.name], program("sdm-server"), m.program("ring")), 0o700)
	job := s.submit(cluster, "-n", "4", "-N", "2", "-o", filepath.Join(s.dir, "out"), script)
	s.eventually(patience, func() string {
		list := s.on(cluster.Hosts, 0, "sdm", "sessions")
		list.exits(0)
		if text := list.out.text(); !strings.Contains(text, "0-3") {
			return text
		}
		return ""
	})
	join := func(commands ...string) *process {
		p := s.on(cluster.Hosts, 0, "sdm", append([]string{"join", "--remote-shell", filepath.Join(launchtest.Scripts(), "remsh"), "-b"}, commands...)...)
		p.exits(0)
		return p
	}
	join("-e", "print 6*7").says("[0-3] 6*7 = 42")
	join("-e", "ranks", "-e", "continue", "-e", "quit").says("[0-3] stopped in main", "exited normally")
	s.completes(cluster, job)
}

// submit gives Slurm a batch script and returns the number of its job.
func (s *scene) submit(cluster *launchtest.Slurm, args ...string) string {
	s.t.Helper()
	sbatch := s.on(cluster.Hosts, 0, "sbatch", append([]string{"--parsable"}, args...)...)
	sbatch.exits(0)
	return strings.TrimSpace(sbatch.out.text())
}

// completes waits until a batch job has ended well. sbatch --wait would ask once in 10 s only.
func (s *scene) completes(cluster *launchtest.Slurm, job string) {
	s.t.Helper()
	s.eventually(patience, func() string {
		show := cluster.On(0, "scontrol", "--oneliner", "show", "job", job)
		show.Env = s.env
		text, err := show.CombinedOutput()
		if err != nil || !strings.Contains(string(text), " JobState=COMPLETED ") || !strings.Contains(string(text), " ExitCode=0:0 ") {
			return fmt.Sprintf("job %s has not ended well: %v, %s", job, err, text)
		}
		return ""
	})
}

// heldSrun has srun under control, called directly or by a script, which holds ranks at their first
// instruction. The servers are another step.
func heldSrun(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter) {
	line := []string{"srun", "-n4", "-N3", slurmMPI[m.name], m.program("ring")}
	if m == mpich {
		line = []string{"sh", s.file("job.sh", "echo begun >&2; srun -n4 -N2 "+slurmMPI[m.name]+" "+m.program("ring")+"; exit $?\n", 0o600)}
	}
	args := append([]string{"run", "--launcher", "mpir", "--starter", "sh", "-b", "-e", "break sum", "-e", "continue",
		"-e", "print mine->last - mine->first", "-e", "delete", "-e", "continue", "--"}, line...)
	front := &console{process: s.on(cluster.Hosts, 0, "sdm", args...), size: 4}
	front.exits(0)
	front.folded("attached, ", "")
	front.says("[0-2] (3) mine->last - mine->first = 25\n[3] mine->last - mine->first = 24\n", "total 4950")
	front.folded("exited normally", "")
}

// ownStarter has a starter that starts its helpers by srun, whose table contains the helpers and
// not the ranks: a launch, and attaches to some and to all ranks, by the starter and by its srun.
func ownStarter(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter) {
	s.env = append(s.env, onOneMachine...)
	args := append([]string{"-n", "4", "-N", "2", program("sdm"), "run"}, hunt...)
	front := &console{process: s.on(cluster.Hosts, 0, "salloc", append(args, "--launcher", "slot", "--", m.command, m.program("ring"))...), size: 4}
	front.exits(0)
	hunted(t, front)

	w := &waiters{s: s, file: filepath.Join(s.dir, "go")}
	w.process = s.on(cluster.Hosts, 0, "salloc", "-n", "4", "-N", "2", "sh", "-c", `echo starter $$; exec "$@"`, "sh", m.command, m.program("mpiwait"), w.file)
	pid := w.after(w.out, "starter ")
	w.allWait(4)
	for _, one := range [][]string{{"1-2", pid}, {"0-3", pid}, {"0-3", strconv.Itoa(s.named("srun")[0].pid)}} {
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-r", one[0], "-e", "up 20", "-e", "stacks", one[1]), size: 4}
		front.exits(0)
		front.says("["+one[0]+"] (", " main mpiwait.c:")
	}
	w.ends(4)
}
