package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestJobEvents checks that every front end is told the states of the job, regardless of who has
// started it, and that every line is JSON. A job that the script kills has not failed.
func TestJobEvents(t *testing.T) {
	t.Parallel()
	commands := []string{"--format", "ndjson", "-b", "-e", "continue"}
	run := append([]string{"run"}, commands...)
	for name, c := range map[string]struct {
		start  func(s *scene) *console
		status int
		want   string
	}{
		"ranks of our own": {func(s *scene) *console {
			return &console{process: s.start("sdm", append(run, "-n", "2", program("exitcode"), "3")...)}
		}, 1, "held, running, ended 3"},
		"a starter under control": {func(s *scene) *console {
			return &console{process: s.start("sdm", append(run, "--", openMPI.command, "-n", "2", openMPI.program("ring"))...)}
		}, 0, "starting, held, running, ended 0, ended 0: the starter has ended"},
		"a starter's job that is killed": {func(s *scene) *console {
			return &console{process: s.start("sdm", "run", "--format", "ndjson", "-b", "-e", "kill", "--", openMPI.command, "-n", "2", openMPI.program("ring"))}
		}, 0, "starting, held, ended 1: 0-1 ended by SIGKILL, ended 137: the starter has ended"},
		"the slots of a starter": {func(s *scene) *console {
			return &console{process: s.start("sdm", append(run, "--", mpich.command, "-n", "2", mpich.program("ring"))...)}
		}, 0, "starting, held, running, ended 0, ended 0: the starter has ended"},
		"behind a master": {func(s *scene) *console {
			front, addr := s.listen(2, commands...)
			s.env = append(s.env, "SLURM_JOB_ID=4711")
			_, meet := s.rendezvous(addr)
			s.mpirun(mpich, 2, "sdm-server", "--rendezvous", meet, "--", mpich.program("ring"))
			return front
		}, 0, "4711 starting, 4711 held, 4711 running, 4711 ended 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := c.start(newScene(t))
			front.exits(c.status)
			if got := jobStates(t, front.out.text()); got != c.want {
				t.Errorf("%s, want %s%s", got, c.want, front.said())
			}
		})
	}
}

// jobStates returns the states of the job in NDJSON.
func jobStates(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for _, line := range strings.Split(text, "\n") {
		var e struct {
			Event, State, Job, Text string
			Status                  *int
		}
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Event != "job" {
			continue
		}
		word := strings.TrimSpace(e.Job + " " + e.State)
		if e.Status != nil {
			word += fmt.Sprintf(" %d", *e.Status)
		}
		if e.State == "ended" && e.Text != "" {
			word += ": " + e.Text
		}
		all = append(all, word)
	}
	return strings.Join(all, ", ")
}
