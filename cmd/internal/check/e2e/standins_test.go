package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
)

// TestStandInForFlux checks that the stand-in does what the manual pages and sources of Flux tell,
// as far as TestFlux relies on it.
func TestStandInForFlux(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 2)
	s := newFlux(t, h, 2)
	s.env = append(s.env, "CALLER=me")
	do := func(status int, args ...string) string {
		t.Helper()
		p := s.flux(args...)
		p.in.Close()
		p.exits(status)
		return p.out.text() + p.err.text()
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	// Ranks are held right after their exec; nothing traces them.
	id := s.submit("-n", "4", "-N", "2", "--taskmap=cyclic", "-o", "stop-tasks-in-exec", "sleep", "1000")
	do(0, "job", "wait-event", "-t", "60s", "-p", "exec", "-m", "sync=true", id, "shell.start")
	listed := strings.Split(strings.TrimSpace(do(0, "job", "hostpids", id)), ",")
	for rank, one := range listed {
		host, number, _ := strings.Cut(one, ":")
		pid, _ := strconv.Atoi(number)
		env := environ(t, pid)
		want("rank", env["FLUX_TASK_RANK"], fmt.Sprint(rank))
		want("local rank", env["FLUX_TASK_LOCAL_ID"], fmt.Sprint(rank/2))
		want("job", env["FLUX_JOB_ID"], id)
		want("host", host, h.Host(rank%2))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if !strings.Contains(string(status), "State:\tT (stopped)") || !strings.Contains(string(status), "TracerPid:\t0") || !strings.Contains(string(status), "Name:\tsleep") {
			t.Errorf("rank %d is not held: %.200s", rank, status)
		}
		for name := range env {
			if strings.Contains(name, "LOCAL_SIZE") {
				t.Errorf("%s tells how many ranks the node has", name)
			}
		}
	}
	// flux exec: one process on each node, with the environment, the directory and the input of
	// the caller, but the address of its own broker.
	in := s.flux("exec", "-l", "--jobid="+id, "sh", "-c", `cat; echo $CALLER $FLUX_URI $PWD $(hostname)`)
	fmt.Fprintln(in.in, "input")
	in.in.Close()
	in.exits(0)
	for i := range 2 {
		in.says(fmt.Sprintf("%d: input\n", i), fmt.Sprintf("%d: me local://%s/%d %s %s\n", i, s.instance, i, s.dir, h.Host(i)))
	}
	do(7, "exec", "-n", "--jobid="+id, "sh", "-c", `[ "$(hostname)" = `+h.Host(1)+` ] && exit 7; exit 2`)
	do(128+15, "exec", "-n", "--jobid="+id, "sh", "-c", "kill $$")
	want("one node", do(0, "exec", "-n", "-r", "1", "--jobid="+id, "hostname"), h.Host(1)+"\n")
	do(1, "exec", "-n", "-r", "2", "--jobid="+id, "hostname")
	s.set("gone", h.Host(1))
	do(68, "exec", "-n", "--jobid="+id, "true")
	s.set("gone", "")
	s.set("version", "0.83.0")
	if said := do(126, "exec", "-n", "--jobid="+id, "true"); !strings.Contains(said, "rank 0: true: Operation not permitted") {
		t.Errorf("before 0.84: %q", said)
	}
	s.set("version", "0.84.0")
	// A tool gets SIGTERM at the end of the job, which waits for it. Signals of attach reach the
	// ranks.
	tool := s.flux("exec", "--jobid="+id, "sh", "-c", "trap 'echo told; exit' TERM; echo up; while :; do sleep 0.05; done")
	for range 2 {
		tool.after(tool.out, "up")
	}
	attach := s.flux("job", "attach", id)
	do(0, "job", "kill", "-s", "CONT", id)
	s.eventually(patience, func() string { // it handles signals before it opens the output
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", attach.cmd.Process.Pid)) // the pattern is valid
		for _, f := range files {
			if to, _ := os.Readlink(f); to == filepath.Join(s.job(), "out") {
				return ""
			}
		}
		return "flux job attach has not opened the output"
	})
	attach.signal(syscall.SIGTERM)
	attach.exits(128 + 15)
	tool.exits(0)
	want("tools", tool.out.text(), "up\nup\ntold\ntold\n")
	do(1, "job", "hostpids", id)
	// hostpids waits for the start; flux run has the status of the job.
	run := s.flux("run", "-n", "2", "sh", "-c", "exit $((FLUX_TASK_RANK + 3))")
	run.exits(4)
}

// TestStandInForPALS checks the traps that the stand-in for PALS has set up.
func TestStandInForPALS(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 2)
	s := newPALS(t, h, 2)
	job := s.mpiexec(nil, "-n", "2", "--ppn", "1", "sleep", "1000")
	s.inJob()
	id := s.apid()
	do := func(status int, name string, args ...string) string {
		t.Helper()
		p := s.on(h, 1, filepath.Join(launchtest.Scripts(), "../pals", name), args...)
		p.exits(status)
		return p.out.text() + p.err.text()
	}
	table := strings.Split(do(0, "palstat", "-n", h.Host(0), "-p", id), "\n")
	if len(table) < 3 || table[0] != "HOST EXECUTABLE PID" || !strings.HasPrefix(table[2], h.Host(1)+" sleep ") {
		t.Errorf("palstat -p: %q", table)
	}
	do(1, "palstat", "-n", h.Host(1), id) // only the first node knows it
	// palscmd returns before its command ends, which palstat then lists.
	if said := do(0, "palscmd", "-n", h.Host(0), id, "sh", "-c", "sleep 2; echo out; exit 3"); !strings.HasPrefix(said, "Launched tool helper ") || strings.Contains(said, "out") {
		t.Errorf("palscmd: %q", said)
	}
	if said := do(0, "palstat", "-n", h.Host(0), id); !strings.Contains(said, "Tool ID: ") {
		t.Errorf("it is not listed: %q", said)
	}
	s.eventually(patience, func() string {
		if said := do(0, "palstat", "-n", h.Host(0), id); strings.Contains(said, "Tool ID: ") {
			return "it is still listed"
		}
		return ""
	})
	// palscp skips the first node unless it comes first; nothing runs where it puts files.
	script := s.file("script", "#!/bin/sh\n", 0o700)
	placed := filepath.Join("/var/run/palsd", id, "files")
	for i, order := range []string{h.Host(1) + "\n" + h.Host(0) + "\n", h.Host(0) + "\n" + h.Host(1) + "\n"} {
		list, name := s.file("list", order, 0o600), fmt.Sprint("f", i)
		do(0, "palscp", "-l", list, "-f", script, "-d", name, id)
		s.on(h, 0, "test", "-e", filepath.Join(placed, name)).exits(1 - i)
		s.on(h, 1, "test", "-e", filepath.Join(placed, name)).exits(0)
	}
	s.on(h, 1, "sh", "-c", filepath.Join(placed, "f1")).exits(126)
	do(0, "palsig", "-n", h.Host(0), "-s", "9", id)
	job.exits(128 + 9)
}
