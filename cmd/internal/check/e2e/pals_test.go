package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// palsScene is a scene with the stand-ins for PALS and PBS (testdata/pals), whose nodes are fake
// hosts. The first one has the batch script.
type palsScene struct {
	*scene
	hosts *launchtest.Hosts
	state string // the folder of the stand-ins
	nodes string // PBS_NODEFILE of the job
}

// palsJob is the job of PBS in which all that is started runs.
const palsJob = "12.pbs"

func newPALS(t *testing.T, h *launchtest.Hosts, nodes int) *palsScene {
	t.Helper()
	s := &palsScene{scene: newScene(t), hosts: h}
	s.state = filepath.Join(s.dir, "pals")
	for _, sub := range []string{"apps", "pbs"} {
		if err := os.MkdirAll(filepath.Join(s.state, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for i := range nodes {
		names = append(names, h.Host(i))
	}
	s.nodes = s.file("pals/pbs/"+palsJob, strings.Join(names, "\n")+"\n", 0o600)
	s.file("pals/pbs/13.pbs", "", 0o600) // it is queued
	s.file("pals/on", filepath.Join(launchtest.Scripts(), "on"), 0o600)
	s.file("pals/version", "1.6.0", 0o600)
	s.file("pals/env", s.env[0], 0o600) // of what palscmd starts
	s.env = append(s.env, "PALS_STANDIN="+s.state, "PATH="+palsPrograms()+":"+filepath.Join(launchtest.Scripts(), "../pals")+":"+bench+":"+os.Getenv("PATH"))
	for i := range nodes { // the directory of palscp
		s.on(h, i, "sh", "-c", "mkdir -p /var/run/palsd && mount -t tmpfs -o noexec none /var/run/palsd").exits(0)
	}
	return s
}

// palsPrograms is the directory of the stand-in for mpiexec.
func palsPrograms() string { return program("pals") }

// inJob adds what PBS sets for the batch script.
func (s *palsScene) inJob() {
	s.env = append(s.env, "PBS_NODEFILE="+s.nodes, "PBS_JOBID="+palsJob)
}

// mpiexec starts an application on the first node, and waits until its ranks run. held are
// variables of its environment.
func (s *palsScene) mpiexec(env []string, args ...string) *process {
	s.t.Helper()
	argv := append(append([]string{"PBS_NODEFILE=" + s.nodes, "PBS_JOBID=" + palsJob}, env...), filepath.Join(palsPrograms(), "mpiexec"))
	p := s.on(s.hosts, 0, "env", append(argv, args...)...)
	s.eventually(patience, func() string {
		if found, _ := filepath.Glob(filepath.Join(s.state, "apps", "*", "ranks")); len(found) == 0 {
			return "there are no ranks"
		}
		return ""
	})
	return p
}

// apid returns the name of the only application.
func (s *palsScene) apid() string {
	s.t.Helper()
	found, _ := filepath.Glob(filepath.Join(s.state, "apps", "*")) // the pattern is valid
	if len(found) != 1 {
		s.t.Fatalf("applications: %v", found)
	}
	return filepath.Base(found[0])
}

func (s *palsScene) sdm(host, size int, args ...string) *console {
	s.t.Helper()
	return &console{process: s.on(s.hosts, host, "sdm", args...), size: size}
}

// palsRank is a command that prints the rank which PALS has given to a process.
const palsRank = `print (int)atoi((char*)getenv("PALS_RANKID"))`

// visible is the variable without which PALS hides an application on a single node.
var visible = []string{"PALS_LOCAL_LAUNCH=0"}

// TestPALS attaches to jobs of PALS on two nodes, from a third one that is the login node, and has
// mpiexec hold them. PALS and PBS are stand-ins.
func TestPALS(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	const login = 2
	t.Run("attach", func(t *testing.T) {
		s := newPALS(t, h, 2)
		job := s.mpiexec(nil, "-n", "4", program("spin"))
		front := s.sdm(login, 4, "attach", "-b", "-e", palsRank, "-e", "info hosts", "-e", "stacks", "pbs:12")
		front.exits(0)
		front.says(`[0] (int)atoi((char*)getenv("PALS_RANKID")) = 0`, `[3] (int)atoi((char*)getenv("PALS_RANKID")) = 3`,
			"(4) main spin.c:", "[0-1] (2) "+h.Host(0)+":", "[2-3] (2) "+h.Host(1)+":")
		outside := s.sdm(login, 4, "attach", "-b", "-e", "stacks", "pals:"+s.apid())
		outside.exits(3)
		outside.says("not found", "outside of its job give pbs:JOBID:"+s.apid())
		s.sdm(login, 4, "attach", "-b", "-e", "stacks", "pbs:12:"+s.apid()).exits(0)
		s.inJob()
		some := s.sdm(0, 1, "attach", "-b", "-r", "2", "-e", palsRank, "pals:"+s.apid())
		some.exits(0)
		some.says(`[2] (int)atoi((char*)getenv("PALS_RANKID")) = 2`)
		byPID := s.sdm(0, 4, "attach", "-b", "-e", "stacks", "-e", "set var stop = 1", fmt.Sprint(job.cmd.Process.Pid))
		byPID.exits(0)
		byPID.says("(4) main spin.c:")
		job.exits(0)
	})
	t.Run("run", func(t *testing.T) {
		s := newPALS(t, h, 2)
		s.inJob()
		front := s.sdm(0, 4, "run", "-b", "-e", "break main", "-e", "continue", "-e", palsRank, "-e", "delete", "-e", "continue",
			"--launcher", "mpir", "--", "mpiexec", "-n", "4", program("exitcode"), "3")
		front.exits(3)
		front.says("Breakpoint 1, main", `[3] (int)atoi((char*)getenv("PALS_RANKID")) = 3`)
		front.folded("exited with code 3", "")
	})
	t.Run("one node", func(t *testing.T) {
		s := newPALS(t, h, 2)
		hidden := s.mpiexec(nil, "-n", "2", "--ppn", "2", program("spin"))
		front := s.sdm(login, 2, "attach", "-b", "-e", "stacks", "pbs:12")
		front.exits(3)
		front.says("pbs:12: palstat shows no application of job 12 on " + h.Host(0) + ": one that has a single node is shown only if it was started with PALS_LOCAL_LAUNCH=0")
		here := s.sdm(0, 2, "attach", "-b", "-e", "stacks", "-e", "set var stop = 1", fmt.Sprint(hidden.cmd.Process.Pid))
		here.exits(0)
		here.says("(2) main spin.c:")
		hidden.exits(0)
		shown := s.mpiexec(visible, "-n", "2", "--ppn", "2", program("spin"))
		front = s.sdm(login, 2, "attach", "-b", "-e", "stacks", "-e", "set var stop = 1", "pbs:12")
		front.exits(0)
		front.says("(2) main spin.c:")
		shown.exits(0)
	})
	t.Run("held at the barrier of a batch job", func(t *testing.T) {
		s := newPALS(t, h, 2)
		job := s.mpiexec([]string{"PALS_STARTUP_BARRIER=1"}, "-n", "2", "--ppn", "1", program("exitcode"), "0")
		front := s.sdm(login, 2, "attach", "-b", "-e", "break main", "-e", "continue", "-e", "delete", "-e", "continue", "pbs:12")
		front.exits(0)
		front.says("Breakpoint 1, main")
		front.folded("exited normally", "")
		job.exits(0)
	})
	if *allWays {
		t.Run("staged", func(t *testing.T) {
			s := newPALS(t, h, 2)
			s.mpiexec(nil, "-n", "2", "--ppn", "1", program("spin"))
			// The servers are where the nodes cannot see them. So palscp must bring them, to the
			// first node, too, and out of its folder, from which nothing can be executed.
			front := &console{process: s.on(h, login, unraced("sdm"), "attach", "--stage", "/tmp/node", "--format", "ndjson", "pbs:12"), size: 2}
			front.standing()
			if n := s.stagedServers(); n != 2 {
				t.Errorf("%d servers run from node-local storage%s", n, front.said())
			}
			front.do("set var stop = 1")
			front.do("continue")
			front.quit()
			s.nothingStaged(h, 0, 1)
		})
	}
	if *allWays {
		t.Run("refusals", func(t *testing.T) {
			s := newPALS(t, h, 2)
			for _, c := range []struct {
				target, want string
				status       int
			}{
				{"pbs:13", "pbs:13: job 13 has no nodes (state Q): Not Running: Insufficient amount of resource: ncpus", 3},
				{"pbs:99", "qstat: Unknown Job Id 99", 3},
				{"pbs:x", `"x" is no job of PBS`, 2},
				{"pals:12", `"12" is no application of PALS`, 2},
			} {
				bad := s.sdm(login, 1, "attach", "-b", "-e", "stacks", c.target)
				bad.exits(c.status)
				bad.says(c.want)
			}
			job := s.mpiexec(nil, "-n", "2", "--ppn", "1", program("spin"))
			// Servers that end at once are noticed, though palscmd does not tell.
			env := s.env
			s.file("palscmd", "#!/bin/sh\nexec "+filepath.Join(launchtest.Scripts(), "../pals/palscmd")+" $1 $2 $3 false\n", 0o700)
			s.env = append(s.env, "PATH="+s.dir+":"+filepath.Join(launchtest.Scripts(), "../pals")+":"+os.Getenv("PATH"))
			front := s.sdm(login, 2, "attach", "-b", "-e", "stacks", "pbs:12")
			front.exits(4)
			front.says("the server was started by palscmd and has ended")
			s.env = env
			front = s.sdm(login, 2, "attach", "-b", "-e", "set var stop = 1", "pbs:12")
			front.exits(0)
			job.exits(0)
		})
	}
}
