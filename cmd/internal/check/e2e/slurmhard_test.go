package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// path puts a directory before the PATH of the processes of a scene.
func (s *scene) path(dir string) {
	s.env = append(s.env, "PATH="+dir+":"+os.Getenv("PATH"))
}

// program writes a script in a directory that is to stand in PATH.
func (s *scene) inPath(name, script string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Join(s.dir, "bin"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.file("bin/"+name, "#!/bin/sh\n"+script, 0o700)
}

// real returns the path of a program of this machine.
func (s *scene) real(name string) string {
	s.t.Helper()
	path, err := s.find(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

// step starts a step of two ranks on each of two nodes that run until end is called.
func (s *scene) step(cluster *launchtest.Slurm, args ...string) (id string, end func()) {
	file := filepath.Join(s.dir, "end")
	line := append([]string{"-n4", "-N2", "--ntasks-per-node=2", "--mpi=none"}, args...)
	job := s.on(cluster.Hosts, 0, "srun", append(line, "sh", "-c",
		fmt.Sprintf("echo job $SLURM_JOB_ID; while [ ! -e %s ]; do sleep 0.1; done; echo done $SLURM_PROCID", file))...)
	id = job.after(job.out, "job ")
	return id, func() {
		s.file("end", "", 0o600)
		job.exits(0)
		job.says("done 0\n", "done 1\n", "done 2\n", "done 3\n")
	}
}

// noInterconnect is an srun that fails, unless an option is given, as on a HPE Slingshot system
// whose nodes have no place for another step in the fabric.
const noInterconnect = `case " $* " in
*" --overlap "*)
	case " $* " in *"%s"*) ;; *)
		echo "srun: error: Unable to create step for job: Error configuring interconnect" >&2
		exit 1;;
	esac;;
esac
exec %s "$@"
`

// hardSlurm attaches to a step whose site or job makes it difficult: the environment would change
// our own steps, the interconnect is full, sattach hangs or is broken.
func hardSlurm(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	srun, sattach := s.real("srun"), s.real("sattach")
	s.path(filepath.Join(s.dir, "bin"))
	id, end := s.step(cluster)
	attach := func(t *testing.T, says ...string) string {
		t.Helper()
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "info hosts", "-e", "info threads", "slurm:"+id), size: 4}
		front.exits(0)
		front.folded("attached, ", "")
		front.says(says...)
		return front.said()
	}
	t.Run("by listing processes", func(t *testing.T) {
		list := s.on(cluster.Hosts, 0, "srun", "--overlap", "--jobid="+id, "--mpi=none", "-N2", "-n2", "scontrol", "listpids", id+".0")
		list.exits(0)
		list.says("        1       3 ")
	})
	before := len(s.env)
	s.env = append(s.env, "SLURM_NTASKS_PER_NODE=3", "SLURM_CPUS_PER_TASK=4", "SLURM_MEM_PER_NODE=400", "SLURM_DISTRIBUTION=plane=2",
		"SLURM_TASK_PROLOG=/nonexistent", "SLURM_WORKING_DIR=/nonexistent", "SLURM_PARTITION=none", "SLURM_GPUS=4")
	s.inPath("srun", fmt.Sprintf(noInterconnect, " --network=no_vni ", srun))
	text := attach(t, "srun has no interconnect left for a step of ours: it starts the servers with --network=no_vni")
	for _, noise := range []string{"configuring interconnect", "cpu binding", "srun: "} {
		if strings.Contains(text, noise) {
			t.Errorf("%q in %s", noise, text)
		}
	}
	s.env = s.env[:before]
	s.inPath("srun", fmt.Sprintf(noInterconnect, "no way", srun))
	s.inPath("ssh", "exec "+filepath.Join(launchtest.Scripts(), "remsh")+` "$@"`)
	attach(t, "even with --network=no_vni: ssh starts the servers")
	os.Remove(filepath.Join(s.dir, "bin/srun"))

	s.inPath("sattach", "[ \"$1\" = --version ] && echo slurm 24.05.2 && exit 0; exit 7")
	attach(t, "sattach of Slurm 24.05.2 crashes: the hosts of step "+id+".0 are asked for its ranks")
	s.inPath("sattach", "[ \"$1\" = --version ] && exec "+sattach+" --version; kill -SEGV $$")
	attach(t, "sattach was ended by a signal (segmentation fault) before its job was there: the hosts of step "+id+".0 are asked")
	end()
}

// ownTmp attaches to ranks whose /tmp is their own, and their program in it, as job_container/tmpfs
// and namespace/tmpfs set it up: a server beside them does not see it at its path.
func ownTmp(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	job := s.on(cluster.Hosts, 0, "srun", "-n2", "-N2", "--mpi=none", "unshare", "-m", "sh", "-c",
		"exec 3<$0 && mount -t tmpfs own /tmp && cat <&3 >/tmp/own-spin && chmod 700 /tmp/own-spin && echo job $SLURM_JOB_ID && exec /tmp/own-spin", program("spin"))
	id := job.after(job.out, "job ")
	front := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "--stage", "/tmp", "-e", "print turns >= 0", "-e", "print stop = 1", "-e", "continue", "slurm:"+id), size: 2}
	front.exits(0)
	front.folded("turns >= 0 = 1", "")
	job.exits(0)
}

// heterogeneous has a job of two components: its ranks are counted through, but each component has
// nodes of its own, and sattach knows only the nodes of the first.
func heterogeneous(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	file := filepath.Join(s.dir, "end")
	wait := fmt.Sprintf("echo job $SLURM_JOB_ID; while [ ! -e %s ]; do sleep 0.1; done; echo done $SLURM_PROCID", file)
	job := s.on(cluster.Hosts, 0, "srun", "-n2", "-N1", "--mpi=none", "sh", "-c", wait, ":", "-n3", "-N2", "--mpi=none", "sh", "-c", wait)
	id := job.after(job.out, "job ")
	for _, target := range []string{"slurm:" + id, fmt.Sprint(job.cmd.Process.Pid)} {
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "info hosts", "-e", "detach", target), size: 5}
		front.exits(0)
		front.says("server 0, ", "server 1, ", "server 2, ", "[0-4] detached\n")
	}
	part := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-r", "3", "-e", "detach", "slurm:"+id+"+1.0"), size: 1}
	part.exits(0)
	part.says("[3] detached\n")
	s.file("end", "", 0o600)
	job.exits(0)
	job.says("done 0\n", "done 4\n")
	front := &console{process: s.on(cluster.Hosts, 0, "sdm", "run", "-b", "-e", "info hosts", "-e", "continue", "--", "srun", "-n1", "-N1", "--mpi=none", program("hello"), ":", "-n2", "-N2", "--mpi=none", program("hello")), size: 3}
	front.exits(0)
	front.folded("exited normally", "")
}

// badProlog has a task prolog that fails: the ranks are never started.
func badProlog(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	prolog := s.file("prolog", "#!/bin/sh\nexit 3\n", 0o700)
	front := s.on(cluster.Hosts, 0, "sdm", "run", "-b", "-e", "continue", "--", "srun", "-n2", "--mpi=none", "--task-prolog="+prolog, program("hello"))
	front.exits(3)
	front.says("a task prolog has failed: ", "--task-prolog failed status=3")
}
