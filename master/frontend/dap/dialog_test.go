// Conversations of an adapter with a client and a session, as scripts.

package dap

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// script is an adapter whose client and session are a script.
type script struct {
	t   *testing.T
	a   *adapter
	now time.Time
	out strings.Builder
	seq int
	id  protocol.RequestID

	refuse string // the error of the next call
}

func newScript(t *testing.T) *script {
	s := &script{t: t, now: time.Unix(1e9, 0)}
	s.a = newAdapter(Config{Program: "sdm"}, func(m any) { s.sent(m) })
	s.a.begin = func(st Start) { fmt.Fprintf(&s.out, "start %s %q\n", st.Way, st.Line) }
	s.a.giveUp = func() { s.out.WriteString("give up\n") }
	s.a.done = func(end ending) {
		fmt.Fprintf(&s.out, "over: %s\n", [...]string{"the session is left", "the session is ended", "there was none"}[end])
	}
	s.a.do = func(c session.Call) (protocol.RequestID, error) {
		if s.refuse != "" {
			err := &protocol.Fault{Kind: protocol.FaultUsage, Message: s.refuse}
			s.refuse = ""
			return 0, err
		}
		s.id++
		fmt.Fprintf(&s.out, "call %d: %s [%s] %s\n", s.id, c.Command, c.Ranks, canonical.JSON(c.Args))
		return s.id, nil
	}
	return s
}

// sent writes a message without its numbers, and checks it.
func (s *script) sent(m any) {
	b := encode(m)
	checkSchema(s.t, b)
	var x struct {
		Type, Event, Command, Message string
		Seq                           int
		Success                       bool
		Body, Arguments               json.RawMessage
	}
	if err := json.Unmarshal(b, &x); err != nil {
		s.t.Fatal(err)
	}
	switch {
	case x.Type == "request":
		fmt.Fprintf(&s.out, "request %d: %s %s\n", x.Seq, x.Command, x.Arguments)
	case x.Type == "event":
		fmt.Fprintf(&s.out, "event %s %s\n", x.Event, x.Body)
	case !x.Success:
		fmt.Fprintf(&s.out, "failed %s: %s\n", x.Command, x.Message)
	default:
		fmt.Fprintf(&s.out, "answer %s %s\n", x.Command, x.Body)
	}
}

// request sends a request: its name, and its arguments if there are any.
func (s *script) request(line string) {
	s.seq++
	name, args, some := strings.Cut(line, " ")
	m := fmt.Sprintf(`{"seq":%d,"type":"request","command":%q}`, s.seq, name)
	if some {
		m = fmt.Sprintf(`{"seq":%d,"type":"request","command":%q,"arguments":%s}`, s.seq, name, args)
	}
	s.a.receive(s.now, []byte(m))
}

// event gives the adapter an event of the session. One with "done" alone ends the last call.
func (s *script) event(line string) {
	e := session.Event{}
	if line == "done" {
		s.a.take(s.now, session.Event{Name: session.DoneName, ID: s.id, Done: &session.Done{}})
		return
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	if e.ID == 0 && (e.Group.Kind == protocol.KindResult || e.Group.Kind == protocol.KindFault) {
		e.ID = s.id
	}
	s.a.take(s.now, e)
}

func (s *script) run(d *datadriven.TestData) string {
	s.out.Reset()
	for line := range strings.SplitSeq(strings.TrimSpace(d.Input), "\n") {
		switch {
		case line == "":
		case d.Cmd == "raw":
			s.a.receive(s.now, []byte(line))
		case d.Cmd == "client":
			s.request(line)
		case d.Cmd == "session":
			s.event(line)
		}
	}
	switch d.Cmd {
	case "raw", "client", "session":
	case "refuse":
		s.refuse = d.Input
	case "begin":
		s.begin(d)
	case "fail":
		s.a.started(nil, fmt.Errorf("%s", d.Input))
	case "end":
		s.a.ended(nil)
	case "after":
		var ms int
		d.ScanArgs(s.t, "ms", &ms)
		s.now = s.now.Add(time.Duration(ms) * time.Millisecond)
		s.a.expired(s.now)
	default:
		d.Fatalf(s.t, "unknown command %s", d.Cmd)
	}
	return s.out.String()
}

// shared is a session that others can join. Its calls are those of the script.
type shared struct{ session.Shared }

func (shared) Welcome() session.Welcome { return session.Welcome{Session: "sdm-1"} }

// begin gives the adapter its target.
func (s *script) begin(d *datadriven.TestData) {
	var ranks string
	d.ScanArgs(s.t, "ranks", &ranks)
	var all rank.Set
	if err := all.UnmarshalText([]byte(ranks)); err != nil {
		d.Fatalf(s.t, "%v", err)
	}
	t := &Target{Ranks: all, Joined: d.HasArg("joined"), Past: d.HasArg("past"), Program: "work"}
	if d.HasArg("values") {
		level := 1
		t.Kept = []Kept{
			{"print rest", session.Call{Command: "print", Args: protocol.Args{Expr: "rest"}}},
			{"info locals", session.Call{Command: "info locals", Args: protocol.Args{Frame: &level}}},
		}
	}
	if d.HasArg("shared") {
		t.Session = shared{}
	}
	if !t.Joined && !t.Past {
		t.First = &session.Call{Command: "launch"}
	}
	if d.HasArg("snapshot") {
		d.ScanArgs(s.t, "snapshot", &t.Snapshot)
	}
	s.a.started(t, nil)
}

func TestDialogs(t *testing.T) {
	datadriven.Walk(t, "testdata/dialog", func(t *testing.T, path string) {
		var s *script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if s == nil {
				s = newScript(t)
			}
			s.t = t
			return s.run(d)
		})
	})
}

// A panic costs the request only.
func TestDefectIsAnAnswer(t *testing.T) {
	s := newScript(t)
	s.a.requests["initialize"] = row{handle: func(*adapter, time.Time, *request) error { panic("oh") }}
	s.request(`initialize {}`)
	s.request(`threads {}`)
	if want := "failed initialize: defect of sdm: oh"; !strings.Contains(s.out.String(), want) ||
		!strings.Contains(s.out.String(), "threads before initialize") {
		t.Errorf("%s", s.out.String())
	}
}
