package master

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wire"
)

// walkers are ranks 0-5: 0-1 are stopped and 2-5 run. Ranks 3-5 are at another line in each sample;
// rank 4 stops at a breakpoint in the second sample.
type walkers struct {
	root    *fakeRoot
	looks   int
	onStack func() // called when stacks are requested
}

// asked returns the commands that went down, with their ranks.
func (w *walkers) asked() string {
	var asked []string
	for _, m := range w.root.sent(wire.Command) {
		asked = append(asked, commandOf(m).Name+" "+m.Ranks.String())
	}
	return strings.Join(asked, "; ")
}

func commandOf(m wire.Message) (c protocol.Command) {
	if err := json.Unmarshal(m.Body, &c); err != nil {
		panic(err)
	}
	return c
}

func (w *walkers) answer(f *fakeRoot, m wire.Message) {
	if m.Kind != wire.Command {
		obedient(f, m)
		return
	}
	c := commandOf(m)
	event := func(k protocol.Kind, ranks rank.Set, body string) {
		if part := ranks.Intersect(m.Ranks); !part.IsEmpty() {
			f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: k, Ranks: part, Body: []byte(body)}}})
		}
	}
	switch c.Name {
	case "interrupt":
		obedient(f, m)
		if w.looks == 1 {
			event(protocol.KindStopped, rank.Of(4), `{"reason":"breakpoint-hit","breakpoint":1}`)
			m.Ranks = m.Ranks.Minus(rank.Of(4))
		}
		event(protocol.KindStopped, m.Ranks, `{"reason":"interrupted"}`)
	case "continue":
		event(protocol.KindRunning, m.Ranks, "{}")
		obedient(f, m)
	case "stacks":
		w.looks++
		if w.onStack != nil {
			w.onStack()
		}
		place := func(line int) []stack.Frame {
			return []stack.Frame{{Func: "main", File: "work.c", Line: 1}, {Func: "f", File: "work.c", Line: line}}
		}
		tree := stack.Of(rank.Range(0, 2).Intersect(m.Ranks), place(7)).Merge(stack.Of(rank.Of(2).Intersect(m.Ranks), place(9)))
		tree = tree.Merge(stack.Of(rank.Range(3, 5).Intersect(m.Ranks), place(100+w.looks)))
		f.reply(m.ID, wire.Final,
			protocol.Group{Kind: protocol.KindResult, Ranks: m.Ranks.Intersect(rank.Range(0, 5)), Body: []byte(`{"by":"line"}`), Stack: tree},
			protocol.Group{Kind: protocol.KindFault, Ranks: m.Ranks.Minus(rank.Range(0, 5)), Body: []byte(`{"kind":"state","message":"has ended"}`)})
	default:
		obedient(f, m)
	}
}

func walking(t *testing.T) (*Master, *walkers) {
	w := &walkers{}
	m, f := standing(t, w.answer)
	w.root = f
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
		{Kind: protocol.KindStopped, Ranks: rank.Range(0, 1), Body: []byte(`{"reason":"entry"}`)},
		{Kind: protocol.KindRunning, Ranks: rank.Range(2, 5), Body: []byte("{}")},
		{Kind: protocol.KindExited, Ranks: rank.Range(6, 7), Body: []byte(`{"code":0}`)},
	}})
	for range 3 { // the events above
		<-m.Events()
	}
	return m, w
}

func TestSamples(t *testing.T) {
	m, w := walking(t)
	defer closeNow(t, m)
	got := call(t, m, session.Call{Command: "stacks", Args: protocol.Args{Samples: 3, Every: "1ms"}})
	want := []string{
		`{"event":"stopped","ranks":"4","n":1,"reason":"breakpoint-hit","breakpoint":1}`,
		`{"event":"reply","id":2,"command":"stacks","ranks":"0-2","n":3,"result":{"by":"line","samples":3,"every":"1ms","moved":false},"stack":` +
			`[{"func":"main","file":"work.c","line":1,"ranks":"0-2","n":3,"threads":12,"counts":[{"threads":3,"ranks":"0-1"},{"threads":6,"ranks":"2"}],"children":[` +
			`{"func":"f","file":"work.c","line":7,"ranks":"0-2","n":3,"threads":9},{"func":"f","file":"work.c","line":9,"ranks":"2","n":1,"threads":3}]}]}`,
		`{"event":"reply","id":2,"command":"stacks","ranks":"3-5","n":3,"result":{"by":"line","samples":3,"every":"1ms","moved":true},"stack":` +
			`[{"func":"main","file":"work.c","line":1,"ranks":"3-5","n":3,"threads":9,"children":[` +
			`{"func":"f","file":"work.c","line":101,"ranks":"3-5","n":3,"threads":3},{"func":"f","file":"work.c","line":102,"ranks":"3-5","n":3,"threads":3},` +
			`{"func":"f","file":"work.c","line":103,"ranks":"3-5","n":3,"threads":3}]}]}`,
		`{"event":"error","id":2,"command":"stacks","ranks":"6-7","n":2,"kind":"state","message":"has ended"}`,
		`{"event":"done","id":2,"command":"stacks","asked":8,"answered":8,"faults":2,"ms":0}`,
	}
	if got != strings.Join(want, "\n")+"\n" {
		t.Errorf("got\n%swant\n%s", got, strings.Join(want, "\n"))
	}
	asked := w.asked()
	if want := "interrupt 2-5; stacks 0-7; continue 2-5; interrupt 2-5; stacks 0-5; continue 2-3,5; interrupt 2-3,5; stacks 0-5; continue 2-3,5"; asked != want {
		t.Errorf("asked %s\nwant  %s", asked, want)
	}
	if got := call(t, m, session.Call{Command: "ranks", Ranks: "@running"}); !strings.Contains(got, `"ranks":"2-3,5"`) {
		t.Errorf("running: %s", got)
	}
}

// Running ranks are stopped briefly for stacks, without events for front ends.
func TestStacksOfRunningRanks(t *testing.T) {
	m, w := walking(t)
	defer closeNow(t, m)
	got := call(t, m, session.Call{Command: "stacks", Ranks: "1-3"})
	want := []string{
		`{"event":"reply","id":2,"command":"stacks","ranks":"1-3","n":3,"result":{"by":"line"},"stack":` +
			`[{"func":"main","file":"work.c","line":1,"ranks":"1-3","n":3,"threads":4,"counts":[{"threads":1,"ranks":"1,3"},{"threads":2,"ranks":"2"}],"children":[` +
			`{"func":"f","file":"work.c","line":7,"ranks":"1-2","n":2,"threads":2},{"func":"f","file":"work.c","line":9,"ranks":"2","n":1,"threads":1},` +
			`{"func":"f","file":"work.c","line":101,"ranks":"3","n":1,"threads":1}]}]}`,
		`{"event":"done","id":2,"command":"stacks","asked":3,"answered":3,"ms":0}`,
	}
	if got != strings.Join(want, "\n")+"\n" {
		t.Errorf("got\n%swant\n%s", got, strings.Join(want, "\n"))
	}
	if asked := w.asked(); asked != "interrupt 2-3; stacks 1-3; continue 2-3" {
		t.Errorf("asked %s", asked)
	}
	if got := call(t, m, session.Call{Command: "ranks", Ranks: "@running"}); !strings.Contains(got, `"ranks":"2-5"`) {
		t.Errorf("running: %s", got)
	}
	before := w.asked()
	if call(t, m, session.Call{Command: "stacks", Ranks: "0-1"}); w.asked() != before+"; stacks 0-1" {
		t.Errorf("of ranks that are stopped: %s", w.asked())
	}
}

// After an interrupt during samples the ranks are stopped, and their stops are reported.
func TestInterruptEndsSamples(t *testing.T) {
	m, w := walking(t)
	defer closeNow(t, m)
	w.onStack = func() {
		w.onStack = nil
		if _, err := m.Do(t.Context(), session.Call{Command: "interrupt", Ranks: "3"}); err != nil {
			t.Error(err)
		}
	}
	got := call(t, m, session.Call{Command: "stacks", Args: protocol.Args{Samples: 100, Every: "1h"}})
	for _, want := range []string{
		`{"event":"stopped","ranks":"2-5","n":4,"reason":"interrupted"}`,
		`"samples":1,"every":"1h0m0s","moved":false}`,
		`{"event":"note","id":2,"command":"stacks","ranks":"","n":0,"text":"interrupted: 1 of 100 samples were taken"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if asked := w.asked(); strings.Contains(asked, "continue") {
		t.Errorf("asked %s", asked)
	}
}

// Stacks are taken for one front end while another one's samples pause.
func TestSamplesOfSeveralCalls(t *testing.T) {
	m, w := walking(t)
	defer closeNow(t, m)
	first, err := m.Do(t.Context(), session.Call{Command: "stacks", Ranks: "2-3", Args: protocol.Args{Samples: 2, Every: "1h"}})
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, m, session.Call{Command: "stacks", Ranks: "3,5"})
	if !strings.Contains(got, `"ranks":"3,5","n":2,"result":{"by":"line"}`) {
		t.Errorf("got %s", got)
	}
	if asked := w.asked(); asked != "interrupt 2-3; stacks 2-3; continue 2-3; interrupt 3,5; stacks 3,5; continue 3,5" {
		t.Errorf("asked %s", asked)
	}
	got = call(t, m, session.Call{Command: "cancel", Args: protocol.Args{Of: first}})
	if !strings.Contains(got, `"samples":1,"every":"1h0m0s","moved":false`) {
		t.Errorf("cancelled: %s", got)
	}
}

// All ranks run between two samples. An interrupt ends the pause, and so does the end of the
// session.
func TestEndOfSamplesInAPause(t *testing.T) {
	for _, end := range []string{"interrupt", "quit"} {
		t.Run(end, func(t *testing.T) {
			m, _ := walking(t)
			defer closeNow(t, m)
			id, err := m.Do(t.Context(), session.Call{Command: "stacks", Args: protocol.Args{Samples: 2, Every: "1h"}})
			if err != nil {
				t.Fatal(err)
			}
			call(t, m, session.Call{Command: "groups"}) // a sample may be in progress
			if _, err := m.Do(t.Context(), session.Call{Command: end}); err != nil {
				t.Fatal(err)
			}
			for e := range m.Events() {
				if e.Done != nil && e.ID == id {
					return
				}
			}
			t.Error("the samples have no done")
		})
	}
}

func TestSamplesThatMakeNoSense(t *testing.T) {
	m, _ := walking(t)
	defer closeNow(t, m)
	for _, a := range []protocol.Args{{Samples: -1}, {Samples: 1001}, {Samples: 2, Every: "-1s"}, {Samples: 2, Every: "often"}, {Every: "1s"}, {Samples: 2, Every: "48h"}} {
		if _, err := m.Do(t.Context(), session.Call{Command: "stacks", Args: a}); err == nil {
			t.Errorf("%+v is taken", a)
		}
	}
}

// A silent rank delays stacks of running ranks by no more than their wait.
func TestStacksEndWithinTheirWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := walking(t)
		w.root.answer = func(f *fakeRoot, msg wire.Message) {
			if msg.Kind != wire.Command {
				obedient(f, msg)
				return
			}
			silent := msg.Ranks.Intersect(rank.Of(3))
			msg.Ranks = msg.Ranks.Minus(silent)
			time.AfterFunc(msg.Wait, func() {
				f.reply(msg.ID, 0, protocol.Group{Kind: protocol.KindMissing, Ranks: silent, Body: []byte(`{"cause":"no answer in ` + msg.Wait.String() + `"}`)})
				w.answer(f, msg)
			})
		}
		began := time.Now()
		got := call(t, m, session.Call{Command: "stacks", Ranks: "1-3", Wait: 10 * time.Second})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if want := `{"event":"missing","id":2,"command":"stacks","ranks":"3","n":1,"waited":"10s",`; !strings.Contains(got, want) {
			t.Errorf("got\n%swant %s", got, want)
		}
		closeNow(t, m)
	})
}
