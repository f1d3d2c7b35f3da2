package main

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"sdm/protocol"
)

func TestLocalSessions(t *testing.T) {
	cases := []struct {
		name               string
		servers, perServer int
	}{{"one server", 1, 4}, {"three servers", 3, 2}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			servers, d := startLocal(t, c.servers, c.perServer)
			n := c.servers * c.perServer
			d.do("launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c", "echo hello"}}, Limit: -1})
			d.do("continue", protocol.Args{})
			d.ended(n)
			if got := d.output(); got != strings.Repeat("hello\n", n) {
				t.Errorf("output %q", got)
			}
			if err := d.close(); err != nil {
				t.Error(err)
			}
			if err := servers.Close(soon(t)); err != nil {
				t.Error(err)
			}
			gone(t, append(d.pids(), servers.PIDs()...)...)
		})
	}
}

func TestQuitLeavesNothing(t *testing.T) {
	servers, d := startLocal(t, 2, 3)
	d.do("launch", sleeper())
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := servers.Close(soon(t)); err != nil {
		t.Error(err)
	}
	gone(t, append(d.pids(), servers.PIDs()...)...)
}

func TestKilledServerLeavesNoRank(t *testing.T) {
	servers, d := startLocal(t, 1, 8)
	d.do("launch", sleeper())
	if err := syscall.Kill(servers.PIDs()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.ended(8) // lost
	if len(d.pids()) != 8 {
		t.Errorf("pids %v", d.pids())
	}
	gone(t, d.pids()...)
}

func TestMasterThatVanishesEndsServersAndRanks(t *testing.T) {
	for _, n := range []int{1, 3} {
		servers, d := startLocal(t, n, 2)
		d.do("launch", sleeper())
		over, cancel := context.WithCancel(context.Background())
		cancel()
		go d.Master.Close(over) // closes the links without waiting
		for e := range d.Events() {
			d.seen = append(d.seen, e)
		}
		if err := servers.Close(soon(t)); err != nil {
			t.Error(err)
		}
		gone(t, append(d.pids(), servers.PIDs()...)...)
	}
}

func TestServersThatNobodyDialsEndWithTheirStarter(t *testing.T) {
	servers := startListening(t, 2)
	if err := servers.Close(soon(t)); err != nil {
		t.Error(err)
	}
}

func TestDetachedRankOutlivesTheSession(t *testing.T) {
	servers, d := startLocal(t, 1, 1)
	d.do("launch", sleeper())
	d.do("detach", protocol.Args{})
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := servers.Close(soon(t)); err != nil {
		t.Error(err)
	}
	for _, pid := range append(d.pids(), servers.PIDs()...) {
		if !alive(pid) {
			t.Errorf("process %d is gone", pid)
		}
	}
	syscall.Kill(d.pids()[0], syscall.SIGKILL)
	gone(t, append(d.pids(), servers.PIDs()...)...)
}
