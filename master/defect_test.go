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
