// Ranks that start other processes all the time, while they are attached to.

package e2e

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestAttachWhileRanksFork attaches gdbs to ranks that start children all the time, and detaches them.
// Every child starts, no process stays stopped or traced, and none dies of a breakpoint that it got
// a copy of. The ranks check what each child reports.
func TestAttachWhileRanksFork(t *testing.T) {
	t.Parallel()
	for k, kind := range []string{"processes", openMPI.name} {
		t.Run(kind, func(t *testing.T) {
			s := newScene(t)
			over := s.file("over", "", 0o600)
			if err := os.Remove(over); err != nil {
				t.Fatal(err)
			}
			name, target, jobs := forking(s, kind, over)
			for i, before := range [][]string{{"-e", "interrupt"}, {"-e", "interrupt"}, nil, nil} { // detached while they stand, and while they run
				if !inTurn(i/2+i, k) {
					continue // the gdbs of the other kind of ranks are detached so
				}
				line := []string{"attach", "-b", "--wait", "60s", "--ranks-per-gdb", []string{"1", "4"}[i%2], "-e", "break in_child", "-e", "continue &", "-e", "wait any for 100ms"}
				front := &console{process: s.start("sdm", append(append(line, before...), "-e", "detach", target)...), size: 4}
				front.exits(0)
				front.folded("detached", "")
				s.allFree(name)
			}
			if err := os.WriteFile(over, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, job := range jobs {
				job.exits(0)
			}
		})
	}
}

// forking starts four ranks that start others until a file is there: their name, what sdm attaches to, and who ends with them.
func forking(s *scene, kind, over string) (name, target string, jobs []*process) {
	for _, m := range starters {
		if m.name == kind {
			job := s.start("env", "UNTIL="+over, m.command, "-n", "4", m.program("mpichildren"))
			name = ("mpichildren." + m.compiler)[:15] // what the kernel keeps of it
			s.eventually(patience, func() string {
				if n := len(s.named(name)); n < 4 {
					return strconv.Itoa(n) + " of 4 ranks are there"
				}
				return ""
			})
			return name, strconv.Itoa(job.cmd.Process.Pid), []*process{job}
		}
	}
	var pids []string
	for i := range 4 {
		job := s.start("env", "UNTIL="+over, "SDM_RANK="+strconv.Itoa(i), program("children"))
		jobs, pids = append(jobs, job), append(pids, strconv.Itoa(job.cmd.Process.Pid))
	}
	return "children", "pids:" + strings.Join(pids, ","), jobs
}

// allFree waits until no process of this name is traced or stopped.
func (s *scene) allFree(name string) {
	s.t.Helper()
	s.eventually(patience, func() string {
		for _, p := range s.named(name) {
			if p.held() {
				return p.String() + " is held"
			}
		}
		return ""
	})
}
