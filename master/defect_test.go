package master

import (
	"context"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// A panic in a call becomes its answer, and the next call is executed.
func TestPanicCostsOneCall(t *testing.T) {
	m, _ := newFakeOf(t, Config{CheckProgram: func(string) error { panic("sabotage") }}, obedient)
	if _, err := m.Init(context.Background(), twoHosts(), time.Minute); err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, m)
	_, err := m.Do(context.Background(), session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "/bin/true"}}})
	if err == nil || !strings.Contains(err.Error(), "launch: a defect of sdm in master/defect_test.go:") || !strings.Contains(err.Error(), ": sabotage (please report it") {
		t.Errorf("launch: %v", err)
	}
	if got := call(t, m, session.Call{Command: "interrupt"}); !strings.Contains(got, `"answered":8`) {
		t.Errorf("interrupt: %s", got)
	}
}

// A panic while processing a packet loses only that packet; its request is answered.
func TestPanicCostsOnePacket(t *testing.T) {
	m, f := standing(t, mute)
	defer closeNow(t, m)
	id, err := m.Do(context.Background(), session.Call{Command: "print", Args: protocol.Args{Expr: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	hosts := m.requests.hosts
	m.requests.hosts = func(rank.Set) []string { panic("sabotage") }
	f.reply(id, 0, protocol.Group{Kind: protocol.KindMissing, Ranks: rank.Range(0, 7), Body: []byte(`{"cause":"no answer in 1s"}`)})
	m.requests.hosts = hosts
	var got strings.Builder
	for e := range m.Events() {
		got.Write(append(e.AppendJSON(nil), '\n'))
		if e.Done != nil && e.ID == id {
			break
		}
	}
	for _, want := range []string{`{"event":"note","ranks":"","n":0,"text":"a defect of sdm in master/defect_test.go:`, `"event":"error"`, `"kind":"internal"`, `"faults":8`} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %s in\n%s", want, got.String())
		}
	}
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindStopped, Ranks: rank.Of(1), Body: []byte(`{"reason":"entry"}`)}}})
	if e := <-m.Events(); e.Name != "stopped" {
		t.Errorf("then %s", e.AppendJSON(nil))
	}
}

// A panic while processing the answer to Init ends Init.
func TestPanicDuringInit(t *testing.T) {
	sabotaged := make(chan *Master, 1)
	m, _ := newFake(t, func(f *fakeRoot, msg wire.Message) {
		if msg.Kind == wire.Init {
			m := <-sabotaged
			m.mu.Lock()
			m.init.result = func(*session.Report) { panic("sabotage") }
			m.mu.Unlock()
		}
		obedient(f, msg)
	})
	defer closeNow(t, m)
	sabotaged <- m
	if _, err := m.Init(t.Context(), twoHosts(), 0); err == nil || !strings.Contains(err.Error(), ": sabotage (please report it") {
		t.Errorf("Init: %v", err)
	}
	if _, err := m.Do(t.Context(), session.Call{Command: "ranks"}); err == nil || !strings.Contains(err.Error(), "could not be built") {
		t.Errorf("afterwards: %v", err)
	}
}

// A panic while processing the answers to requests of the master itself ends what they are for.
func TestPanicInAStep(t *testing.T) {
	answer := &walkers{}
	sabotaged := make(chan *Master, 1)
	m, f := standing(t, func(f *fakeRoot, msg wire.Message) {
		select {
		case m := <-sabotaged:
			m.mu.Lock()
			for _, x := range m.collectors {
				x.then = func([]session.Event, session.Done) { panic("sabotage") }
			}
			m.mu.Unlock()
		default:
		}
		answer.answer(f, msg)
	})
	defer closeNow(t, m)
	answer.root = f
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
		{Kind: protocol.KindStopped, Ranks: rank.Range(0, 1), Body: []byte(`{"reason":"entry"}`)},
		{Kind: protocol.KindRunning, Ranks: rank.Range(2, 7), Body: []byte("{}")},
	}})
	for _, c := range []session.Call{
		{Command: "stacks"},
		{Command: "diff", Args: protocol.Args{Expr: "x"}},
		{Command: "rbreak", Args: protocol.Args{Expr: "x"}},
		{Command: "info hosts"},
		{Command: "print", Ranks: "@fn:main", Args: protocol.Args{Expr: "x"}},
	} {
		t.Run(c.Command, func(t *testing.T) {
			sabotaged <- m
			got := call(t, m, c)
			if n := strings.Count(got, `"event":"done","id":`); n != 1 || !strings.Contains(got, `"kind":"internal","op":"`+c.Command) || !strings.Contains(got, ": sabotage") {
				t.Errorf("got\n%s", got)
			}
			if got := call(t, m, c); strings.Contains(got, "internal") {
				t.Errorf("then\n%s", got)
			}
		})
	}
	t.Run("stage", func(t *testing.T) {
		sabotaged <- m
		if _, err := m.Stage(t.Context(), strings.NewReader("x"), protocol.Piece{Packed: 1}, nil); err == nil || !strings.Contains(err.Error(), ": sabotage") {
			t.Errorf("got %v", err)
		}
	})
}

// A panic while processing a reply to a request of the master itself is the answer of its ranks.
func TestPanicInAnInnerReply(t *testing.T) {
	m, w := walking(t)
	defer closeNow(t, m)
	w.root.answer = func(f *fakeRoot, msg wire.Message) {
		if msg.Kind == wire.Command && commandOf(msg).Name == "stacks" {
			m.mu.Lock()
			hosts := m.requests.hosts
			m.requests.hosts = func(rank.Set) []string { m.requests.hosts = hosts; panic("sabotage") }
			m.mu.Unlock()
			f.reply(msg.ID, 0, protocol.Group{Kind: protocol.KindMissing, Ranks: msg.Ranks, Body: []byte(`{"cause":"no answer in 1s"}`)})
			return
		}
		w.answer(f, msg)
	}
	got := call(t, m, session.Call{Command: "stacks", Ranks: "1-3"})
	if !strings.Contains(got, `"event":"error","id":2,"command":"stacks","ranks":"1-3"`) || !strings.Contains(got, `"kind":"internal"`) || !strings.Contains(got, `"faults":3`) {
		t.Errorf("got\n%s", got)
	}
	if asked := w.asked(); !strings.HasSuffix(asked, "continue 2-3") {
		t.Errorf("the ranks were not continued: %s", asked)
	}
}
