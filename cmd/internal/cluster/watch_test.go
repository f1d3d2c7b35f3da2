package cluster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sdm/master/frontend/sentinel"
	"sdm/master/hangfile"
	"sdm/master/progress"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestWatch watches many simulated ranks of which all but one wait in a barrier: the hang file stays small.
func TestWatch(t *testing.T) {
	const ranks, servers = 10_000, 160
	script, err := ParseScript(strings.NewReader("barrier 1-9999\n"), ranks, servers)
	if err != nil {
		t.Fatal(err)
	}
	d, all := up(t, Config{Ranks: ranks, Servers: servers, Script: script}), rank.Range(0, ranks-1)
	stalled := errors.New("stalled")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var seen *sentinel.Sight
	_, err = sentinel.Run(ctx, sentinel.Config{
		Session: d.Master, Ranks: all, Wait: patience, Judge: progress.Config{Stall: 300 * time.Millisecond},
		First:   &session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "work", Size: ranks, StopAt: "main"}}},
		Stalled: func(_ context.Context, s *sentinel.Sight) { seen = s; cancel(stalled) },
		Remark:  func(said string) { t.Error(said) }, Log: slog.New(slog.DiscardHandler),
	})
	if !errors.Is(err, stalled) || seen == nil {
		t.Fatalf("%v", err)
	}
	f := hangfile.New(seen.At, "test", hangfile.Reason{Kind: hangfile.Stall}, hangfile.Job{}, seen.Ranks)
	f.Stacks, f.Hosts, f.States = seen.Stacks, seen.Hosts, seen.States
	f.Judge()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	if len(f.Verdict) != 1 || f.Verdict[0].Ranks.Len() != ranks {
		t.Errorf("the verdict is %+v", f.Verdict)
	}
	if b.Len() > 300<<10 {
		t.Errorf("%d bytes", b.Len())
	}
	t.Logf("%d bytes: %s", b.Len(), f.Verdict[0].Text)
}
