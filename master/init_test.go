package master

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

func TestInit(t *testing.T) {
	result := protocol.Group{Kind: protocol.KindResult, Body: []byte("{}")}
	missing := func(cause string) protocol.Group {
		return protocol.Group{Kind: protocol.KindMissing, Body: canonical.JSON(protocol.Missing{Cause: cause})}
	}
	on := func(g protocol.Group, servers ...rank.ID) protocol.Group {
		g.Ranks = rank.Of(servers...)
		return g
	}
	for _, tt := range []struct {
		name   string
		groups []protocol.Group
		want   string // the error
	}{
		{"all ready", []protocol.Group{on(result, 0, 1)}, ""},
		{"one server is missing", []protocol.Group{on(result, 0), on(missing("connection refused"), 1)},
			"1 of 2 servers are not ready: server 1 on node02: connection refused"},
		{"all servers are missing for one reason", []protocol.Group{on(missing("no answer in 1s"), 0), on(missing("no answer in 1s"), 1)},
			"2 of 2 servers are not ready: servers 0-1 on node01,node02: no answer in 1s"},
		{"servers are missing for two reasons", []protocol.Group{on(missing("refused"), 0), on(protocol.Group{Kind: protocol.KindFault, Body: []byte(`{"kind":"engine","message":"no gdb","hint":"install it"}`)}, 1)},
			"2 of 2 servers are not ready: server 0 on node01: refused; server 1 on node02: no gdb (install it)"},
		{"the request ends without an answer", []protocol.Group{on(result, 0)},
			"1 of 2 servers are not ready: server 1 on node02: no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, f := newFake(t, func(f *fakeRoot, m wire.Message) {
				switch m.Kind {
				case wire.Init:
					f.reply(m.ID, wire.Final, tt.groups...)
				case wire.Quit:
					close(f.over)
				}
			})
			defer closeNow(t, m)
			report, err := m.Init(context.Background(), twoHosts(), 7*time.Second)
			if text := errText(err); text != tt.want {
				t.Errorf("error: %s\nwant: %s", text, tt.want)
			}
			if report.Servers != 2 || report.Ranks.String() != "0-7" {
				t.Errorf("report: %+v", report)
			}
			var absent *session.NotReady
			if err != nil && !errors.As(err, &absent) {
				t.Errorf("error of type %T", err)
			}
			sent := f.sent(wire.Init)
			if len(sent) != 1 || sent[0].Wait != 7*time.Second || sent[0].Ranks.String() != "0-1" {
				t.Errorf("sent: %+v", sent)
			}
			_, err = m.Do(context.Background(), session.Call{Command: "ranks"})
			if (err == nil) != (tt.want == "") {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// The session continues without servers that never registered, or are not ready: their ranks are
// lost from the start and are not asked.
func TestInitWithoutSome(t *testing.T) {
	forgone := session.Absent{Ranks: rank.Range(8, 9), Hosts: []string{"node03"}, Cause: "no route to host"}
	second := protocol.Group{Kind: protocol.KindMissing, Ranks: rank.Of(1), Body: []byte(`{"cause":"refused"}`)}
	first := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(0), Body: []byte("{}")}
	m, f := newFakeOf(t, Config{Partial: true}, func(f *fakeRoot, m wire.Message) {
		if m.Kind == wire.Init {
			f.reply(m.ID, wire.Final, first, second)
			return
		}
		obedient(f, m)
	})
	report, err := m.Init(context.Background(), twoHosts(), time.Second, forgone)
	if err != nil || !report.Partial || report.Ranks.String() != "0-9" || report.Lost().String() != "4-9" || len(report.Absent) != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	lost := `{"event":"lost","ranks":"8-9","n":2,"cause":"no route to host","hosts":["node03"]}
{"event":"lost","ranks":"4-7","n":4,"cause":"refused","hosts":["node02"]}
`
	answers := strings.ReplaceAll(lost, `{"event":"lost",`, `{"event":"lost","id":2,"command":"print",`)
	want := lost + answers + `{"event":"reply","id":2,"command":"print","ranks":"0-3","n":4,"result":{}}
{"event":"done","id":2,"command":"print","asked":10,"answered":4,"lost":"4-9","ms":0}
`
	if got := call(t, m, session.Call{Command: "print", Args: protocol.Args{Expr: "x"}}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	got := call(t, m, session.Call{Command: "print", Ranks: "5,8", Args: protocol.Args{Expr: "x"}})
	if !strings.HasSuffix(got, `"asked":2,"answered":0,"lost":"5,8","ms":0}`+"\n") {
		t.Errorf("of ranks that are lost: %s", got)
	}
	if sent := f.sent(wire.Command); len(sent) != 1 || sent[0].Ranks.String() != "0-3" {
		t.Errorf("sent: %+v", sent)
	}
	closeNow(t, m)

	first = second
	first.Ranks = rank.Of(0)
	m, _ = newFakeOf(t, Config{Partial: true}, func(f *fakeRoot, m wire.Message) {
		if m.Kind == wire.Init {
			f.reply(m.ID, wire.Final, first, second)
			return
		}
		obedient(f, m)
	})
	if _, err := m.Init(context.Background(), twoHosts(), time.Second, forgone); errText(err) != "2 of 2 servers are not ready: server on node03: no route to host; servers 0-1 on node01,node02: refused" {
		t.Errorf("no server is ready: %v", err)
	}
	closeNow(t, m)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestInitThatCannotBeTried(t *testing.T) {
	of := func(first, second protocol.ServerID) protocol.RouteTable {
		return protocol.RouteTable{Shape: "binomial", Size: 2, Routes: []protocol.Route{{Server: first, Host: "a"}, {Server: second, Host: "b"}}}
	}
	for _, tt := range []struct {
		name  string
		table protocol.RouteTable
		want  string
	}{
		{"empty", protocol.RouteTable{Shape: "binomial"}, "0 servers announced, 0 given"},
		{"too few", protocol.RouteTable{Shape: "binomial", Size: 3, Routes: twoHosts().Routes}, "3 servers announced, 2 given"},
		{"a number that is given twice", of(1, 1), "server 1 is listed twice: on a and on b"},
		{"a number beyond the last", of(0, 2), "server 2 on b is beyond the 2 that there are, from 0 on"},
		{"a negative number", of(-5, 0), "server -5 on a is beyond the 2"},
		{"a number beyond all bounds", of(0, 99999999999), "server 99999999999 on b is beyond the 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := newFake(t, obedient)
			defer closeNow(t, m)
			if _, err := m.Init(context.Background(), tt.table, time.Second); errText(err) != "routing table: "+tt.want && !strings.HasPrefix(errText(err), "routing table: "+tt.want+" that") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestInitEnds(t *testing.T) {
	t.Run("with its context", func(t *testing.T) {
		m, f := newFake(t, func(f *fakeRoot, m wire.Message) {
			if m.Kind == wire.Quit {
				close(f.over)
			}
		})
		defer closeNow(t, m)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.Init(ctx, twoHosts(), 0); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if n := len(f.sent(wire.Init)); n != 1 {
			t.Errorf("%d Inits were sent", n)
		}
	})
	t.Run("with the root", func(t *testing.T) {
		m, _ := newFake(t, func(f *fakeRoot, m wire.Message) {
			f.err = errors.New("out of files")
			close(f.over)
		})
		_, err := m.Init(context.Background(), twoHosts(), 0)
		if want := "2 of 2 servers are not ready: servers 0-1 on node01,node02: out of files"; errText(err) != want {
			t.Errorf("error %v", err)
		}
		closeNow(t, m)
	})
	t.Run("a second time", func(t *testing.T) {
		m, _ := standing(t, obedient)
		defer closeNow(t, m)
		if _, err := m.Init(context.Background(), twoHosts(), 0); err == nil {
			t.Error("the tree was built twice")
		}
	})
}
