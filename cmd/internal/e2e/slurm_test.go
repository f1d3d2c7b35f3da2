package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
)

// newCluster is a scene on the login node of a Slurm cluster with three nodes.
func newCluster(t *testing.T) (*scene, *launchtest.Slurm) {
	t.Helper()
	cluster := launchtest.UpSlurm(t, 3)
	s := newScene(t)
	s.env = append(s.env, cluster.Env())
	return s, cluster
}

// on starts a program on a fake host.
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

// slurmMPI is how srun starts programs of each MPI.
var slurmMPI = map[string]string{"Open MPI": "--mpi=pmix", "MPICH": "--mpi=pmi2"}

// TestSlurm has a real cluster for all that needs one.
func TestSlurm(t *testing.T) {
	s, cluster := newCluster(t)
	for _, m := range starters {
		t.Run("in an allocation, "+m.name, func(t *testing.T) {
			s := s.sub(t)
			args := append([]string{"-n", "4", "-N", "2", program("sdm"), "run", "-n", "4", "--launcher-arg", slurmMPI[m.name]}, hunt...)
			front := &console{process: s.on(cluster.Hosts, 0, "salloc", append(args, m.program("ring"))...), size: 4}
			front.exits(0)
			hunted(t, front)
		})
		t.Run("srun, "+m.name, func(t *testing.T) {
			s := s.sub(t)
			args := append([]string{"run", "--launcher", "slot"}, hunt...)
			args = append(args, "--", "srun", "-n4", "-N", "3", slurmMPI[m.name], m.program("ring"))
			front := &console{process: s.on(cluster.Hosts, 0, "sdm", args...), size: 4}
			front.exits(0)
			hunted(t, front)
		})
		for _, way := range []string{"", "--per-node --session batch"} {
			t.Run("batch script, "+m.name+" "+way, func(t *testing.T) { batch(t, s.sub(t), cluster, m, way) })
		}
	}
	t.Run("attach by the job's number", func(t *testing.T) { attachByNumber(t, s.sub(t), cluster) })
	t.Run("a job in the queue is cancelled", func(t *testing.T) {
		s := s.sub(t)
		first := s.on(cluster.Hosts, 0, "salloc", "-N3", "--exclusive", "sh", "-c", "echo granted; read end")
		first.after(first.out, "granted")
		front := s.on(cluster.Hosts, 0, "sdm", "run", "-b", "-e", "continue", "--connect-wait", "500ms", "--", "srun", "-n2", "--mpi=none", program("hello"))
		front.after(front.err, "waits in the queue: ") // for much longer than connect-wait
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
		front.says(`{"event":"job","ranks":"","n":0,"state":"starting"`, `"state":"allocated"`, `"state":"held"`, `"state":"ended","status":0}`)
	})
}

// sub is a scene for a part of a test that shares what s has.
func (s *scene) sub(t *testing.T) *scene {
	t.Helper()
	inner := newScene(t)
	inner.env = append(inner.env, s.env[len(s.env)-1])
	return inner
}

// batch is N+1 from a batch script: the console listens on the login node, the
// script starts the master, and srun the servers.
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
	job := s.on(cluster.Hosts, 0, "sbatch", "-W", "-n", "4", "-N", "2", "-o", filepath.Join(s.dir, "out"), script)
	front.exits(0)
	job.exits(0)
	hunted(t, front)
}

// attachByNumber takes a step of which we know the number alone, from the login
// node, twice: in part, and the whole. It runs on to its end.
func attachByNumber(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	end := filepath.Join(s.dir, "end")
	job := s.on(cluster.Hosts, 0, "srun", "-n4", "-N2", "--mpi=none", "sh", "-c",
		fmt.Sprintf("echo job $SLURM_JOB_ID; while [ ! -e %s ]; do sleep 0.1; done; echo done $SLURM_PROCID", end))
	id := job.after(job.out, "job ")
	part := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-r", "1-2", "-e", "ranks", "-e", "detach", "slurm:"+id), size: 2}
	part.exits(0)
	part.says("[1-2] attached, ", "[1-2] detached\n")
	whole := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "info threads", "slurm:"+id+".0"), size: 4}
	whole.exits(0)
	whole.folded("attached, ", "")
	nobody := s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "ranks", "slurm:"+id+".7")
	nobody.exits(3)
	s.file("end", "", 0o600)
	job.exits(0)
	job.says("done 0\n", "done 1\n", "done 2\n", "done 3\n")
}
