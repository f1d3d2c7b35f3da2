package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sdm/backend"
	"sdm/backend/sim"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a Sink that keeps what it is told, as text.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) Reply(id protocol.RequestID, groups ...protocol.Group) {
	r.add(fmt.Sprint("reply ", id), groups)
}

func (r *record) Event(groups ...protocol.Group) { r.add("event", groups) }

func (r *record) add(what string, groups []protocol.Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range groups {
		text := fmt.Sprint(what, " ", g.Kind, " ", g.Ranks)
		var f protocol.Fault
		if g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil {
			text += " " + f.Op + ": " + f.Message
		}
		r.lines = append(r.lines, text)
	}
}

// take returns the lines since the last call, and waits until n have come.
func (r *record) take(t *testing.T, n int) []string {
	t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; {
		r.mu.Lock()
		if len(r.lines) >= n {
			lines := r.lines
			r.lines = nil
			r.mu.Unlock()
			return lines
		}
		got := slices.Clone(r.lines)
		r.mu.Unlock()
		if time.Now().After(limit) {
			t.Fatalf("got %q, want %d lines", got, n)
		}
	}
}

// simulated makes the simulated debugger, of 4 ranks.
func simulated(k backend.Sink) (backend.Backend, error) { return sim.New(sim.Config{Size: 4}, k), nil }

func watchFour(t *testing.T, debug Open) (*Backend, *record) {
	t.Helper()
	r := &record{}
	b, err := New(simulated, debug, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	var targets []backend.Target
	for i := range rank.ID(4) {
		targets = append(targets, backend.Target{Rank: i, Size: 4, PID: 100 + int(i)})
	}
	b.Attach(1, targets, "", 0)
	if got := strings.Join(r.take(t, 8), "; "); strings.Count(got, "event watched") != 4 {
		t.Fatal(got)
	}
	return b, r
}

func (r *record) expect(t *testing.T, want ...string) {
	t.Helper()
	got := r.take(t, len(want))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func request(id protocol.RequestID, ranks rank.Set, name string, a protocol.Args) backend.Request {
	return backend.Request{ID: id, Ranks: ranks, Command: &protocol.Command{Name: name, Args: a}}
}

func TestDebuggerOfAddressedRanksOnly(t *testing.T) {
	opened := 0
	b, r := watchFour(t, func(k backend.Sink) (backend.Backend, error) { opened++; return simulated(k) })
	all := rank.Range(0, 3)
	b.Do(request(2, all, "stacks", protocol.Args{}))
	r.expect(t, "reply 2 reply 0-3")
	b.Do(request(3, rank.Range(1, 2), "print", protocol.Args{Expr: "rank"}))
	r.expect(t, "event stopped 1-2", "reply 3 reply 1", "reply 3 reply 2")
	b.Do(request(4, all, "stacks", protocol.Args{}))
	r.expect(t, "reply 4 reply 0,3", "reply 4 reply 1-2")
	b.Do(request(5, rank.Range(3, 3), "detach", protocol.Args{}))
	r.expect(t, "event detached 3", "reply 5 reply 3")
	b.Do(request(6, rank.Range(3, 3), "print", protocol.Args{Expr: "rank"}))
	r.expect(t, "reply 6 error 3 print: "+backend.Detached.Refuse(protocol.NeedAlive).Message)
	b.Do(request(7, rank.Range(9, 9), "stacks", protocol.Args{}))
	if got := r.take(t, 1); !strings.HasPrefix(got[0], "reply 7 error 9") {
		t.Error(got)
	}
	if opened != 1 {
		t.Errorf("%d debuggers", opened)
	}
}

func TestRefusedAttachLeavesRanksWatched(t *testing.T) {
	b, r := watchFour(t, func(k backend.Sink) (backend.Backend, error) { return refusing{k}, nil })
	b.Do(request(2, rank.Range(0, 1), "print", protocol.Args{Expr: "rank"}))
	r.expect(t, "reply 2 error 0 print: not permitted", "reply 2 error 1 print: not permitted")
	b.Do(request(3, rank.Range(0, 3), "stacks", protocol.Args{}))
	r.expect(t, "reply 3 reply 0-3")
}

// refusing is a debugger that cannot attach.
type refusing struct{ backend.Sink }

func (refusing) Do(backend.Request)           {}
func (refusing) Ended(rank.ID, protocol.Exit) {}
func (refusing) Close(context.Context) error  { return nil }

func (x refusing) Attach(id protocol.RequestID, targets []backend.Target, _ string, _ time.Duration) {
	x.Reply(id, protocol.Group{Kind: protocol.KindFault, Ranks: ranksOf(targets), Body: []byte(`{"kind":"launch","op":"attach","message":"not permitted"}`)})
}

func TestNoDebugger(t *testing.T) {
	b, r := watchFour(t, func(backend.Sink) (backend.Backend, error) { return nil, errors.New("no gdb") })
	b.Do(request(2, rank.Range(0, 1), "next", protocol.Args{}))
	r.expect(t, "reply 2 error 0-1 next: no gdb")
	b.Do(request(3, rank.Range(0, 1), "stacks", protocol.Args{}))
	r.expect(t, "reply 3 reply 0-1")
}
