package lazy

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
	"sdm/backend/backendtest"
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

func lazyFour(t *testing.T, debug Open) (*Backend, *record) {
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
	b, r := lazyFour(t, func(k backend.Sink) (backend.Backend, error) { opened++; return simulated(k) })
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

// A rank is attached to once, until it has ended: for the session, or for the debugger that has it.
func TestSecondAttach(t *testing.T) {
	b, r := lazyFour(t, simulated)
	refused := " attach: " + backend.Running.Refuse(protocol.NeedNew).Message
	again := func(id protocol.RequestID, n rank.ID) {
		b.Attach(id, []backend.Target{{Rank: n, Size: 4, PID: 200 + int(n)}}, "", 0)
	}
	again(2, 0)
	r.expect(t, "reply 2 error 0"+refused)
	b.Do(request(3, rank.Of(1), "kill", protocol.Args{}))
	r.expect(t, "event stopped 1", "reply 3 reply 1", "event signalled 1")
	again(4, 1)
	r.expect(t, "reply 4 reply 1", "event watched 1")
	b.Do(request(5, rank.Of(1), "detach", protocol.Args{}))
	r.expect(t, "event detached 1", "reply 5 reply 1")
	again(6, 1)
	r.expect(t, "reply 6 reply 1", "event watched 1")
}

func TestRefusedAttachLeavesRanksWatched(t *testing.T) {
	b, r := lazyFour(t, func(k backend.Sink) (backend.Backend, error) { return refusing{k}, nil })
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

// fading is a looker whose rank 1 ends, which it knows before it tells, and that cannot read rank 2.
type fading struct {
	backend.Backend
	sink backend.Sink
}

func (fading) Over(r rank.ID) bool { return r == 1 }

func (x fading) end() {
	x.sink.Event(protocol.Group{Kind: protocol.KindExited, Ranks: rank.Of(1), Body: []byte(`{"unknown":true}`)})
}

func (x fading) Do(q backend.Request) {
	x.sink.Reply(q.ID, protocol.Group{Kind: protocol.KindFault, Ranks: q.Ranks, Body: []byte(`{"kind":"gdb","op":"stacks","message":"unreadable"}`)})
}

func lazyFading(t *testing.T, debug Open) (*Backend, *record, fading) {
	t.Helper()
	var looker fading
	r := &record{}
	b, err := New(func(k backend.Sink) (backend.Backend, error) {
		inner, err := simulated(k)
		looker = fading{inner, k}
		return looker, err
	}, debug, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(t.Context()) })
	b.Attach(1, []backend.Target{{Rank: 1, Size: 4, PID: 101}, {Rank: 2, Size: 4, PID: 102}}, "", 0)
	r.take(t, 4)
	return b, r, looker
}

func TestEndOfAWatchedRank(t *testing.T) {
	b, r, looker := lazyFading(t, simulated)
	b.Do(request(2, rank.Range(1, 2), "print", protocol.Args{Expr: "rank"}))
	ended := backend.Exited.Refuse(protocol.NeedAlive).Message
	r.expect(t, "reply 2 error 1 print: "+ended, "event stopped 2", "reply 2 reply 2")
	looker.end()
	looker.end()
	r.expect(t, "event exited 1")
	b.Do(request(3, rank.Of(1), "stacks", protocol.Args{}))
	r.expect(t, "reply 3 error 1 stacks: "+ended)
}

// An end that is noticed while the debugger attaches is told when the debugger has failed.
func TestEndDuringTheAttach(t *testing.T) {
	var debugger refusing
	b, r, looker := lazyFading(t, func(k backend.Sink) (backend.Backend, error) {
		debugger = refusing{k}
		return waiting{refusing: debugger}, nil
	})
	b.Do(request(2, rank.Of(2), "print", protocol.Args{Expr: "rank"}))
	b.Do(request(3, rank.Of(2), "print", protocol.Args{Expr: "rank"}))
	looker.sink.Event(protocol.Group{Kind: protocol.KindExited, Ranks: rank.Of(2), Body: []byte(`{"unknown":true}`)})
	looker.end() // follows it
	r.expect(t, "event exited 1")
	debugger.Attach(ours+1, []backend.Target{{Rank: 2}}, "", 0)
	r.expect(t, "reply 2 error 2 print: not permitted", "reply 3 error 2 print: not permitted", "event exited 2")
}

// waiting is a debugger that does not answer to an attach.
type waiting struct{ refusing }

func (waiting) Attach(protocol.RequestID, []backend.Target, string, time.Duration) {}

// What one of the two cannot do, the other one may.
func TestHints(t *testing.T) {
	var hints []string
	told := make(chan bool, 2)
	sink := hinting{func(hint string) { hints = append(hints, hint); told <- true }}
	b, err := New(func(k backend.Sink) (backend.Backend, error) {
		inner, err := simulated(k)
		return fading{inner, k}, err
	}, func(k backend.Sink) (backend.Backend, error) { return refusing{k}, nil }, sink)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(t.Context())
	b.Attach(1, []backend.Target{{Rank: 2, Size: 4, PID: 102}}, "", 0)
	for id, name := range []string{"stacks", "print"} {
		b.Do(request(protocol.RequestID(id+2), rank.Of(2), name, protocol.Args{Expr: "rank"}))
		<-told
	}
	if want := []string{"backtrace has gdb try", "stacks reads it without gdb"}; !slices.Equal(hints, want) {
		t.Errorf("%q, want %q", hints, want)
	}
}

// hinting is a sink that is interested in hints.
type hinting struct{ add func(string) }

func (hinting) Event(...protocol.Group) {}

func (x hinting) Reply(_ protocol.RequestID, groups ...protocol.Group) {
	for _, g := range groups {
		var f protocol.Fault
		if g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil {
			x.add(f.Hint)
		}
	}
}

// An attach stops a rank, so that there is nothing left to be done for an interrupt.
func TestInterruptOfAWatchedRank(t *testing.T) {
	b, r := lazyFour(t, simulated)
	b.Do(request(2, rank.Of(0), "interrupt", protocol.Args{}))
	r.expect(t, "event stopped 0", "reply 2 reply 0")
}

// Ranks that are held from the start have a debugger at once: all that a debugger passes is passed.
func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{
		Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
			open := func(k backend.Sink) (backend.Backend, error) {
				return sim.New(sim.Config{Size: s.Ranks, Loop: s.Loop}, k), nil
			}
			b, err := New(open, open, sink)
			if err != nil {
				t.Fatal(err)
			}
			return backendtest.Opened{Backend: b, Hold: func(r rank.ID) backend.Target { return backend.Target{Rank: r, Held: true} }}
		},
	})
}

func TestNoDebugger(t *testing.T) {
	b, r := lazyFour(t, func(backend.Sink) (backend.Backend, error) { return nil, errors.New("no gdb") })
	b.Do(request(2, rank.Range(0, 1), "next", protocol.Args{}))
	r.expect(t, "reply 2 error 0-1 next: no gdb")
	b.Do(request(3, rank.Range(0, 1), "stacks", protocol.Args{}))
	r.expect(t, "reply 3 reply 0-1")
}
