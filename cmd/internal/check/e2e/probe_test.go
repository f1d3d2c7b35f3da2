package e2e

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestStacksWithoutGDB checks that the probe shows the stacks of processes on a host without gdb,
// and that they run on.
func TestStacksWithoutGDB(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var pids []string
	for range 3 {
		pids = append(pids, strconv.Itoa(s.start(program("spin")).cmd.Process.Pid))
	}
	front := &console{process: s.start("sdm", "stacks", "--gdb", "/nowhere/gdb", "pids:"+strings.Join(pids, ",")), size: 3}
	front.exits(0)
	front.says("[0-2] (3) main spin.c:")
	for _, p := range s.named("spin") {
		if p.held() {
			t.Errorf("%v is held", p)
		}
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// TestLazyAttach checks that gdb attaches only to the rank that a command is about, that the end of
// another one is told, and that the others run on afterwards.
func TestLazyAttach(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var pids []string
	for range 3 {
		pids = append(pids, strconv.Itoa(s.start(program("spin")).cmd.Process.Pid))
	}
	front := &console{process: s.start("sdm", "attach", "--lazy", "-b", "-e", "stacks", "-e", "shell kill -9 "+pids[2]+"; while [ -d /proc/"+pids[2]+" ]; do sleep 0.01; done",
		"-e", "[1] print 6 * 7", "-e", "ranks", "pids:"+strings.Join(pids, ",")), size: 3}
	front.exits(0)
	front.says("[0-2] (3) main spin.c:", "[1] 6 * 7 = 42", "[2] ended; only its parent knows its exit status", "[0] watched", "[2] exited")
	for _, p := range s.named("spin") {
		if p.held() {
			t.Errorf("%v is held", p)
		}
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// TestInterruptedSamples has Ctrl-C end samples that would take an hour: what was gathered is shown, and the ranks run on.
func TestInterruptedSamples(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rank := s.start(program("spin"))
	target := "pids:" + strconv.Itoa(rank.cmd.Process.Pid)
	for _, c := range []struct {
		args      []string
		out, text string // on standard output, and on the one or the other
	}{
		{[]string{"stacks", "--samples", "50", "--every", "1h"}, "[0] in 1 sample:\n", "interrupted: 1 of 50 samples were taken\n"},
		{[]string{"stacks", "--samples", "50", "--every", "1h", "--folded"}, "main ", "interrupted: 1 of 50 samples were taken\n"},
		{[]string{"waits", "--samples", "50", "--every", "1h"}, " in main (spin.c:", "interrupted: 1 of 50 samples were taken\n"},
	} {
		log := s.file("log", "", 0o600)
		front := s.start("sdm", append(c.args, "--log-level", "debug", "--log", log, target)...)
		s.eventually(patience, func() string { // the first sample is answered a moment after it is logged
			text, _ := os.ReadFile(log)
			if !strings.Contains(string(text), "stacks were read") {
				return "no sample has been taken" + front.said()
			}
			return ""
		})
		syscall.Kill(front.cmd.Process.Pid, syscall.SIGINT)
		front.exits(130)
		if out := front.out.text(); !strings.Contains(out, c.out) || !strings.Contains(out+front.err.text(), c.text) {
			t.Errorf("%v: %s", c.args, front.said())
		}
		for _, p := range s.named("spin") {
			if p.held() {
				t.Errorf("%v: %v is held", c.args, p)
			}
		}
	}
	syscall.Kill(rank.cmd.Process.Pid, syscall.SIGKILL)
	rank.status(patience)
}
