package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

func TestRunFromInitToQuit(t *testing.T) {
	r, s, _ := pair(t, Config{Slot: &protocol.Job{Program: "sh", Args: []string{"-c", "echo hello; exit 7"}}})
	r.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{}})
	r.ask(t, 1, "continue", protocol.Args{})
	r.up.untilLine(t, "exited [0]")
	if got := r.up.output("out 0"); got != "hello\n" {
		t.Errorf("output %q", got)
	}
	select {
	case <-s.done:
		t.Error("the slot has ended with its rank and not with the session")
	default:
	}
	r.send(wire.Quit, rank.Set{}, struct{}{})
	s.wait(t)
	if s.status != 7 || s.err != nil {
		t.Errorf("status %d, %v; want the status of the rank", s.status, s.err)
	}
}

func TestQuitKillsRanks(t *testing.T) {
	r, s, _ := pair(t, Config{})
	r.ask(t, 1, "launch", sleeper())
	pid := r.pidOf(t)
	r.send(wire.Quit, rank.Set{}, struct{}{})
	s.wait(t)
	if !isGone(pid) || s.status != 0 || s.err != nil {
		t.Errorf("rank gone: %v; status %d, %v", isGone(pid), s.status, s.err)
	}
}

func TestLostParentEndsTheServer(t *testing.T) {
	for _, linger := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(linger.String(), func(t *testing.T) {
			r, s, _ := pair(t, Config{Linger: linger})
			r.ask(t, 1, "launch", sleeper())
			pid := r.pidOf(t)
			r.cut()
			s.wait(t)
			if !isGone(pid) || s.err != nil {
				t.Errorf("rank gone: %v; %v", isGone(pid), s.err)
			}
		})
	}
}

func TestLostMasterLetsRanksRun(t *testing.T) {
	letGo := make(chan struct{})
	r, s, _ := pair(t, Config{LetRun: true, LetGo: func() { close(letGo) }})
	r.ask(t, 1, "launch", sleeper())
	r.ask(t, 1, "continue", protocol.Args{})
	pid := r.pidOf(t)
	r.cut()
	select {
	case <-s.done:
		t.Error("the server does not stay with the rank that runs on")
	case <-letGo:
	case <-time.After(testTimeout):
		t.Fatal("the rank is not let go")
	}
	if isGone(pid) {
		t.Error("the rank is gone")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	s.wait(t)
}

func TestContextEndsTheServer(t *testing.T) {
	ours, theirs := overlaytest.Pipe()
	r := newRoot(t, func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) { return ours, nil })
	ctx, cancel := context.WithCancel(t.Context())
	s := start(t, ctx, Config{}, Links{Parent: theirs})
	r.init(t, "")
	r.ask(t, 1, "launch", sleeper())
	pid := r.pidOf(t)
	cancel()
	s.wait(t)
	if !isGone(pid) || !errors.Is(s.err, context.Canceled) {
		t.Errorf("rank gone: %v; %v", isGone(pid), s.err)
	}
}

func TestStarterEndsTheJob(t *testing.T) {
	ending, signals := make(chan string, 1), make(chan syscall.Signal, 1)
	slot := &protocol.Job{Program: "sh", Args: []string{"-c", "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done"}}
	r, s, _ := pair(t, Config{Slot: slot, Ending: ending, Signals: signals, EndingGrace: 50 * time.Millisecond})
	r.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{}})
	pid := r.pidOf(t)
	r.ask(t, 1, "continue", protocol.Args{})
	r.up.untilLine(t, `out 0 "ready\n"`)
	signals <- syscall.SIGUSR1
	r.up.untilLine(t, `out 0 "usr1\n"`)
	ending <- "the starter is ending the job (SIGTERM)"
	r.up.untilLine(t, `job [0] {"state":"cancelled","text":"the starter is ending the job (SIGTERM)"}`)
	s.wait(t)
	if !isGone(pid) || s.status != 128+int(syscall.SIGKILL) || s.err != nil {
		t.Errorf("rank gone: %v; status %d, %v", isGone(pid), s.status, s.err)
	}
}

func TestUselessBackend(t *testing.T) {
	links, _ := listening(t, 0, overlay.NewSecret())
	broken := func(backend.Sink) (backend.Backend, error) { return nil, errors.New("no gdb here") }
	s := start(t, t.Context(), Config{NewBackend: broken}, links)
	if s.wait(t); s.err == nil || !strings.Contains(s.err.Error(), "the back end cannot be used: no gdb here") {
		t.Errorf("got %v", s.err)
	}
}

func TestConfigValidate(t *testing.T) {
	good := func(backend.Sink) (backend.Backend, error) { return nil, nil }
	cases := []struct {
		name string
		cfg  Config
		want string
	}{
		{"number", Config{ID: -1, NewBackend: good}, "server number -1"},
		{"back end", Config{}, "no back end"},
		{"linger", Config{NewBackend: good, Linger: -1}, "linger"},
		{"slot", Config{NewBackend: good, Slot: &protocol.Job{}}, "a slot without a program"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Run(t.Context(), c.cfg, Links{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLaunchManyAtOnce(t *testing.T) {
	b := newBench(t, nil)
	before := descriptors(t)
	b.shell(t, 64, "echo from $SDM_RANK", rank.Set{})
	b.up.until(t, "all ended", func() bool { return b.up.kinds[protocol.KindExited] == 64 })
	for r := range 64 {
		if got, want := b.up.output(fmt.Sprintf("out %d", r)), fmt.Sprintf("from %d\n", r); got != want {
			t.Errorf("rank %d wrote %q", r, got)
		}
	}
	b.close(t.Context())
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}
