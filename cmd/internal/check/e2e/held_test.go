package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// openMPI is the starter that offers MPIR, mpich the one that does not.
var (
	openMPI = starters[0]
	mpich   = starters[1]
)

// heldRun runs sdm run with a starter's line, as a user does.
func (s *scene) heldRun(n int, args ...string) *console {
	s.t.Helper()
	return &console{process: s.start("sdm", append([]string{"run"}, args...)...), size: n}
}

// waiters is a job that waits for a file.
type waiters struct {
	*process
	s    *scene
	file string
}

// waits starts a job of n ranks and returns when all of them wait.
func (s *scene) waits(m starter, n int, more ...string) *waiters {
	s.t.Helper()
	w := &waiters{s: s, file: filepath.Join(s.dir, "go")}
	args := append(append([]string{"-n", strconv.Itoa(n)}, more...), m.program("mpiwait"), w.file)
	w.process = s.start(m.command, args...)
	w.allWait(n)
	return w
}

// allWait returns when n ranks wait.
func (w *waiters) allWait(n int) {
	w.s.t.Helper()
	w.s.eventually(patience, func() string {
		if got := strings.Count(w.out.text(), " waits\n"); got < n {
			return fmt.Sprintf("%d of %d ranks wait%s", got, n, w.said())
		}
		return ""
	})
}

// ends lets the job continue. It must end as it does without a debugger.
func (w *waiters) ends(n int) {
	w.t.Helper()
	for _, p := range w.s.named("mpiwait.mpicc.o") {
		if p.tracer != 0 {
			w.t.Errorf("%v is still traced", p)
		}
	}
	w.s.file("go", "", 0o600)
	w.exits(0)
	if want := fmt.Sprintf("%d of %d ranks counted\n", n, n); !strings.Contains(w.out.text(), want) {
		w.t.Errorf("no %q in%s", want, w.said())
	}
}

// TestRunHoldsAndReleases runs sdm run of mpirun: all ranks are held in MPI_Init, and the output is
// the same as without a debugger.
func TestRunHoldsAndReleases(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	alone := s.start(openMPI.command, "-n", "4", openMPI.program("ring"))
	alone.exits(0)
	front := s.heldRun(4, "-b", "-e", "stacks", "-e", "break sum", "-e", "continue", "-e", "print mine->last - mine->first",
		"-e", "delete", "-e", "continue", "--", openMPI.command, "-n", "4", openMPI.program("ring"))
	front.exits(0)
	front.says("[0-3] (4) main ring.c:", "PMPI_Init", "[0-2] (3) mine->last - mine->first = 25\n[3] mine->last - mine->first = 24\n")
	front.folded("exited normally", "")
	if line := alone.out.text(); strings.Count("\n"+front.out.text(), "\n"+line) != 1 {
		t.Errorf("%q is not once in%s", line, front.said())
	}
	said := regexp.MustCompile(`(?m)^sdm: waiting for .*\n`).ReplaceAllString(front.err.text(), "") // it may be slow
	if with, without := withoutPIDs(said), withoutPIDs(alone.err.text()); !slices.Equal(with, without) {
		t.Errorf("standard error %q, without us %q", with, without)
	}
}

// withoutPIDs returns the sorted lines of a text without the process ids that Open MPI prints in brackets.
func withoutPIDs(text string) []string {
	lines := strings.Split(regexp.MustCompile(`:[0-9]+\]`).ReplaceAllString(text, "]"), "\n")
	slices.Sort(lines)
	return lines
}

// TestStarterUnderControlBehaves checks that standard input, exit status and output of the starter
// are its own.
func TestStarterUnderControlBehaves(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(1, "-b", "-e", "continue", "--", openMPI.command, "-n", "1", openMPI.program("mpiecho"))
	fmt.Fprint(front.in, "one\ntwo\n")
	front.in.Close()
	front.exits(9)
	front.says("one\ntwo\nend of file after 2 lines\n")
}

// TestRunFollowsScripts runs scripts that call the starter, and one that replaces itself by it.
func TestRunFollowsScripts(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	for name, text := range map[string]string{
		"calls.sh":   "#!/bin/sh\necho from $0 >&2\nmpirun.openmpi \"$@\"\nstatus=$?\nexit $status\n",
		"becomes.sh": "#!/bin/sh\nexec mpirun.openmpi \"$@\"\n",
	} {
		script := s.file(name, text, 0o700)
		front := s.heldRun(2, "-b", "-e", "break sum", "-e", "continue", "-e", "delete", "-e", "continue",
			"--starter", name, "--", script, "-n", "2", openMPI.program("ring"))
		front.exits(0)
		front.folded("Breakpoint 1, sum (mine=", " at ring.c:"+strconv.Itoa(lineOf(t, "ring.c", "long s = 0;")))
		front.says("total 4950")
	}
}

// TestRunOfAStarterWithoutMPIR checks that slots are used without a message. If a script has called
// the starter, sdm tells what to do.
func TestRunOfAStarterWithoutMPIR(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(4, append(hunt, "--", mpich.command, "-n", "4", mpich.program("ring"))...)
	front.exits(0)
	hunted(t, front)
	script := s.file("job.sh", "#!/bin/sh\nexec mpiexec.mpich -n 2 \"$@\"\n", 0o700)
	front = s.heldRun(2, "-b", "-e", "continue", "--starter", "job.sh", "--", script, mpich.program("ring"))
	front.exits(3)
	front.says("offers debuggers no MPIR interface", "sdm run -- mpiexec.hydra -n N PROGRAM")
	front = s.heldRun(2, "-b", "-e", "continue", "--launcher", "mpir", "--", mpich.command, "-n", "2", mpich.program("ring"))
	front.exits(3)
	front.says("offers debuggers no MPIR interface")
}

// TestHeldJobThatCannotBeDebuggedDoesNotRun checks that the job ends where it is held if no server
// registers.
func TestHeldJobThatCannotBeDebuggedDoesNotRun(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(2, "-b", "-e", "continue", "--connect-wait", "3s", "--starter-args", "-x NOBODY_READS={daemon}",
		"--", openMPI.command, "-n", "2", openMPI.program("ring"))
	front.exits(4)
	front.says("no server has registered: ", "the server has not registered in ", "s (of --connect-wait, which gdbs have a part of) (the starter was to start them;")
	if text := front.out.text(); strings.Contains(text, "total") {
		t.Errorf("it ran%s", front.said())
	}
	front = s.heldRun(2, "-b", "-e", "continue", "-r", "2", "--", openMPI.command, "-n", "2", openMPI.program("ring"))
	front.exits(3)
	if text := front.out.text(); strings.Contains(text, "total") {
		t.Errorf("it ran%s", front.said())
	}
}

// TestCtrlCStopsTheRanksNotTheStarter checks that the starter, which is in a session of its own,
// goes on, and that it ends its ranks at the end.
func TestCtrlCStopsTheRanksNotTheStarter(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.sit("sdm", "run", "--fold", "20s", "--", openMPI.command, "-n", "4", openMPI.program("mpiwait"), filepath.Join(s.dir, "go"))
	c.until(prompt)
	c.press(ctrlC) // the ranks are stopped
	c.enter("continue")
	for range 4 {
		c.until(" waits\r\n") // output of the starter
	}
	c.press(ctrlC)
	c.until("[0-3] interrupted")
	if starters := s.named("mpirun.openmpi"); len(starters) != 1 && len(s.named("orterun")) != 1 && len(s.named("prterun")) != 1 {
		t.Errorf("starters: %v of %v", starters, s.found())
	}
	c.until(prompt)
	c.enter("continue")
	s.file("go", "", 0o600)
	c.until("4 of 4 ranks counted")
	c.until("exited normally")
	c.enter("quit")
	c.exits(0)
}

// TestCtrlCBeforeTheRanksAreThere ends the starter.
func TestCtrlCBeforeTheRanksAreThere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	script := s.file("job.sh", "#!/bin/sh\necho begun\nexec sleep 1000\n", 0o700)
	c := s.sit("sdm", "run", "--starter", "job.sh", "--", script)
	c.until("begun")
	c.press(ctrlC)
	c.exits(130)
	s.nothingIsLeft()
}

// TestQueueWait limits the start of a job that never reaches MPI_Init.
func TestQueueWait(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(2, "--queue-wait", "1s", "-b", "-e", "stacks", "--", openMPI.command, "-n", "2", "sh", "-c", "sleep 60")
	front.exits(3)
	front.says("has not started its job: the time is over (--queue-wait 1s)")
	s.nothingIsLeft()
}

// TestDetachedJobRunsOn checks that sdm waits for the starter when all ranks are detached.
func TestDetachedJobRunsOn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := s.file("there", "", 0o600)
	front := s.heldRun(2, "-b", "-e", "detach", "--", openMPI.command, "-n", "2", openMPI.program("mpiwait"), file)
	front.exits(0)
	front.says("2 of 2 ranks counted")
}

func TestPartialRunLeavesTheOthersFree(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(4, "-b", "-r", "1,3", "-e", "print 6 * 7", "-e", "continue", "--", openMPI.command, "-n", "4", openMPI.program("ring"))
	front.exits(0)
	front.says("[1,3] (2) 6 * 7 = 42", "total 4950")
}

// TestAttachToAStarter finds the ranks by the starter's process, and leaves all as it was.
func TestAttachToAStarter(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.waits(openMPI, 4)
	pid := strconv.Itoa(w.cmd.Process.Pid)
	front := &console{process: s.start("sdm", "attach", "-b", "-e", "up 20", "-e", "stacks", pid), size: 4}
	front.exits(0)
	front.says("[0-3] (4) main mpiwait.c:")
	front = &console{process: s.start("sdm", "attach", "-b", "-r", "1-2", "-e", "ranks", pid), size: 4}
	front.exits(0)
	front.says("[1-2]")
	front = &console{process: s.start("sdm", "attach", "-b", "-r", "4", "-e", "ranks", pid), size: 4}
	front.exits(3)
	front.says("--ranks: rank set \"4\"")
	w.ends(4)
}

// TestAttachBelowAScript finds a starter that a script has called.
func TestAttachBelowAScript(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := filepath.Join(s.dir, "go")
	script := s.file("job.sh", "#!/bin/sh\nmpirun.openmpi -n 2 "+openMPI.program("mpiwait")+" "+file+"\nexit $?\n", 0o700)
	p := s.start("sh", script)
	s.eventually(patience, func() string {
		if strings.Count(p.out.text(), " waits\n") < 2 {
			return "they do not wait" + p.said()
		}
		return ""
	})
	front := &console{process: s.start("sdm", "attach", "-b", "-e", "stacks", strconv.Itoa(p.cmd.Process.Pid)), size: 2}
	front.exits(0)
	front.says("[0-1] (2) main mpiwait.c:")
	(&waiters{process: p, s: s}).ends(2)
}

// TestAttachWithoutMPIR finds the ranks of MPICH by their environment.
func TestAttachWithoutMPIR(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.waits(mpich, 3)
	front := &console{process: s.start("sdm", "attach", "-b", "-e", "stacks", strconv.Itoa(w.cmd.Process.Pid)), size: 3}
	front.exits(0)
	front.says("3 ranks were found below it", "[0-2] (3) main mpiwait.c:")
	w.ends(3)
}

// TestAttachToProcesses checks that processes keep their output, and run on after an orderly end
// and after a forced one.
func TestAttachToProcesses(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var pids []string
	var lines strings.Builder
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p := s.start(program("spin"))
		pids = append(pids, strconv.Itoa(p.cmd.Process.Pid))
		fmt.Fprintf(&lines, "%d %s %s\n", 2-i, host, pids[i])
	}
	file := s.file("ranks", lines.String(), 0o600)
	for _, target := range []string{"pids:" + strings.Join(pids, ","), "hostfile:" + file} {
		front := &console{process: s.start("sdm", "attach", "-b", "-e", "stacks", "--wait", "30s", target), size: 3}
		front.exits(0)
		front.says("main spin.c:")
	}
	front := &console{process: s.start("sdm", "attach", pids[0]), size: 1}
	s.eventually(patience, func() string {
		if !strings.Contains(front.out.text(), "[0] attached") {
			return "not attached" + front.said()
		}
		return ""
	})
	front.signal(syscall.SIGKILL)
	front.exits(128 + int(syscall.SIGKILL))
	s.eventually(patience, func() string {
		for _, p := range s.named("spin") {
			if p.held() {
				return p.String() + " is held"
			}
		}
		if n := len(s.named("spin")); n != 3 {
			return fmt.Sprintf("%d of 3 run", n)
		}
		return ""
	})
	for _, p := range s.named("spin") {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// TestRanksInWrappers has ranks that are started by a shell, which timeout starts in the slot. They are found
// when sdm attaches to the job, and when the job is held by a starter that timeout starts, too.
func TestRanksInWrappers(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			s := newScene(t)
			w := &waiters{s: s, file: filepath.Join(s.dir, "go")}
			line := []string{"-n", "2", "timeout", "600", "sh", "-c", m.program("mpiwait") + " " + w.file + " | cat; true"}
			w.process = s.start(m.command, line...)
			w.allWait(2)
			front := &console{process: s.start("sdm", "attach", "-b", "-e", "up 20", "-e", "stacks", "-e", "info hosts", strconv.Itoa(w.cmd.Process.Pid)), size: 2}
			front.exits(0)
			front.says("the rank is mpiwait."+m.compiler+", run by timeout\n", "[0-1] (2) main mpiwait.c:", "stopped, "+m.program("mpiwait"))
			w.ends(2)
			if m.name != openMPI.name || !offersMPIR() {
				return
			}
			held := s.heldRun(2, append([]string{"-b", "-e", "up 20", "-e", "stacks", "-e", "continue", "--", "timeout", "600", m.command}, line...)...)
			held.exits(0)
			held.says("[0-1] (2) main mpiwait.c:", "2 of 2 ranks counted")
			held.folded("exited normally", "")
		})
	}
}

// TestAttachRefusals checks the one-line messages of invalid attaches.
func TestAttachRefusals(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	bad := s.file("bad", "0 host\n", 0o600)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "attach to what?"},
		{[]string{"1", "2"}, 2, "one job at a time"},
		{[]string{"nonsense"}, 2, `"nonsense" is no job`},
		{[]string{"999999999"}, 3, "there is no process 999999999"},
		{[]string{"pids:1,x"}, 2, `"x" is not a process id`},
		{[]string{"hostfile:" + bad}, 2, "line 1"},
		{[]string{"hostfile:/no/such"}, 2, "no such file"},
		{[]string{"job:7"}, 2, "--start-tool"},
		{[]string{"pids:999999999"}, 3, "there is no such process, or no longer (process 999999999 on"},
	} {
		front := s.start("sdm", append([]string{"attach", "-b", "-e", "ranks"}, c.args...)...)
		front.exits(c.status)
		if !strings.Contains(front.err.text()+front.out.text(), c.want) {
			t.Errorf("%v: no %q in%s", c.args, c.want, front.said())
		}
	}
}
