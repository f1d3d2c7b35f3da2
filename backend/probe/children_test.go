package probe

import (
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/probe/internal/proc"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// Both back ends read what a rank has started if that is asked for.
func TestChildren(t *testing.T) {
	shell := exec.Command("sh", "-c", "sleep 60 & echo; wait")
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	t.Cleanup(func() {
		_ = shell.Process.Kill()
		_ = syscall.Kill(max(child, shell.Process.Pid), syscall.SIGKILL)
		_ = shell.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	children := proc.Children(shell.Process.Pid)
	if len(children) != 1 {
		t.Fatalf("children: %v", children)
	}
	child = children[0]
	processes := func(s *stack.Tree) (names []string) {
		for _, n := range s.Roots() {
			if n.Frame.IsProcess() {
				names = append(names, n.Frame.Func)
			}
		}
		return names
	}
	is := func(names []string) bool { // until it executes sleep it has the shell's name
		prefix := "process " + strconv.Itoa(child) + " ("
		return len(names) == 1 && strings.HasPrefix(names[0], prefix)
	}
	ask := backend.Request{ID: 2, Ranks: rank.Range(0, 0), Command: &protocol.Command{Name: "stacks", Args: protocol.Args{Children: true}}}
	targets := []backend.Target{{Rank: 0, PID: shell.Process.Pid}}

	var got replies
	b := New(&got, slog.New(slog.DiscardHandler), "")
	b.Attach(1, targets, "", 0)
	b.Do(ask)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := got[len(got)-1]; !is(processes(g.Stack)) {
		t.Errorf("the probe: %v", processes(g.Stack))
	}

	d, err := WithWaits(func(k backend.Sink) (backend.Backend, error) {
		return &answering{sink: k, answer: func(q backend.Request) protocol.Group {
			return protocol.Group{Kind: protocol.KindResult, Ranks: q.Ranks, Stack: stack.New(0, []stack.Frame{{Func: "main"}})}
		}}, nil
	}, &got)
	if err != nil {
		t.Fatal(err)
	}
	d.Attach(1, targets, "", 0)
	for _, children := range []bool{true, false} {
		ask.Command = &protocol.Command{Name: "stacks", Args: protocol.Args{Children: children}}
		d.Do(ask)
		if names := processes(got[len(got)-1].Stack); children && !is(names) || !children && len(names) > 0 {
			t.Errorf("a debugger, children %t: %v", children, names)
		}
	}
}
