package e2e

import (
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
		if p.tracer != 0 || p.state == "T" || p.state == "t" {
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
		if p.tracer != 0 || p.state == "T" || p.state == "t" {
			t.Errorf("%v is held", p)
		}
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}
