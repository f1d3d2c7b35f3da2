package master

import (
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// until reads events up to the done of a call.
func until(t *testing.T, m *Master, id protocol.RequestID) string {
	t.Helper()
	var b strings.Builder
	for e := range m.Events() {
		if e.Done != nil {
			e.Done.Took = 0
		}
		b.Write(append(e.AppendJSON(nil), '\n'))
		if e.Done != nil && e.ID == id {
			return b.String()
		}
	}
	t.Fatalf("the events ended before the done of %d:\n%s", id, b.String())
	return ""
}

// begin makes a call that is not answered yet.
func begin(t *testing.T, m *Master, c session.Call) protocol.RequestID {
	t.Helper()
	id, err := m.Do(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func cancelled(t *testing.T, m *Master, id protocol.RequestID) string {
	t.Helper()
	begin(t, m, session.Call{Command: "cancel", Args: protocol.Args{Of: id}})
	return until(t, m, id)
}

// Ranks 0-3 answer a print, 4-7 do not; after the cancellation their answers are late.
func TestCancel(t *testing.T) {
	m, f := standing(t, func(f *fakeRoot, msg wire.Message) {
		if msg.Kind == wire.Command {
			f.reply(msg.ID, 0, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 3), Body: []byte("{}")})
			return
		}
		obedient(f, msg)
	})
	defer closeNow(t, m)
	id := begin(t, m, session.Call{Command: "print", Args: protocol.Args{Expr: "x"}, Wait: -1})
	if e := <-m.Events(); e.Group.Ranks.String() != "0-3" {
		t.Fatalf("got %v", e)
	}
	got := cancelled(t, m, id)
	for _, want := range []string{
		`{"event":"missing","id":2,"command":"print","ranks":"4-7","n":4,"cause":"cancelled","hosts":["node02"]}`,
		`{"event":"done","id":2,"command":"print","asked":8,"answered":4,"missing":"4-7","cancelled":true,"ms":0}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	f.reply(id, wire.Final, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(4, 7), Body: []byte("{}")})
	for e := range m.Events() {
		if e.Late {
			break
		}
		if e.ID == id {
			t.Errorf("got %v", e)
		}
	}
	if got := call(t, m, session.Call{Command: "cancel", Args: protocol.Args{Of: id}}); !strings.Contains(got, `"command":"cancel","asked":0`) {
		t.Errorf("a second time: %s", got)
	}
	if got := call(t, m, session.Call{Command: "cancel", Args: protocol.Args{Of: 99}}); !strings.Contains(got, "refused: cancel: there is no request 99") {
		t.Errorf("of a number that was never given: %s", got)
	}
}

// A comparison is evaluated by the master: its partial answers are dropped, and so is what comes later.
func TestCancelOfWhatTheMasterEvaluates(t *testing.T) {
	m, f := standing(t, mute)
	defer closeNow(t, m)
	id := begin(t, m, session.Call{Command: "diff", Args: protocol.Args{Expr: "x"}})
	got := cancelled(t, m, id)
	if !strings.Contains(got, `"missing":"0-7","cancelled":true`) {
		t.Errorf("got %s", got)
	}
	f.reply(id, wire.Final, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 7), Body: []byte(`{"expr":"x"}`)})
	if after := call(t, m, session.Call{Command: "groups"}); strings.Contains(after, "diff") {
		t.Errorf("after the cancellation: %s", after)
	}
	if len(m.calls) != 0 {
		t.Errorf("%d calls are open", len(m.calls))
	}
}

// A command whose ranks depend on an expression is not executed after it was cancelled.
func TestCancelBeforeTheRanksAreKnown(t *testing.T) {
	m, f := standing(t, mute)
	defer closeNow(t, m)
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindStopped, Ranks: rank.Range(0, 7), Body: []byte(`{"reason":"entry"}`)}}})
	id := begin(t, m, session.Call{Command: "continue", Ranks: "@expr{x > 1}"})
	if got := cancelled(t, m, id); !strings.Contains(got, `"asked":0,"answered":0,"cancelled":true`) {
		t.Errorf("got %s", got)
	}
	asked := f.sent(wire.Command)
	f.reply(asked[0].ID, wire.Final, protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 7), Body: []byte(`{"expr":"x > 1"}`)})
	call(t, m, session.Call{Command: "groups"})
	if n := len(f.sent(wire.Command)); n != len(asked) {
		t.Errorf("%d commands were sent", n)
	}
}

// Samples that are cancelled, in a pause or in the midst of one, give what has been taken, and the ranks run on.
func TestCancelOfSamples(t *testing.T) {
	for name, inPause := range map[string]bool{"in a pause": true, "in a sample": false} {
		t.Run(name, func(t *testing.T) {
			m, w := walking(t)
			defer closeNow(t, m)
			call100 := session.Call{Command: "stacks", Args: protocol.Args{Samples: 100, Every: "1ms"}}
			if inPause {
				call100.Args.Every = "1h"
			}
			looked := make(chan struct{}, 100)
			w.onStack = func() { looked <- struct{}{} }
			id := begin(t, m, call100)
			<-looked
			got := cancelled(t, m, id)
			if !strings.Contains(got, `"cancelled":true`) || strings.Contains(got, `"event":"stopped"`) && inPause {
				t.Errorf("got %s", got)
			}
			if got := call(t, m, session.Call{Command: "stacks", Ranks: "0-1"}); !strings.Contains(got, `"answered":2`) {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}
