package master

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

func TestBeforeAndAfterTheTree(t *testing.T) {
	m, _ := newFake(t, obedient)
	if _, err := m.Do(context.Background(), session.Call{Command: "ranks"}); err == nil || !strings.Contains(err.Error(), "initialize comes first") {
		t.Errorf("before: %v", err)
	}
	closeNow(t, m)
	if _, err := m.Do(context.Background(), session.Call{Command: "ranks"}); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after: %v", err)
	}
	if _, open := <-m.Events(); open {
		t.Error("the events have not ended")
	}
	closeNow(t, m) // closing twice is harmless
}

func TestQuit(t *testing.T) {
	m, f := standing(t, mute)
	id, err := m.Do(context.Background(), session.Call{Command: "print", Args: protocol.Args{Expr: "n"}})
	if err != nil {
		t.Fatal(err)
	}
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindExited, Ranks: rank.Of(0), Body: []byte(`{"code":0}`)}}})
	quit, err := m.Do(context.Background(), session.Call{Command: "quit"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e := range m.Events() {
		if e.Done != nil {
			e.Done.Took = 0
		}
		got = append(got, string(e.AppendJSON(nil)))
	}
	want := []string{
		`{"event":"exited","ranks":"0","n":1,"code":0}`,
		fmt.Sprintf(`{"event":"lost","id":%d,"command":"print","ranks":"0-7","n":8,"cause":"the session has ended","hosts":["node01","node02"]}`, id),
		fmt.Sprintf(`{"event":"done","id":%d,"command":"print","asked":8,"answered":0,"lost":"0-7","ms":0}`, id),
		fmt.Sprintf(`{"event":"done","id":%d,"command":"quit","asked":8,"answered":8,"ms":0}`, quit),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("events:\n%s", strings.Join(got, "\n"))
	}
	closeNow(t, m)
}

// Lost groups get the hosts of all their ranks; the vertex that sends one may name none.
func TestLostRanksAreGivenTheirHosts(t *testing.T) {
	m, f := standing(t, mute)
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
		{Kind: protocol.KindLost, Ranks: rank.Of(1), Body: []byte(`{"cause":"gdb died (killed by SIGKILL)"}`)},
		{Kind: protocol.KindLost, Ranks: rank.Range(4, 7), Body: []byte(`{"cause":"closed by the other side","host":"node02"}`)},
	}})
	for _, want := range []string{
		`{"event":"lost","ranks":"1","n":1,"cause":"gdb died (killed by SIGKILL)","hosts":["node01"]}`,
		`{"event":"lost","ranks":"4-7","n":4,"cause":"closed by the other side","hosts":["node02"]}`,
	} {
		if got := string((<-m.Events()).AppendJSON(nil)); got != want {
			t.Errorf("event %s, want %s", got, want)
		}
	}
	closeNow(t, m)
}

func TestRootThatBreaks(t *testing.T) {
	m, f := standing(t, mute)
	if _, err := m.Do(context.Background(), session.Call{Command: "continue", Ranks: "0"}); err != nil {
		t.Fatal(err)
	}
	f.err = errors.New("out of files")
	close(f.over)
	var got []string
	for e := range m.Events() {
		if e.Done != nil {
			e.Done.Took = 0
		}
		got = append(got, string(e.AppendJSON(nil)))
	}
	want := []string{
		`{"event":"lost","ranks":"0-7","n":8,"cause":"out of files"}`,
		`{"event":"lost","id":2,"command":"continue","ranks":"0","n":1,"cause":"out of files","hosts":["node01"]}`,
		`{"event":"done","id":2,"command":"continue","asked":1,"answered":0,"lost":"0","ms":0}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("events:\n%s", strings.Join(got, "\n"))
	}
	if err := m.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestCloseIsBoundByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := standing(t, func(f *fakeRoot, m wire.Message) {
			if m.Kind == wire.Init {
				obedient(f, m)
			}
		})
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		began := time.Now()
		err := m.Close(ctx)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestQuitIsBoundByItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := standing(t, func(f *fakeRoot, m wire.Message) {
			if m.Kind == wire.Init {
				obedient(f, m)
			}
		})
		if _, err := m.Do(context.Background(), session.Call{Command: "quit", Wait: 2 * time.Second}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range m.Events() {
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the events ended after %v", took)
		}
		<-m.finished
	})
}

// A slow consumer slows packets from the tree, but not commands or the end of the session.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := standing(t, mute)
		flood := make(chan struct{})
		go func() {
			defer close(flood)
			for range 100 {
				groups := make([]protocol.Group, 100)
				for i := range groups {
					groups[i] = protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(0), Body: []byte("hello\n")}
				}
				f.up(wire.Message{Kind: wire.Events, Groups: groups})
			}
		}()
		synctest.Wait()
		select {
		case <-flood:
			t.Fatal("10,000 lines were taken although the consumer does not read")
		default:
		}
		if _, err := m.Do(context.Background(), session.Call{Command: "interrupt"}); err != nil {
			t.Fatal(err)
		}
		if n := len(f.sent(wire.Command)); n != 1 {
			t.Errorf("%d commands went down", n)
		}
		closeNow(t, m)
		<-flood
	})
}

func TestProgramsThatCannotRun(t *testing.T) {
	f := &fakeRoot{answer: obedient, over: make(chan struct{}), work: make(chan wire.Message, 1000)}
	asked := 0
	m, err := New(Config{
		newRoot: func(up func(wire.Message)) root { f.up = up; return f },
		CheckProgram: func(program string) error {
			asked++
			if program == "./mpi" {
				return errors.New("it would hang")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, m)
	if _, err := m.Init(context.Background(), twoHosts(), time.Second); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err = m.Do(context.Background(), session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "./mpi"}}})
		if errText(err) != "launch: it would hang" {
			t.Errorf("launch: %v", err)
		}
	}
	started := func(program string) protocol.Group {
		return protocol.Group{Kind: protocol.KindStarted, Ranks: rank.Of(0), Body: canonical.JSON(protocol.Started{Program: program})}
	}
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{started("./mpi"), started("./mpi"), started("./plain")}})
	got := call(t, m, session.Call{Command: "groups"})
	if n := strings.Count(got, `{"event":"note","ranks":"0","n":1,"text":"it would hang"}`); n != 1 || asked != 2 {
		t.Errorf("%d notes, %d programs looked at:\n%s", n, asked, got)
	}
}
