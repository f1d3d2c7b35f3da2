package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/backendtest"
	"sdm/cmd/internal/gdbflags"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestConformanceOfLazy plays the suite to the back end of sdm attach --lazy: the real probe, and a
// gdb that attaches by the first command that needs it. All ranks begin as watched, each of them
// stopped by SIGSTOP where the script attaches to it. Stacks that the script asks for first are
// read by the probe, and must be what gdb tells of ranks that it has.
func TestConformanceOfLazy(t *testing.T) {
	program := suiteProgram(t)
	backendtest.Run(t, backendtest.Subject{
		Watched: true,
		Without: map[string]string{"none": "ranks that run and end without a stop leave nothing to be watched"},
		Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
			b, err := openLazy(&options{}, slog.New(slog.DiscardHandler), sink)
			if err != nil {
				t.Fatal(err)
			}
			p := newPlacer(t, s, program)
			return backendtest.Opened{Backend: b, Place: p.place, Done: p.close}
		},
	})
}

// suiteProgram compiles the program of the suite.
func suiteProgram(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "work")
	dir, commands := backendtest.Program(out)
	for _, c := range commands {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, text)
		}
	}
	return out
}

// placer starts ranks and brings them to a function by a gdb of its own, which then detaches. Its
// methods are called by the goroutine of the test. It implements backend.Sink for that gdb.
type placer struct {
	t       *testing.T
	setup   backendtest.Setup
	program string
	forker  *local.Forker
	procs   []*local.Process
	tasks   sync.WaitGroup // read the output of the ranks
	events  chan protocol.Group
}

func newPlacer(t *testing.T, s backendtest.Setup, program string) *placer {
	return &placer{t: t, setup: s, program: program, forker: local.NewForker(), events: make(chan protocol.Group, 100)}
}

// Reply implements backend.Sink.
func (p *placer) Reply(_ protocol.RequestID, groups ...protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindFault {
			p.t.Errorf("the gdb that places ranks: %v", g)
		}
	}
}

// Event implements backend.Sink.
func (p *placer) Event(groups ...protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindStopped || g.Kind.IsEnd() {
			p.events <- g
		}
	}
}

// await waits until each of some ranks has been in an event.
func (p *placer) await(kind protocol.Kind, ranks rank.Set) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), backendtest.WaitLimit)
	defer cancel()
	for !ranks.IsEmpty() {
		select {
		case g := <-p.events:
			if g.Kind != kind {
				p.t.Fatalf("placing ranks %v: %v, want %v", ranks, g, kind)
			}
			ranks = ranks.Minus(g.Ranks)
		case <-ctx.Done():
			p.t.Fatalf("placing ranks: %v are not %v", ranks, kind)
		}
	}
}

// place starts ranks, which stop at a function ("": main) or, at "entry", before their
// first instruction. It returns them as they are attached to: stopped by SIGSTOP and traced
// by nobody.
func (p *placer) place(ranks rank.Set, stopAt string) []backend.Target {
	p.t.Helper()
	var targets []backend.Target
	for r := range ranks.All() {
		targets = append(targets, backend.Target{Rank: r, Size: p.setup.Ranks, PID: p.start(r), Program: p.program, Held: true})
	}
	if stopAt != "entry" {
		p.bring(targets, ranks, stopAt)
	}
	for i := range targets {
		targets[i].Held = false
	}
	return targets
}

// bring makes ranks that are held run to a function. Each has a gdb of its own: a gdb that runs others waits
// for a SIGSTOP that it has sent, and at the detach takes back ours with its own.
func (p *placer) bring(targets []backend.Target, ranks rank.Set, stopAt string) {
	p.t.Helper()
	engine, err := openGDB(&options{gdb: gdbflags.Values{RanksPerGDB: "1"}}, slog.New(slog.DiscardHandler), p)
	if err != nil {
		p.t.Fatal(err)
	}
	engine.Attach(1, targets, stopAt, backendtest.WaitLimit)
	p.await(protocol.KindStopped, ranks)
	for _, t := range targets {
		if err := syscall.Kill(t.PID, syscall.SIGSTOP); err != nil {
			p.t.Fatal(err)
		}
	}
	engine.Do(backend.Request{ID: 2, Ranks: ranks, Wait: backendtest.WaitLimit, Command: &protocol.Command{Name: "detach"}})
	p.await(protocol.KindDetached, ranks)
	if err := engine.Close(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// start starts one rank, and returns its process.
func (p *placer) start(r rank.ID) int {
	p.t.Helper()
	env := append(os.Environ(), "SDM_RANK="+strconv.Itoa(int(r)))
	if p.setup.Loop.Contains(r) {
		env = append(env, "SDM_LOOP=1")
	}
	proc, err := p.forker.Hold(local.Spec{Rank: r, Program: p.program, Env: env})
	if err != nil {
		p.t.Fatal(err)
	}
	p.procs = append(p.procs, proc)
	p.tasks.Go(func() { io.Copy(io.Discard, proc.Stdout); proc.Stdout.Close() })
	p.tasks.Go(func() { io.Copy(io.Discard, proc.Stderr); proc.Stderr.Close() })
	return proc.PID
}

// close ends all ranks.
func (p *placer) close() {
	for _, proc := range p.procs {
		proc.Kill()
		proc.Wait()
	}
	p.tasks.Wait()
	p.forker.Close()
}
