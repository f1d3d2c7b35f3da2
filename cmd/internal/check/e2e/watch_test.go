package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
	"sdm/master/hangfile"
)

// watched is a job of hang.c under sdm watch, whose output goes to files, as in a batch job.
type watched struct {
	*process
	s *scene
}

// watch starts a shell that becomes sdm watch.
func (s *scene) watch(flags, line string) *watched {
	s.t.Helper()
	return &watched{s.start("sh", "-c", "exec "+unraced("sdm")+" watch "+flags+" -- "+line+" > out 2> err"), s}
}

// text returns what is in a file of the scene so far.
func (s *scene) text(name string) string {
	b, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(b)
}

// ranks waits for the processes of n ranks of hang.c.
func (w *watched) ranks(n int) (pids map[int]int) {
	w.s.t.Helper()
	line := regexp.MustCompile(`rank (\d+) pid (\d+)\n`)
	w.s.eventually(patience, func() string {
		pids = map[int]int{}
		for _, f := range line.FindAllStringSubmatch(w.s.text("out"), -1) {
			rank, _ := strconv.Atoi(f[1])
			pids[rank], _ = strconv.Atoi(f[2])
		}
		if len(pids) < n {
			return "the ranks are not there: " + w.s.text("out") + w.s.text("err")
		}
		return ""
	})
	return pids
}

// file waits for hang file n, from 1, and reads it. Names do not overwrite one another.
func (w *watched) file(n int) *hangfile.File {
	w.s.t.Helper()
	path := filepath.Join(w.s.dir, "hang")
	if n > 1 {
		path += "-" + strconv.Itoa(n)
	}
	var f *hangfile.File
	w.s.eventually(patience, func() string {
		var err error
		if f, err = hangfile.ReadFile(context.Background(), path); err != nil {
			return err.Error() + "\n" + w.s.text("err")
		}
		return ""
	})
	if f == nil {
		w.s.t.FailNow()
	}
	return f
}

// noFile checks that there is no hang file.
func (w *watched) noFile() {
	w.s.t.Helper()
	if f, err := hangfile.ReadFile(context.Background(), filepath.Join(w.s.dir, "hang")); err == nil {
		w.s.t.Errorf("there is a hang file: %+v", f.Reason)
	}
}

// TestWatch has sdm watch jobs that hang, crash, abort, end, and are ended.
func TestWatch(t *testing.T) {
	t.Parallel()
	for k, m := range starters {
		line := m.command + " -n 5 " + m.program("hang") + " "
		t.Run(m.name, func(t *testing.T) {
			t.Run("stall", func(t *testing.T) { watchStall(t, line+"tag") })
			if inTurn(0, k) {
				t.Run("crash", func(t *testing.T) { watchCrash(t, line+"tag") })
			}
			if inTurn(1, k) {
				t.Run("killed", func(t *testing.T) { watchIsKilled(t, line+"tag") })
			}
			if inTurn(0, k) {
				t.Run("ends", func(t *testing.T) { watchEnds(t, m) })
				t.Run("late", func(t *testing.T) { watchLate(t, m) })
			}
			if inTurn(1, k) {
				t.Run("naps", func(t *testing.T) { watchNaps(t, m.command+" -n 3 "+m.program("naps")) })
			}
		})
	}
}

// watchStall ends a job at a stall, and asks gdb for values before.
func watchStall(t *testing.T, line string) {
	var s *scene
	var f *hangfile.File
	// On a busy machine ranks that spin cannot always be held together; then it is rightly not certain.
	for try := 0; try < 3 && (f == nil || len(f.Verdict) == 1 && !f.Verdict[0].Certain); try++ {
		s = newScene(t)
		w := s.watch(`--stall 1.5s --on-stall kill -o hang --also 'print rank' --exec 'echo $SDM_HANG_REASON: $SDM_HANG_FILE'`, line)
		w.exits(5)
		f = w.file(1)
	}
	if len(f.Verdict) != 1 || !f.Verdict[0].Certain || f.Verdict[0].Kind != "deadlock" {
		t.Errorf("the verdict is %+v", f.Verdict)
	}
	if f.Reason.Kind != hangfile.Stall || len(f.Stacks) == 0 || f.Ranks.String() != "0-4" || len(f.Hosts) == 0 || len(f.States) != 1 || f.States[0].State != "watched" {
		t.Errorf("%+v", f)
	}
	of := map[string]string{}
	for _, v := range f.Versions {
		of[v.Of] = v.Text
	}
	if mpi := of["MPI"]; !strings.HasPrefix(mpi, "Open MPI ") && !strings.HasPrefix(mpi, "MPICH ") || of["gdb"] == "" || f.Job.Launcher != "mpirun" && f.Job.Launcher != "mpiexec" {
		t.Errorf("the versions are %q, the launcher %q", of, f.Job.Launcher)
	}
	if len(f.Values) != 1 || len(f.Values[0].Answers) != 1 || !strings.Contains(string(f.Values[0].Answers[0].AppendJSON(nil)), `"max":{"value":4,"rank":4}`) {
		t.Errorf("the values are %+v", f.Values)
	}
	if out := f.Output.Events; len(out) == 0 || !strings.Contains(string(out[0].Group.Body), "rank 3 pid ") {
		t.Errorf("the output is %+v", out)
	}
	if out := s.text("out"); strings.Count(out, "rank ") != 5 || !strings.Contains(out, "stall: hang\n") {
		t.Errorf("standard output is\n%s", out)
	}
	if said := s.text("err"); !strings.Contains(said, "sdm: watch: stall: no progress for ") || !strings.Contains(said, "certain: deadlock: ") || !strings.Contains(said, "written: hang\nwritten: hang.html\n") {
		t.Errorf("standard error is\n%s", said)
	}
}

// watchCrash has a rank of a job that has stalled crash.
func watchCrash(t *testing.T, line string) {
	s := newScene(t)
	w := s.watch("--stall 1.5s -o hang", line)
	pids := w.ranks(5)
	w.file(1)
	s.eventually(patience, func() string { // except for an instant of a sample
		for rank, pid := range pids {
			if p := look(pid); p.held() {
				return fmt.Sprintf("rank %d: %v is held", rank, p)
			}
		}
		return ""
	})
	syscall.Kill(pids[2], syscall.SIGSEGV)
	w.exits(1)
	f := w.file(2)
	if f.Reason.Kind != hangfile.Crash || !f.Reason.Ranks.Contains(2) || len(f.Stacks) == 0 {
		t.Errorf("the reason is %+v", f.Reason)
	}
}

// watchIsKilled kills sdm. The job goes on, and nothing of sdm is left.
func watchIsKilled(t *testing.T, line string) {
	s := newScene(t)
	w := s.watch("--stall 1.5s -o hang", line)
	pids := w.ranks(5)
	w.file(1)
	w.signal(syscall.SIGKILL)
	w.exits(128 + int(syscall.SIGKILL))
	s.eventually(patience, func() string {
		if left := s.named("sdm-server"); len(left) > 0 {
			return "servers are left"
		}
		return ""
	})
	for rank, pid := range pids {
		if p := look(pid); p.state == "" || p.state == "Z" || p.held() {
			t.Errorf("rank %d does not run: %v", rank, p)
		}
		defer syscall.Kill(pid, syscall.SIGKILL)
	}
}

// watchEnds looks at exit statuses, and has signals passed on.
func watchEnds(t *testing.T, m starter) {
	for _, c := range []struct {
		line   string
		status int
		reason hangfile.ReasonKind
	}{
		{m.command + " -n 2 " + program("exitcode") + " 0", 0, ""},
		{m.command + " -n 2 " + program("exitcode") + " 3", 3, ""},
		{m.command + " -n 2 " + m.program("abort") + " 7", 7, hangfile.Abort},
		{m.command + " -n 2 " + m.program("abort") + " 0", 6, hangfile.Abort}, // MPI_ERR_RANK
	} {
		s := newScene(t)
		w := s.watch("-o hang", c.line)
		w.exits(c.status)
		for tries := 0; tries < 20 && c.reason == hangfile.Abort && !strings.Contains(strings.ToLower(s.text("err")), "abort"); tries++ {
			// Open MPI 4 at times fails to say why, and so does MPICH 4.2, without sdm in 4 of 60
			// runs, and here in 5 of 6; the job was too short for sdm to see that.
			s = newScene(t)
			w = s.watch("-o hang", c.line)
			w.exits(c.status)
		}
		if c.reason == "" {
			w.noFile()
		} else if f := w.file(1); f.Reason.Kind != c.reason || f.Reason.Ranks.String() != "1" {
			t.Errorf("%s: the reason is %+v", c.line, f.Reason)
		}
		if said := s.text("err"); c.status == 0 && said != "" {
			t.Errorf("%s: standard error is\n%s", c.line, said)
		}
	}
	s := newScene(t)
	w := s.watch("-o hang", m.command+" -n 5 "+m.program("hang")+" tag")
	w.ranks(5)
	w.signal(syscall.SIGTERM)
	w.fails()
	w.noFile()
}

// watchLate watches ranks that are shells at first, each of which then starts the program and stays: MPI in it uses
// processor time while it waits, as if the children of the shell worked.
func watchLate(t *testing.T, m starter) {
	s := newScene(t)
	w := s.watch("--stall 6s --interval 500ms --on-stall kill -o hang",
		m.command+` -n 5 sh -c 'sleep 4; "$0" tag; exit $?' `+m.program("hang"))
	w.exits(5)
	if f := w.file(1); len(f.Verdict) != 1 || !f.Verdict[0].Certain || f.Verdict[0].Kind != "deadlock" {
		t.Errorf("the verdict is %+v", f.Verdict)
	}
}

// watchNaps watches a job that works and is nearly always asleep at the same place: its messages tell.
func watchNaps(t *testing.T, line string) {
	s := newScene(t)
	w := s.watch("--stall 2s --interval 300ms -o hang", line+" 600")
	w.exits(0)
	w.noFile()
}

// TestWatchCI has a script in front of mpirun, whose output goes to a pipe, fall silent, and leave a daemon behind that
// ignores SIGTERM: why is told, and nothing is left.
func TestWatchCI(t *testing.T) {
	t.Parallel()
	m := starters[0]
	s := newScene(t)
	script := s.file("ci.sh", `#!/bin/sh
(setsid sh -c 'trap "" TERM; echo daemon $$ >&3; while :; do sleep 1000; done' 3>pid >/dev/null 2>&1 &)
`+m.command+" -n 5 "+m.program("hang")+` tag >out &
until [ $(grep -c rank out) = 5 ]; do echo .; sleep 0.2; done
cat out
wait
echo never
`, 0o700)
	w := s.start("sh", "-c", unraced("sdm")+" watch --stall 0 --quiet-for 3s --on-stall kill --stall-status 124 --summary sum.md -o hangs/ -- "+script+
		" 2>err | cat; wait")
	w.exits(0)
	said := s.text("err")
	for _, want := range []string{"sdm: watch: stall: no output for 3", "3 waits for 2 (receive tag 99", "written: hangs/sdm-hang-", ", none is left on this host\n",
		"sdm: watch: summary: stall after ", "; status 124\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("standard error has no %q:\n%s", want, said)
		}
	}
	if out := w.out.text(); strings.Count(out, "rank ") != 5 || strings.Contains(out, "never") {
		t.Errorf("standard output is\n%s", out)
	}
	if page := s.text("sum.md"); !strings.HasPrefix(page, "### sdm watch: stall; exit status 124 after ") || !strings.Contains(page, "3 waits for 2 (receive tag 99") {
		t.Errorf("the summary is\n%s", page)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(s.text("pid"), "daemon ")))
	if p := look(pid); err != nil || p.state != "" {
		t.Errorf("the daemon is left: %v, %v", p, err)
	}
}

// watchedBatch has a batch script's srun watched, on two hosts, until it stalls. The script goes on afterwards.
func watchedBatch(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter) {
	script := s.file("job.sh", fmt.Sprintf(`#!/bin/sh
%s watch --stall 1.5s --on-stall kill -- srun -n 4 %s %s tag
[ $? = 5 ]
`, unraced("sdm"), slurmMPI[m.name], m.program("hang")), 0o700)
	job := s.submit(cluster, "-n", "4", "-N", "2", "-D", s.dir, "-o", filepath.Join(s.dir, "out"), script)
	s.completes(cluster, job)
	paths, _ := filepath.Glob(filepath.Join(s.dir, "sdm-hang-"+job+"-*")) // the pattern is valid
	if len(paths) != 2 {
		t.Fatalf("there are %q; the job has written\n%s", paths, s.text("out"))
	}
	f, err := hangfile.ReadFile(context.Background(), paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Verdict) != 1 || f.Verdict[0].Kind != "deadlock" || f.Ranks.String() != "0-3" || f.Job.ID != job || len(f.Output.Events) != 1 {
		t.Errorf("%+v", f)
	}
}

// TestWatchedProcess passes the bytes of a program that is no job of MPI, its input and a signal, and watches a program
// that runs already.
func TestWatchedProcess(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	text := "a\x00\xffb\r\n" + strings.Repeat("long ", 1<<16)
	s.file("in", text, 0o600)
	w := s.start("sh", "-c", unraced("sdm")+" watch -- cat < in > out")
	w.exits(0)
	if got := s.text("out"); got != text {
		t.Errorf("%d bytes have come, not %d", len(got), len(text))
	}
	trapped := s.start(unraced("sdm"), "watch", "--", "sh", "-c", `trap 'echo usr1; exit 9' USR1; echo ready; while :; do sleep 0.1; done`)
	trapped.after(trapped.out, "ready")
	trapped.signal(syscall.SIGUSR1)
	trapped.exits(9)
	trapped.says("usr1\n")

	spin := s.start(program("spin"))
	front := s.start(unraced("sdm"), "watch", "-o", "hang", "--stall", "1s", "--progress", "nosuch", strconv.Itoa(spin.cmd.Process.Pid))
	front.after(front.err, "there is no global or static variable nosuch")
	spin.signal(syscall.SIGBUS)
	front.status(patience)
	if f, err := hangfile.ReadFile(context.Background(), filepath.Join(s.dir, "hang")); err == nil { // where the kernel tells how it has ended
		front.exits(1)
		if f.Reason.Kind != hangfile.Crash {
			t.Errorf("the reason is %+v", f.Reason)
		}
	}
}

// TestWatchHold holds a job that hangs: the first front end that joins gets the console at the place, the second is
// told of the first, and afterwards the job is watched again. If none joins, the job ends as --on-stall says.
func TestWatchHold(t *testing.T) {
	t.Parallel()
	line := mpich.command + " -n 4 " + mpich.program("hang") + " tag"
	t.Run("somebody comes", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		w := s.watch(`--stall 1.5s --hold 1h --on-stall kill -o hang --exec 'echo $SDM_HANG_SESSION > held'`, line)
		s.eventually(patience, func() string {
			if text := s.text("held"); text != "sdm-1\n" {
				return "not held: " + s.text("err")
			}
			return ""
		})
		one := s.sit("sdm", "join", strings.TrimSpace(s.text("held")))
		one.until("[3] attached, in MPI_Recv")
		one.until(prompt)
		two := s.sit("sdm", "join")
		two.until(prompt)
		one.until("has come")
		one.enter("[3] print rank")
		one.until("[3] rank = 3")
		one.until(prompt)
		two.enter("leave")
		two.exits(0)
		one.enter("quit")
		one.exits(0)
		s.eventually(patience, func() string {
			if text := s.text("err"); !strings.Contains(text, "it is watched again") {
				return "its end is not told: " + text
			}
			return ""
		})
		if !w.running() {
			t.Error("the watch has ended")
		}
		w.signal(syscall.SIGTERM)
		w.status(patience)
		s.nothingIsLeft()
	})
	t.Run("nobody comes", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		w := s.watch(`--stall 1.5s --hold 2s --on-stall kill -o hang`, line)
		w.exits(5)
		if text := s.text("err"); !strings.Contains(text, "nobody has come in 2s, the ranks are let go") {
			t.Error(text)
		}
		s.nothingIsLeft()
	})
}
