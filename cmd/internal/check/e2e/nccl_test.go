package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
)

// ncclJob starts a stand-in for a job of NCCL in which a rank reads a FIFO. pids are those of its ranks.
func (s *scene) ncclJob(port, fifo string, more ...string) (job *process, pids []string) {
	s.t.Helper()
	fifo = filepath.Join(s.dir, fifo)
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		s.t.Fatal(err)
	}
	line := append([]string{filepath.Join(launchtest.Scripts(), "../nccl/job.py"), "--port", port, "--fifo", fifo}, more...)
	job = s.start("python3", line...)
	return job, strings.Fields(job.after(job.out, "ready"))
}

// TestNCCL finds the processes of a job by a stand-in for NCCL's RAS, and the rank for which the others wait; and two
// jobs at one port.
func TestNCCL(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	port := fmt.Sprint(s.freePort())
	target := "nccl:localhost:" + port
	job, _ := s.ncclJob(port, "shard", "--behind", "3", "--at", "5")
	const verdict = "so far: 0-2 wait in AllReduce number 6 on communicator 0xae94423cfbb2ef4a (4) for 3; 3 waits in open of "
	waits := s.start("sdm", "waits", target)
	waits.exits(0)
	waits.says(verdict, "in load (job.py:", "[0-2] (3) AllReduce number 6 on communicator 0xae94423cfbb2ef4a (4)\n")
	var attach *process
	// On a busy machine a single look cannot read ranks that wait for a processor.
	for tries := 0; tries < 5 && (attach == nil || !strings.Contains(attach.out.text(), verdict)); tries++ {
		attach = s.start("sdm", "attach", "-b", "-e", "ranks", "-e", "stacks", target)
		attach.exits(0)
	}
	attach.says(verdict, "all_reduce job.py:", "load job.py:", "watched")

	other, pids := s.ncclJob(port, "other", "--behind", "1", "--at", "7", "--np", "2", "--hash", "0xb")
	two := s.start("sdm", "waits", target)
	two.exits(3)
	two.says("several jobs answer at port "+port+": one of ", "(name one by a process: "+target+"@PID)")
	one := s.start("sdm", "waits", target+"@"+pids[0])
	one.exits(0)
	one.says("so far: 0 waits in AllReduce number 8 on communicator 0xb (2) for 1; 1 waits in open of ")
	for _, p := range []*process{job, other} {
		p.signal(syscall.SIGTERM)
		p.exits(0)
	}
	nobody := s.start("sdm", "waits", target)
	nobody.exits(3)
	nobody.says("nobody listens on port " + port)
}
