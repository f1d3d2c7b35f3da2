package hub

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

func ranks(t testing.TB, text string) rank.Set {
	t.Helper()
	var s rank.Set
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

func event(t testing.TB, kind protocol.Kind, set, body string) session.Event {
	t.Helper()
	return session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks(t, set), Body: []byte(body)})
}

// shared runs a test with a hub over a tape.
func shared(t *testing.T, cfg Config, scenes []sessiontest.Scene, do func(*Hub, *sessiontest.Tape)) {
	synctest.Test(t, func(t *testing.T) {
		tape := sessiontest.NewTape(scenes...)
		cfg.Session, cfg.Ranks = tape, ranks(t, "0-7")
		h := New(cfg)
		do(h, tape)
		tape.Close(context.Background())
		h.Wait()
	})
}

// drain returns what has been pushed for a front end, a line each.
func drain(v *View) []string {
	synctest.Wait()
	var lines []string
	for {
		select {
		case e, ok := <-v.Events():
			if ok {
				lines = append(lines, string(e.AppendJSON(nil)))
				synctest.Wait()
				continue
			}
			return append(lines, "over")
		default:
			return lines
		}
	}
}

func join(t testing.TB, h *Hub, name string) (*View, session.Welcome) {
	t.Helper()
	v, err := h.Join(protocol.FrontEnd{Name: name, Door: "console"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v, v.Welcome()
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s:\n%s\nwant:\n%s", what, g, w)
	}
}

func TestAnswersGoToWhoAskedAndEventsToAll(t *testing.T) {
	running := event(t, protocol.KindRunning, "0-3", "{}")
	scenes := []sessiontest.Scene{
		{Events: []session.Event{event(t, protocol.KindResult, "0-7", `{"n":1}`)}},
		{Events: []session.Event{running, event(t, protocol.KindResult, "0-3", `{}`)}},
	}
	shared(t, Config{}, scenes, func(h *Hub, _ *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		bob, w := join(t, h, "bob")
		if len(w.Others) != 1 || w.Others[0].Name != "ann" || w.Front.Number != 2 {
			t.Errorf("the second is welcomed with %+v", w)
		}
		for _, c := range []session.Call{{Command: "print", Args: protocol.Args{Expr: "n"}}, {Command: "continue", Ranks: "0-3"}} {
			if _, err := ann.Do(context.Background(), c); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		expect(t, "who asks", drain(ann),
			`{"event":"front","ranks":"","n":0,"cursor":1,"front":1,"name":"ann","door":"console","change":"came"}`,
			`{"event":"front","ranks":"","n":0,"cursor":2,"front":2,"name":"bob","door":"console","change":"came"}`,
			`{"event":"reply","id":1,"command":"print","ranks":"0-7","n":8,"result":{"n":1}}`,
			`{"event":"done","id":1,"command":"print","asked":8,"answered":8,"ms":0}`,
			`{"event":"command","ranks":"","n":0,"cursor":3,"front":1,"name":"ann","request":2,"line":"continue","set":"0-3"}`,
			`{"event":"running","ranks":"0-3","n":4,"cursor":4}`,
			`{"event":"reply","id":2,"command":"continue","ranks":"0-3","n":4,"result":{}}`,
			`{"event":"done","id":2,"command":"continue","asked":4,"answered":4,"ms":0}`)
		expect(t, "who looks on", drain(bob),
			`{"event":"front","ranks":"","n":0,"cursor":2,"front":2,"name":"bob","door":"console","change":"came"}`,
			`{"event":"command","ranks":"","n":0,"cursor":3,"front":1,"name":"ann","request":2,"line":"continue","set":"0-3"}`,
			`{"event":"running","ranks":"0-3","n":4,"cursor":4}`)
	})
}

// Whoever sets, changes or deletes a breakpoint is named; a temporary one that was reached goes by itself.
func TestBreakpointsOfOneAreToldToAll(t *testing.T) {
	one := func(kind protocol.Kind, set, body string) sessiontest.Scene {
		return sessiontest.Scene{Events: []session.Event{event(t, kind, set, body)}}
	}
	const point = `{"breakpoints":[{"number":1,"type":"breakpoint","enabled":true,"location":"f"}]}`
	scenes := []sessiontest.Scene{
		one(protocol.KindResult, "0-3", point), one(protocol.KindFault, "0-3", `{"kind":"gdb","message":"no"}`),
		one(protocol.KindResult, "0-3", `{}`), one(protocol.KindResult, "0-3", `{"deleted":[4]}`), one(protocol.KindResult, "0-3", `{}`),
		one(protocol.KindResult, "0-3", point),
	}
	shared(t, Config{}, scenes, func(h *Hub, tape *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		bob, _ := join(t, h, "bob")
		for _, c := range []session.Call{
			{Command: "break", Args: protocol.Args{Location: "f"}},
			{Command: "break", Args: protocol.Args{Location: "g"}},
			{Command: "enable", Args: protocol.Args{Breakpoints: []int{1}, Then: "disable"}},
			{Command: "clear", Args: protocol.Args{Location: "f"}},
			{Command: "delete"},
			{Command: "info breakpoints"},
		} {
			if _, err := ann.Do(context.Background(), c); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		tape.Emit(event(t, protocol.KindStopped, "0", `{"reason":"breakpoint-hit","breakpoint":7,"temporary":true}`),
			event(t, protocol.KindStopped, "1", `{"reason":"breakpoint-hit","breakpoint":1}`),
			event(t, protocol.KindStopped, "2", `{"reason":"breakpoint-hit","breakpoint":9}`))
		var got []string
		for _, line := range drain(bob) {
			if i := strings.Index(line, `"change"`); i >= 0 && strings.Contains(line, `"event":"breakpoint"`) {
				got = append(got, line[i:])
			}
		}
		expect(t, "the other", got,
			`"change":"added","numbers":[1],"breakpoint":{"number":1,"type":"breakpoint","enabled":true,"location":"f"},"front":1,"name":"ann","request":1}`,
			`"change":"changed","numbers":[1],"front":1,"name":"ann","request":3}`,
			`"change":"removed","numbers":[4],"front":1,"name":"ann","request":4}`,
			`"change":"removed","front":1,"name":"ann","request":5}`,
			`"change":"removed","numbers":[7]}`,
			`"change":"changed","numbers":[1]}`)
	})
}

func TestOnlyWhoAskedCancels(t *testing.T) {
	shared(t, Config{}, []sessiontest.Scene{{}, {}}, func(h *Hub, _ *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		bob, _ := join(t, h, "bob")
		id, err := ann.Do(context.Background(), session.Call{Command: "print", Args: protocol.Args{Expr: "n"}})
		if err != nil {
			t.Fatal(err)
		}
		cancel := session.Call{Command: "cancel", Args: protocol.Args{Of: id}}
		if _, err := bob.Do(context.Background(), cancel); err == nil || !strings.Contains(err.Error(), "is not of this front end") {
			t.Errorf("another one: %v", err)
		}
		if _, err := ann.Do(context.Background(), cancel); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatNobodySawIsShownToTheNext(t *testing.T) {
	shared(t, Config{}, nil, func(h *Hub, tape *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		tape.Emit(event(t, protocol.KindRunning, "0-7", "{}"))
		drain(ann)
		ann.Leave(2)
		tape.Emit(event(t, protocol.KindStdout, "3", "hello\n"), event(t, protocol.KindExited, "3", `{"code":1}`))
		synctest.Wait()
		again, w := join(t, h, "ann")
		if w.Snapshot != 1 || w.Cursor != 2 {
			t.Errorf("welcomed with %+v", w)
		}
		expect(t, "who comes back", drain(again),
			`{"event":"running","ranks":"0-7","n":8}`,
			`{"event":"front","ranks":"","n":0,"cursor":3,"front":1,"name":"ann","door":"console","change":"left"}`,
			`{"event":"output","ranks":"3","n":1,"cursor":4,"stream":"stdout","text":"hello\n"}`,
			`{"event":"exited","ranks":"3","n":1,"cursor":5,"code":1}`,
			`{"event":"front","ranks":"","n":0,"cursor":6,"front":2,"name":"ann","door":"console","change":"came"}`)
	})
}

func TestSummaryIsOfTheStatesAndWhoIsThere(t *testing.T) {
	shared(t, Config{}, nil, func(h *Hub, tape *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		bob, _ := join(t, h, "bob")
		tape.Emit(event(t, protocol.KindStopped, "0-3", `{"reason":"breakpoint"}`), event(t, protocol.KindRunning, "4", "{}"),
			event(t, protocol.KindStopped, "5-7", `{"reason":"interrupted"}`))
		drain(bob)
		ann.Leave(0)
		const want = `{"states":[{"state":"stopped","ranks":"0-3,5-7"},{"state":"running","ranks":"4"}],` +
			`"fronts":[{"front":2,"name":"bob","door":"console"}]}`
		if got := string(canonical.JSON(h.Summary())); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestQuitIsRefusedOnceWhileOthersAreThere(t *testing.T) {
	shared(t, Config{}, []sessiontest.Scene{{}}, func(h *Hub, _ *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		bob, err := h.Join(protocol.FrontEnd{Name: "bob", Host: "login2"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ann.Do(context.Background(), session.Call{Command: "quit"})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Message != "bob on login2 is here, too" {
			t.Errorf("the first quit gives %v", err)
		}
		if _, err := ann.Do(context.Background(), session.Call{Command: "quit"}); err != nil {
			t.Errorf("the second quit gives %v", err)
		}
		if _, err := h.Join(protocol.FrontEnd{}, nil); !errors.Is(err, ErrOver) {
			t.Errorf("who comes after the quit gets %v", err)
		}
		bob.Leave(0)
	})
}

func TestFrontEndsCannotSpeakToTerminals(t *testing.T) {
	shared(t, Config{}, nil, func(h *Hub, _ *sessiontest.Tape) {
		v, err := h.Join(protocol.FrontEnd{Name: "\x1b[2Jann\u202e\n", Host: strings.Repeat("h", 1000)}, nil)
		if w := v.Welcome(); err != nil || w.Front.Name != "[2Jann" || len(w.Front.Host) > 100 {
			t.Errorf("front %+v, %v", w.Front, err)
		}
	})
}

func TestOneThatDoesNotReadDelaysNobody(t *testing.T) {
	shared(t, Config{}, nil, func(h *Hub, tape *sessiontest.Tape) {
		slow, _ := join(t, h, "slow")
		quick, _ := join(t, h, "quick")
		drain(quick)
		const n = 3 * maxWaiting
		for i := range n {
			tape.Emit(event(t, protocol.KindStdout, "1", fmt.Sprintf("%d\n", i)))
			if i%100 == 0 && len(drain(quick)) == 0 {
				t.Fatalf("nothing came to who reads after %d lines", i)
			}
		}
		drain(quick)
		lines := drain(slow)
		var at int
		for i, line := range lines {
			if strings.Contains(line, `"event":"gap"`) {
				at = i
			}
		}
		shown := 0
		for _, line := range lines[:at] {
			if strings.Contains(line, `"output"`) {
				shown++
			}
		}
		if want := fmt.Sprintf(`{"event":"gap","ranks":"","n":0,"missed":%d}`, n-shown); at == 0 || lines[at] != want {
			t.Errorf("line %d of %d is %s, want %s", at, len(lines), lines[at], want)
		}
	})
}

func TestOutputIsHeldBackWhileNobodyReads(t *testing.T) {
	shared(t, Config{}, nil, func(h *Hub, tape *sessiontest.Tape) {
		only, _ := join(t, h, "only")
		for range 2 * maxWaiting {
			tape.Emit(event(t, protocol.KindStdout, "1", "x\n"))
		}
		synctest.Wait()
		h.mu.Lock()
		missed, end := only.missed, h.record.end()
		h.mu.Unlock()
		if missed > 0 || end > maxWaiting/2 {
			t.Errorf("%d events were taken, %d of them lost to the only front end", end, missed)
		}
		second, _ := join(t, h, "second") // it reads: the first one holds nothing up any more
		if got := drain(second); len(got) < maxWaiting {
			t.Errorf("%d events came to the second", len(got))
		}
		drain(only)
	})
}

func TestRecordForgetsTheOldest(t *testing.T) {
	r := record{max: 40 * perEvent}
	for i := range 1000 {
		r.add(event(t, protocol.KindStopped, fmt.Sprint(i%8), fmt.Sprintf(`{"reason":"%d"}`, i)))
	}
	if len(r.kept) > 40 || r.end() != 1000 || r.missed(0) != r.first {
		t.Errorf("%d kept of %d, %d missed", len(r.kept), r.end(), r.missed(0))
	}
	for _, cursor := range []uint64{0, r.first, r.first + 5, r.end() - 1, r.end()} {
		snapshot, rest := r.from(cursor)
		now := session.NewStates(ranks(t, "0-7"))
		for _, e := range append(snapshot, rest...) {
			now.Feed(e)
		}
		for i := range 8 {
			if s, _ := now.Of(rank.ID(i)); s.Reason != fmt.Sprint(992+i) {
				t.Errorf("from %d: rank %d is %+v", cursor, i, s)
			}
		}
	}
}

var manySeeds = flag.Int("seeds", 0, "number of random histories of front ends; 0: the few of make test")

// TestRandomFrontEnds lets front ends join, leave, break, read slowly and command at random, and compares what each
// has got with a log of everything, in which nothing is ever bounded.
func TestRandomFrontEnds(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 30
	}
	seeds = max(seeds, *manySeeds)
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { randomFrontEnds(t, uint64(seed)) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// frontEnd is one front end of the random test, and all that it has got.
type frontEnd struct {
	*View
	got   []session.Event
	asked map[protocol.RequestID]bool // done has come
	from  uint64                      // the cursor at which it joined
}

func (f *frontEnd) read(n int) {
	for range n {
		synctest.Wait()
		select {
		case e, ok := <-f.Events():
			if !ok {
				return
			}
			f.got = append(f.got, e)
		default:
			return
		}
	}
}

func randomFrontEnds(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	x := &echo{stream: session.NewStream()}
	var log []session.Event // everything that concerns everybody
	h := New(Config{Session: x, Ranks: ranks(t, "0-7"), Kept: []int{1 << 20, 8 * perEvent}[r.IntN(2)], Observe: func(e session.Event) {
		if e.Cursor != 0 {
			log = append(log, e)
		}
	}})
	var there, gone []*frontEnd
	cursors := []uint64{}
	for range 60 + r.IntN(60) {
		synctest.Wait()
		f, k := pick(r, there), r.IntN(10)
		switch {
		case k < 2 && len(there) < 5:
			var cursor *uint64
			from := h.seen
			if len(cursors) > 0 && r.IntN(2) == 0 {
				from = cursors[r.IntN(len(cursors))]
				cursor = &from
			}
			v, err := h.Join(protocol.FrontEnd{Name: "f"}, cursor)
			if err != nil {
				t.Fatal(err)
			}
			w := v.Welcome()
			if from >= h.record.first && w.Cursor != from {
				t.Fatalf("joined at %d, not at %d", w.Cursor, from)
			}
			there = append(there, &frontEnd{View: v, asked: map[protocol.RequestID]bool{}, from: w.Cursor})
		case k == 2 && f != nil:
			f.read(r.IntN(50))
			f.leave("left", nil)
			cursors = append(cursors, f.from)
			for _, e := range f.got {
				cursors[len(cursors)-1] = max(cursors[len(cursors)-1], e.Cursor)
			}
			if last := cursors[len(cursors)-1]; len(there) == 1 && f.missed == 0 && h.seen > last+1 {
				t.Fatalf("the last one has seen %d, and %d counts as seen", last, h.seen)
			}
			gone = append(gone, f)
			there = remove(there, f)
		case k < 5 && f != nil:
			id, err := f.Do(context.Background(), session.Call{Command: []string{"print", "continue"}[r.IntN(2)]})
			if err != nil {
				t.Fatal(err)
			}
			f.asked[id] = false
		case k < 8:
			x.stream.Push(randomEvent(t, r))
		case f != nil:
			f.read(r.IntN(20))
		}
	}
	synctest.Wait()
	for range 3 { // who has fallen behind gets a gap once it reads
		for _, f := range there {
			f.read(1 << 20)
		}
	}
	for _, f := range append(there, gone...) {
		f.check(t, log)
	}
	for _, f := range there {
		for id, done := range f.asked {
			if !done {
				t.Errorf("request %d has no done", id)
			}
		}
		last := f.from
		for _, e := range f.got {
			last = max(last, e.Cursor)
		}
		if last != uint64(len(log)) {
			t.Errorf("the last event of %d came to %d", len(log), last)
		}
	}
	x.stream.End(context.Background())
	h.Wait()
}

// check compares what a front end has got with the log.
func (f *frontEnd) check(t *testing.T, log []session.Event) {
	next, snapshot := f.from+1, session.NewStates(rank.Set{})
	var jump bool
	for _, e := range f.got {
		switch {
		case e.IsAnswer():
			if done, mine := f.asked[e.ID]; !mine || done {
				t.Errorf("an answer to request %d came", e.ID)
			}
			f.asked[e.ID] = e.Done != nil
		case e.Group.Kind == protocol.KindGap:
			snapshot, jump = session.NewStates(rank.Set{}), true
		case e.Cursor == 0:
			snapshot.Feed(e)
		default:
			if jump {
				next, jump = e.Cursor, false
			}
			if e.Cursor != next {
				t.Errorf("event %d came in place of %d", e.Cursor, next)
				return
			}
			if got, want := string(e.AppendJSON(nil)), string(log[e.Cursor-1].AppendJSON(nil)); got != want {
				t.Errorf("event %d is %s, not %s", e.Cursor, got, want)
			}
			if snapshot != nil {
				then := session.NewStates(rank.Set{})
				for _, e := range log[:e.Cursor-1] {
					then.Feed(e)
				}
				if got, want := statesText(snapshot), statesText(then); got != want {
					t.Errorf("the snapshot before event %d is %s, not %s", e.Cursor, got, want)
				}
				snapshot = nil
			}
			next++
		}
		if snapshot == nil && e.Cursor == 0 && !e.IsAnswer() && e.Group.Kind != protocol.KindGap {
			t.Errorf("%s came outside of a snapshot", e.AppendJSON(nil))
		}
	}
}

func statesText(s *session.States) string {
	var b strings.Builder
	for _, g := range s.Groups(s.All()) {
		fmt.Fprintf(&b, "%s %s; ", g.Ranks, canonical.JSON(g.Status))
	}
	return b.String()
}

func pick(r *rand.Rand, all []*frontEnd) *frontEnd {
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

func remove(all []*frontEnd, one *frontEnd) []*frontEnd {
	var rest []*frontEnd
	for _, f := range all {
		if f != one {
			rest = append(rest, f)
		}
	}
	return rest
}

func randomEvent(t testing.TB, r *rand.Rand) session.Event {
	set := fmt.Sprintf("%d-%d", r.IntN(4), 4+r.IntN(4))
	switch r.IntN(6) {
	case 0:
		return event(t, protocol.KindRunning, set, "{}")
	case 1:
		return event(t, protocol.KindStopped, set, fmt.Sprintf(`{"reason":"r%d"}`, r.IntN(3)))
	case 2:
		return event(t, protocol.KindExited, set, `{"code":0}`)
	case 3:
		return event(t, protocol.KindLost, set, `{"cause":"gone"}`)
	}
	return event(t, protocol.KindStdout, set, strings.Repeat("x", []int{1, 10, 10, 200_000}[r.IntN(4)])+"\n")
}

// echo is a session that answers each call at once, with a done.
type echo struct {
	stream *session.Stream
	last   protocol.RequestID
}

func (x *echo) Do(_ context.Context, c session.Call) (protocol.RequestID, error) {
	x.last++
	x.stream.Push(session.Event{Name: session.DoneName, ID: x.last, Command: c.Command, Done: &session.Done{}})
	return x.last, nil
}

func (x *echo) Events() <-chan session.Event { return x.stream.Events() }

func (x *echo) Close(ctx context.Context) error {
	x.stream.End(ctx)
	return nil
}
