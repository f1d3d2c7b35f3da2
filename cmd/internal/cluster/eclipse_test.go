package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"sdm/master/frontend/ptp"
	"sdm/master/session"
	wire "sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
	"sdm/protocol/rank"
)

// TestEclipse lets Eclipse control 500 simulated ranks; the ranks of one server are lost.
func TestEclipse(t *testing.T) {
	const n = 500
	d := up(t, Config{Ranks: n, Servers: 10, Shape: "flat", Script: script(t, "value load = rank % 3\n")})
	e, conn := ptptest.Piped(n)
	defer e.Close()
	all := rank.Range(0, n-1)
	served := make(chan error, 1)
	go func() {
		open := func(context.Context) (session.Session, session.Report, error) {
			return d.Master, session.Report{Servers: 10, Ranks: all}, nil
		}
		served <- ptp.Serve(t.Context(), conn, open, slog.New(slog.DiscardHandler))
	}()
	ask := func(answer, command wire.Code, ranks rank.Set, args ...string) []wire.Packet {
		t.Helper()
		err := e.Send(command, append([]string{e.Set(ranks)}, args...)...)
		var found []wire.Packet
		if err == nil {
			found, err = e.Await(answer, ranks)
		}
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := e.Send(wire.Start, "work", "/bin", "/tmp"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Await(wire.EventOK, all); err != nil {
		t.Fatal(err)
	}
	if set := ask(wire.EventBreak, wire.FuncBreak, all, "0", "0", "0", "", "compute", "", "0", "0"); len(set) != 1 {
		t.Errorf("%d events tell of one breakpoint", len(set))
	}
	ask(wire.EventOK, wire.Go, all)
	stops, err := e.Await(wire.EventSuspend, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range stops {
		if got := strings.Join(stop.Args[1:], " "); !strings.HasPrefix(got, "0 0 1 2 ") {
			t.Errorf("stopped: %v", stop)
		}
	}
	if frames := ask(wire.EventFrames, wire.ListFrames, all, "0", "0"); len(frames) != 1 || frames[0].Args[1] != "2" {
		t.Errorf("%d stacks: %v", len(frames), frames)
	}
	if vars := ask(wire.EventVars, wire.ListLocals, all); len(vars) != 1 {
		t.Errorf("locals: %v", vars)
	}
	d.Kill(rank.Of(3))
	if _, err := e.Await(wire.EventExit, d.Ranks(rank.Of(3))); err != nil {
		t.Fatal(err)
	}
	left := all.Minus(d.Ranks(rank.Of(3)))
	if depth := ask(wire.EventDepth, wire.StackDepth, left); len(depth) != 1 || depth[0].Args[1] != "2" {
		t.Errorf("depths: %v", depth)
	}
	ask(wire.EventOK, wire.Terminate, all)
	if err := e.Send(wire.Quit); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = e.Next()
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
