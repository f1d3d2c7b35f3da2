package hub

import (
	"context"
	"errors"
	"flag"
	"fmt"
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

// A front end that was started anew repeats what the one before it has done.
func TestOneIntentIsDoneOnce(t *testing.T) {
	shared(t, Config{}, []sessiontest.Scene{{}, {Refuse: &protocol.Fault{Message: "no"}}, {}}, func(h *Hub, tape *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		next, failed := session.Call{Command: "next", Once: "a"}, session.Call{Command: "step", Once: "b"}
		if _, err := ann.Do(context.Background(), next); err != nil {
			t.Fatal(err)
		}
		if _, err := ann.Do(context.Background(), failed); err == nil {
			t.Error("the second is not refused")
		}
		ann.Close(context.Background())
		anew, _ := join(t, h, "ann")
		_, err := anew.Do(context.Background(), next)
		if fault := (*protocol.Fault)(nil); !errors.As(err, &fault) || fault.Before != 1 {
			t.Errorf("repeated: %v", err)
		}
		if _, err := anew.Do(context.Background(), session.Call{Command: "finish", Once: "a"}); err == nil || !strings.Contains(err.Error(), "something else") {
			t.Errorf("for something else: %v", err)
		}
		if _, err := anew.Do(context.Background(), session.Call{Command: "next", Once: strings.Repeat("a", session.MaxOnce+1)}); err == nil {
			t.Error("a word without end is accepted")
		}
		if _, err := anew.Do(context.Background(), failed); err != nil {
			t.Errorf("what was refused is not done: %v", err)
		}
		if n := len(tape.Calls()); n != 3 {
			t.Errorf("%d calls", n)
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

func TestTheOwnerIsToldBeforeTheSessionEnds(t *testing.T) {
	told := 0
	cfg := Config{Quitting: func(states *session.States, _ rank.Set) {
		if told++; states.All().IsEmpty() {
			t.Error("it is told of no ranks")
		}
	}}
	shared(t, cfg, []sessiontest.Scene{{}, {}}, func(h *Hub, _ *sessiontest.Tape) {
		ann, _ := join(t, h, "ann")
		for range 2 {
			if _, err := ann.Do(context.Background(), session.Call{Command: "quit"}); err != nil {
				t.Error(err)
			}
			if told != 1 {
				t.Errorf("it was told %d times", told)
			}
		}
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
