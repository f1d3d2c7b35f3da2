package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestQuitEndsAHeldJob checks that the end of the session is the end of the job, because sdm has
// started it.
func TestQuitEndsAHeldJob(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, keep := range []string{"0", "1h"} { // 1h: the session is a process of its own, as at a terminal
		front := s.heldRun(2, "--keep", keep, "-b", "-e", "continue &", "-e", "quit", "--", openMPI.command, "-n", "2", openMPI.program("mpiwait"), "never")
		front.exits(0)
		s.nothingIsLeft()
	}
}

// TestQuitHoldsTheRanks checks that stopped ranks are not resumed by quit, even while their starter
// ends them slowly.
func TestQuitHoldsTheRanks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	marks := filepath.Join(s.dir, "marks")
	front := s.heldRun(2, "--keep", "1h", "-b", "-e", "break mark", "-e", "continue", "-e", "quit", "--", openMPI.command, "-n", "2", openMPI.program("marks"), marks)
	front.exits(0)
	front.folded("Breakpoint 1, mark", "")
	s.nothingIsLeft()
	if written, err := os.ReadFile(marks); err == nil {
		t.Errorf("%d marks were written after the end of the session", len(written))
	}
}

// TestKilledWithAHeldJob checks that neither the starter nor its ranks survive sdm.
func TestKilledWithAHeldJob(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(2, "--", openMPI.command, "-n", "2", openMPI.program("mpiwait"), "never")
	s.eventually(patience, func() string {
		// They may have stopped at different places.
		text := front.out.text()
		if !strings.Contains(text, "[0-1] ") && (!strings.Contains(text, "[0] attached") || !strings.Contains(text, "[1] attached")) {
			return "not attached" + front.said()
		}
		return ""
	})
	front.signal(syscall.SIGKILL)
	front.exits(128 + int(syscall.SIGKILL))
	s.nothingIsLeft()
}

// TestHeldJobAfterAKill checks that the starter ends the job and cleans up whenever sdm is killed,
// although the ranks ignore signals, and also when a server is killed during the attach.
func TestHeldJobAfterAKill(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		name, process string // a regular expression; it must run
		victim        string
	}{
		{"as the starter begins", aStarter, "sdm"},
		{"as ranks begin", "^mpiwait", "sdm"},
		{"as gdbs begin", "^gdb", "sdm"},
		{"a server as gdbs begin", "^gdb", "sdm-server"},
	} {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			// If sdm is killed just before the starter comes to its breakpoint, no process removes that in time.
			const maxTries = 3
			for try := 1; ; try++ {
				left, took := killWithHeldJob(t, at.process, at.victim)
				switch {
				case left == nil || at.process == aStarter:
				case took > 9*time.Second:
					// Rare: Open MPI is told to end while it starts ranks.
					t.Logf("the starter did not end in 10 s, was killed, and has left %v", left)
				case try < maxTries:
					t.Logf("the starter has left %v; once more", left)
					continue
				default:
					t.Errorf("%d times the starter has left files: %v", maxTries, left)
				}
				return
			}
		})
	}
}

// killWithHeldJob kills a victim when a process runs, and checks that everything ends. It returns the files of
// Open MPI that are left, and the time since the kill.
func killWithHeldJob(t *testing.T, running, victim string) (left []string, took time.Duration) {
	t.Helper()
	s := newScene(t)
	// Slots wait as long as --connect-wait.
	front := s.heldRun(2, "-b", "-e", "continue", "--connect-wait", "10s", "--", openMPI.command, "-n", "2",
		"sh", "-c", `trap "" TERM INT HUP; exec "$@"`, "sh", openMPI.program("mpiwait"), "never")
	process := regexp.MustCompile(running)
	s.eventually(patience, func() string {
		if !slices.ContainsFunc(s.found(), func(p proc) bool { return process.MatchString(p.name) }) {
			return "there is no " + running + front.said()
		}
		return ""
	})
	for _, p := range s.named(victim) {
		s.kill(p.pid, syscall.SIGKILL)
	}
	if victim != "sdm" && front.running() {
		s.eventually(patience, func() string { return waitsForStarter(front) })
		if front.running() {
			front.signal(syscall.SIGTERM)
		}
	}
	killed := time.Now()
	if status := front.status(patience); status == 0 {
		t.Errorf("all is well%s", front.said())
	}
	s.eventually(keeperTime, func() string {
		if left := s.found(); len(left) > 0 {
			return fmt.Sprintf("processes are left: %v", left)
		}
		return ""
	})
	left, _ = filepath.Glob(filepath.Join(s.dir, "ompi.*"))
	return left, time.Since(killed)
}

// aStarter matches mpirun, which Open MPI from release 5 on replaces by prterun.
const aStarter = "^(mpirun|prterun)"

// keeperTime is longer than the time that a starter has to end its job.
const keeperTime = 15 * time.Second

// waitsForStarter returns what is missing until sdm waits only for the starter.
func waitsForStarter(front *console) string {
	if front.running() && !strings.Contains(front.err.text(), "run on without a debugger") {
		return "neither ended nor waiting for the starter" + front.said()
	}
	return ""
}
