package job

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"sdm/launch/nccl"
	"sdm/launch/nccl/nccltest"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

func TestParseNCCL(t *testing.T) {
	for _, c := range []struct {
		text, address, host string
		port, pid           int
		wrong               string
	}{
		{"", "", "localhost", 28028, 0, ""},
		{"", "0.0.0.0:5000", "0.0.0.0", 5000, 0, ""},
		{"@4711", "", "localhost", 28028, 4711, ""},
		{"n1", "x:1", "n1", 28028, 0, ""},
		{"n1:5000@7", "", "n1", 5000, 7, ""},
		{"[::1]:5000", "", "::1", 5000, 0, ""},
		{"::1", "", "::1", 28028, 0, ""},
		{"n1:x", "", "", 0, 0, `"x" is no port`},
		{"n1@x", "", "", 0, 0, `"x" is no process`},
		{"-oProxyCommand=x", "", "", 0, 0, "host"},
	} {
		r, err := parseNCCL(c.text, c.address)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v, want %q", c.text, err, c.wrong)
			}
		case err != nil || r.host != c.host || r.port != c.port || r.pid != c.pid:
			t.Errorf("%q: %+v, %v", c.text, r, err)
		}
	}
}

// scripted is a session whose answers are given by a test.
type scripted struct{ stream *session.Stream }

func (s *scripted) Do(context.Context, session.Call) (protocol.RequestID, error) { return 7, nil }
func (s *scripted) Events() <-chan session.Event                                 { return s.stream.Events() }
func (s *scripted) Close(ctx context.Context) error                              { s.stream.End(ctx); return nil }

// counted returns a session over a scripted one, of a job in which rank 1 is behind.
func counted(t *testing.T, ask func() error) (*counting, *scripted, *[]string) {
	t.Helper()
	job := nccltest.Job{Comms: []nccltest.Comm{{Hash: "0xa", Ranks: []nccltest.Rank{
		{Host: "10.0.0.1", PID: 100, Counts: [5]uint64{4: 7}}, {Host: "10.0.0.1", PID: 101, Counts: [5]uint64{4: 6}},
	}}}}
	reply := func() *nccl.Reply {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() {
			_ = job.Serve(theirs)
			theirs.Close()
		}()
		r, err := nccl.Ask(ours, time.Now())
		if err != nil {
			t.Error(err)
		}
		return r
	}
	said := new([]string)
	first := reply()
	below := &scripted{session.NewStream()}
	c := counts{first: first, numbers: first.Numbers(), remark: func(s string) { *said = append(*said, s) }}
	n := c.over(below).(*counting)
	n.pause = func(context.Context, time.Duration) {}
	n.ask = func(context.Context) (*nccl.Reply, error) {
		if err := ask(); err != nil {
			return nil, err
		}
		return reply(), nil
	}
	return n, below, said
}

// looked is the answer of both ranks to stacks, and its end.
func looked() []session.Event {
	g := wait.Of(rank.Range(0, 1), wait.Rank{Doing: wait.Doing{State: wait.Running, Frames: "step x.py:1"}})
	e := session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 1), Waits: g, Body: []byte("{}")})
	e.ID, e.Command = 7, "stacks"
	return []session.Event{e, {Name: session.DoneName, ID: 7, Command: "stacks", Done: &session.Done{}}}
}

// What RAS tells is in the answers to stacks; events in between pass.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		bad   error
		calls int
		said  string
	}{
		{"it answers", nil, 1, ""},
		{"it does not", errors.New("no answer"), 0, "who is behind in which communicator is not known: no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, below, said := counted(t, func() error { return c.bad })
			if _, err := n.Do(t.Context(), session.Call{Command: "stacks"}); err != nil {
				t.Fatal(err)
			}
			below.stream.Push(session.NewEvent(protocol.Group{Kind: protocol.KindRunning, Ranks: rank.Of(0)}))
			below.stream.Push(looked()...)
			var names []string
			for e := range n.Events() {
				names = append(names, e.Name)
				if e.Done != nil {
					break
				}
				if e.IsAnswer() && len(e.Group.Waits.Calls()) != c.calls {
					t.Errorf("%v", e.Group.Waits.Calls())
				}
			}
			if got := strings.Join(names, " "); got != "running reply done" {
				t.Errorf("events: %s", got)
			}
			if err := n.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if got := strings.Join(*said, "\n"); got != c.said {
				t.Errorf("said %q, want %q", got, c.said)
			}
		})
	}
}

// Ranks that wait for another one do not make progress by polling.
func TestPolls(t *testing.T) {
	n, below, _ := counted(t, func() error { return nil })
	var last string
	for range 2 {
		if _, err := n.Do(t.Context(), session.Call{Command: "stacks", Args: protocol.Args{Progress: true}}); err != nil {
			t.Fatal(err)
		}
		events := looked()
		events[0].Group.Columns = []column.Column{column.OfValues(protocol.Progress,
			[]column.ValueCount{{Value: "stack", Ranks: rank.Range(0, 1)}}, column.DefaultLimit)}
		below.stream.Push(events...)
		reply := <-n.Events()
		<-n.Events()
		c, _ := reply.Group.Column(protocol.Progress)
		last = c.String()
	}
	if want := column.OfValues(protocol.Progress, []column.ValueCount{{Value: protocol.ProgressNone, Ranks: rank.Of(0)},
		{Value: "stack", Ranks: rank.Of(1)}}, column.DefaultLimit).String(); last != want {
		t.Errorf("%s, want %s", last, want)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// While ranks are held, RAS is not asked; and a session that ends does not wait for it.
func TestNoCounts(t *testing.T) {
	n, below, _ := counted(t, func() error { t.Error("it was asked"); return nil })
	below.stream.Push(session.NewEvent(protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Of(0), Body: []byte("{}")}))
	<-n.Events()
	if _, err := n.Do(t.Context(), session.Call{Command: "stacks"}); err != nil {
		t.Fatal(err)
	}
	below.stream.Push(looked()...)
	<-n.Events()
	<-n.Events()
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
	n, _, _ = counted(t, func() error { t.Error("it was asked"); return nil })
	if _, err := n.Do(t.Context(), session.Call{Command: "stacks"}); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, more := <-n.Events(); more {
		t.Error("there is an answer")
	}
}
