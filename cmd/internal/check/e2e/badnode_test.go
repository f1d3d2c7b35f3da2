package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// spinners starts one spinning process on each of some hosts, and returns them with their list for
// sdm attach. Rank i is on the i-th host.
func (s *scene) spinners(h *launchtest.Hosts, hosts ...int) (list string, ranks []*process) {
	s.t.Helper()
	var b strings.Builder
	for i, host := range hosts {
		p := s.on(h, host, program("spin"))
		ranks = append(ranks, p)
		fmt.Fprintf(&b, "%d %s %d\n", i, h.Host(host), p.cmd.Process.Pid)
	}
	return b.String(), ranks
}

// TestBadNodes checks that a fault of one node costs only its own ranks, and is reported with host
// and cause. The session continues with the others, and reports the fault again at its end.
func TestBadNodes(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 4)
	shell := []string{"--remote-shell", filepath.Join(launchtest.Scripts(), "remsh")}
	attach := func(s *scene, list string, args ...string) *process {
		file := s.file("hosts", list, 0o600)
		args = append(append([]string{"attach"}, shell...), args...)
		return s.on(h, 0, "sdm", append(args, "hostfile:"+file)...)
	}
	t.Run("a host that is not there", func(t *testing.T) {
		s := newScene(t)
		list, ranks := s.spinners(h, 1, 2, 3)
		list = strings.ReplaceAll(list, h.Host(2), "nowhere")
		front := attach(s, list, "-b", "-e", "ranks", "-e", "print 6*7", "-e", "[1] print 6*7", "-e", "break spin.c:1 if 0")
		front.exits(1)
		front.says("[1] lost: the server cannot be started: ", "no such fake host: nowhere",
			"[0,2] (2) stopped", "[0,2] (2) 6*7 = 42\n", "sdm: rank 1 on nowhere had no part in it: the server cannot be started: ")
		s.endAll(ranks)
	})
	t.Run("a host that is cut off", func(t *testing.T) {
		s := newScene(t)
		list, ranks := s.spinners(h, 1, 2, 3)
		h.Partition(2)
		front := &console{process: attach(s, list, "--connect-wait", "15s", "--format", "ndjson", "-b", "-e", "print 6*7"), size: 3}
		front.exits(1)
		front.says(`{"event":"lost","ranks":"1","n":1,"cause":"the server has not registered in 10s (of --connect-wait, which gdbs have a part of)","hosts":["`+h.Host(2)+`"]}`,
			`"lost":"1"`, "sdm: no server yet from ", h.Host(2)+" (rank 1)")
		h.Heal(2)
		s.endAll(ranks)
	})
	t.Run("all hosts", func(t *testing.T) {
		s := newScene(t)
		list, ranks := s.spinners(h, 1)
		front := attach(s, strings.ReplaceAll(list, h.Host(1), "nowhere"), "-b", "-e", "ranks")
		front.exits(4)
		front.says("sdm: no server has registered: server on nowhere: ", "--remote-shell CMD names another")
		s.endAll(ranks)
	})
	t.Run("ranks that are not ours", func(t *testing.T) {
		s := newScene(t)
		list, ranks := s.spinners(h, 1)
		front := attach(s, list+"1 "+h.Host(2)+" 1\n", "-b", "-e", "ranks")
		front.exits(1)
		front.says("[1] attach: ", "[0] stopped")
		s.endAll(ranks)
	})
	t.Run("in a job that is launched", func(t *testing.T) {
		needMPIR(t)
		s := newScene(t)
		args := append([]string{"run", "-b", "-e", "ranks", "-e", "continue", "--connect-wait", "30s"}, "--remote-shell", s.file("shell", fmt.Sprintf(
			"#!/bin/sh\nif [ $1 = %s ]; then echo no route to host >&2; exit 255; fi\nexec %s \"$@\"\n", h.Host(2), shell[1]), 0o700))
		front := s.on(h, 0, "sdm", append(append(args, "--"), s.remotely(h, openMPI, openMPI.program("ring"))...)...)
		front.exits(1)
		front.says("[2-3] (2) lost: the server cannot be started: ", "no route to host", " exited normally", "total 4950",
			"sdm: ranks 2-3 on "+h.Host(2)+" had no part in it: ")
	})
}

// endAll kills processes of the test that run without end, and checks that they still ran.
func (s *scene) endAll(ranks []*process) {
	s.t.Helper()
	for _, p := range ranks {
		if !p.running() {
			s.t.Errorf("%s has ended%s", p.name, p.said())
		}
		p.cmd.Process.Kill()
		<-p.ended
	}
}
