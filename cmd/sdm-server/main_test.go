package main

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sdm/backend"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// roleEnv makes the test binary act as sdm-server, with a back end that needs no gdb.
const roleEnv = "SDM_SERVER_TEST_ROLE"

func TestMain(m *testing.M) {
	local.ShimMain(os.Args)
	if os.Getenv(roleEnv) != "" {
		os.Exit(run(os.Args, os.Environ(), testEngines))
	}
	goleak.VerifyTestMain(m)
}

// testEngines has the real back ends and one that only lets ranks run.
var testEngines = map[string]engine{
	"signals": {open: func(_ *options, _ *slog.Logger, k backend.Sink) (backend.Backend, error) {
		return &signaller{sink: k, pids: map[rank.ID]int{}}, nil
	}},
	"gdb": backends["gdb"],
	"sim": backends["sim"],
}

// signaller is a back end that lets ranks run and does nothing else.
type signaller struct {
	sink backend.Sink
	mu   sync.Mutex
	pids map[rank.ID]int
}

func (b *signaller) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, _ time.Duration) {
	for _, t := range targets {
		b.mu.Lock()
		b.pids[t.Rank] = t.PID
		b.mu.Unlock()
		b.sink.Event(protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Of(t.Rank), Body: []byte(`{"reason":"entry"}`)})
		b.sink.Reply(id, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(t.Rank), Body: []byte("{}")})
	}
}

func (b *signaller) Do(q backend.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range q.Ranks.All() {
		if q.Command.Name == "detach" {
			b.sink.Event(protocol.Group{Kind: protocol.KindDetached, Ranks: rank.Of(r), Body: []byte("{}")})
		} else {
			b.sink.Event(protocol.Group{Kind: protocol.KindRunning, Ranks: rank.Of(r), Body: []byte("{}")})
		}
		b.sink.Reply(q.ID, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: []byte("{}")})
		syscall.Kill(b.pids[r], syscall.SIGCONT)
	}
}

func (b *signaller) Ended(r rank.ID, exit protocol.Exit) {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	b.sink.Event(protocol.Group{Kind: kind, Ranks: rank.Of(r), Body: canonical.JSON(exit)})
}

func (b *signaller) Close(context.Context) error { return nil }
