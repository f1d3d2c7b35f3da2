package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sdm/master/registration"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

// noting records which process has registered.
type noting struct {
	*overlay.RendezvousListener
	pid int
}

func (n *noting) Accept(ctx context.Context) (overlay.Registration, func(overlay.Decision), error) {
	r, answer, err := n.RendezvousListener.Accept(ctx)
	n.pid = r.PID
	return r, answer, err
}

// startNode starts n slots of one node, each with a program, and builds a tree with the single
// server that they have. host is the process of that server.
func startNode(t *testing.T, n int, program func(i int) []string) (slots []*slot, d *debugging, host int) {
	t.Helper()
	session := fmt.Sprintf("test %d", os.Getpid()) // unique, as slots meet by it
	path, key := secretFile(t, session)
	door, err := overlaytest.Rendezvous(key)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	at := &noting{RendezvousListener: door}
	t.Setenv("MPI_LOCALNRANKS", fmt.Sprint(n))
	for i := range n {
		args := []string{"--per-node", "--rendezvous", door.Addr(), "--session", session, "--secret-file", path}
		slots = append(slots, startSlot(t, i, n, append(args, program(i)...)...))
	}
	table, err := registration.Slots{}.Collect(soon(t), at)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Routes) != 1 || table.Routes[0].Ranks.Len() != n {
		t.Fatalf("routes %+v", table.Routes)
	}
	return slots, newDebugging(t, dialer(key, overlay.Identity{Session: session}), table.Routes, n), at.pid
}

func TestSlotsOfANodeHaveOneServer(t *testing.T) {
	slots, d, _ := startNode(t, 4, func(i int) []string {
		return []string{"--", "sh", "-c", fmt.Sprintf("read line; echo rank $SDM_RANK $PMI_RANK $NEW $line; echo loud >&2; exit %d", i)}
	})
	d.do("launch", protocol.Args{Job: &protocol.Job{Env: []protocol.EnvDirective{{Op: "set", Name: "NEW", Value: "v"}}, Stdin: rank.Of(2)}, Limit: -1})
	d.do("continue", protocol.Args{})
	if _, err := d.Do(soon(t), session.Call{Command: "send", Ranks: "2", Args: protocol.Args{Data: []byte("typed\n")}}); err != nil {
		t.Fatal(err)
	}
	d.ended(4)
	outlive(t, d, slots, "rank 0 0 v\n", "rank 1 1 v\n", "rank 2 2 v typed\n", "rank 3 3 v\n")
}

func TestProgramOfTheSessionInTheSlotsOfANode(t *testing.T) {
	slots, d, _ := startNode(t, 2, func(int) []string { return nil })
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c", "echo here $PMI_RANK"}}, Limit: -1})
	d.do("continue", protocol.Args{})
	d.ended(2)
	if got := d.output(); got != "here 0\nhere 1\n" && got != "here 1\nhere 0\n" {
		t.Errorf("output %q", got)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	end(t, slots, 0, 0)
}

// An error about a program that cannot be started comes from its own slot.
func TestProgramThatIsNotInTheSlot(t *testing.T) {
	_, d, _ := startNode(t, 2, func(int) []string { return []string{"--", "/no/such/program"} })
	d.refused("launch", protocol.Args{Job: &protocol.Job{}, Limit: -1}, "no such program")
}

func TestSignalsReachTheRankOfTheirSlot(t *testing.T) {
	slots, d, _ := startNode(t, 3, func(int) []string {
		return []string{"--", "sh", "-c", "trap 'echo signalled; exit 5' USR1; echo ready; while :; do sleep 0.05; done"}
	})
	d.do("launch", protocol.Args{Job: &protocol.Job{}, Limit: -1})
	d.do("continue", protocol.Args{})
	d.until("all are ready", func(session.Event) bool { return strings.Count(d.output(), "ready\n") == 3 })
	for _, s := range slots {
		s.Process.Signal(syscall.SIGUSR1)
	}
	d.ended(3)
	if got := strings.Count(d.output(), "signalled\n"); got != 3 {
		t.Errorf("output %q", d.output())
	}
	d.close()
	end(t, slots, 5, 5, 5)
}

// TestStarterEndsTheJobByAnySlot sends the signal to one slot, the server or a stand-in, or to all.
// The session reports it once.
func TestStarterEndsTheJobByAnySlot(t *testing.T) {
	for _, some := range [][]int{{0}, {1}, {0, 1}} {
		slots, d, _ := startNode(t, 2, func(int) []string { return []string{"--", "sleep", "1000"} })
		d.do("launch", protocol.Args{Job: &protocol.Job{}, Limit: -1})
		for _, i := range some {
			slots[i].Process.Signal(syscall.SIGTERM)
		}
		d.ended(2)
		if n := strings.Count(d.String(), "the starter is ending the job (SIGTERM)"); n != 1 {
			t.Errorf("told %d times:\n%s", n, d)
		}
		end(t, slots, 128+int(syscall.SIGKILL), 128+int(syscall.SIGKILL))
		gone(t, d.pids()...)
	}
}

// TestSlotsAreKilled kills a stand-in, which ends its rank, and then the server, which ends all.
func TestSlotsAreKilled(t *testing.T) {
	slots, d, pid := startNode(t, 3, func(int) []string { return []string{"--", "sleep", "1000"} })
	d.do("launch", protocol.Args{Job: &protocol.Job{}, Limit: -1})
	d.do("continue", protocol.Args{})
	host := slices.IndexFunc(slots, func(s *slot) bool { return s.Process.Pid == pid })
	standIn := (host + 1) % 3
	slots[standIn].Process.Kill()
	d.ended(1)
	if !strings.Contains(d.String(), "SIGKILL") {
		t.Errorf("seen:\n%s", d)
	}
	slots[host].Process.Kill()
	if got := slots[(host+2)%3].status(t); got != 128+int(syscall.SIGKILL) {
		t.Errorf("status %d", got)
	}
	gone(t, d.pids()...)
}
