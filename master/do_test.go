package master

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

func TestOwnCommands(t *testing.T) {
	m, f := standing(t, obedient)
	defer closeNow(t, m)
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{
		{Kind: protocol.KindRunning, Ranks: rank.Range(0, 7), Body: []byte("{}")},
		{Kind: protocol.KindStopped, Ranks: rank.Range(0, 2), Body: []byte(`{"reason":"breakpoint-hit","frame":{"level":0,"func":"f","file":"work.c","line":31}}`)},
	}})
	steps := []struct {
		name string
		call session.Call
		want []string
	}{
		{"ranks", session.Call{Command: "ranks"}, []string{
			`{"event":"running","ranks":"0-7","n":8}`,
			`{"event":"stopped","ranks":"0-2","n":3,"reason":"breakpoint-hit","frame":{"level":0,"func":"f","file":"work.c","line":31}}`,
			`{"event":"reply","id":2,"command":"ranks","ranks":"0-2","n":3,"result":{"state":"stopped","where":"work.c:31","func":"f","reason":"breakpoint-hit"}}`,
			`{"event":"reply","id":2,"command":"ranks","ranks":"3-7","n":5,"result":{"state":"running"}}`,
			`{"event":"done","id":2,"command":"ranks","asked":8,"answered":8,"ms":0}`,
		}},
		{"some ranks", session.Call{Command: "ranks", Ranks: "@stopped,7"}, []string{
			`{"event":"reply","id":3,"command":"ranks","ranks":"0-2","n":3,"result":{"state":"stopped","where":"work.c:31","func":"f","reason":"breakpoint-hit"}}`,
			`{"event":"reply","id":3,"command":"ranks","ranks":"7","n":1,"result":{"state":"running"}}`,
			`{"event":"done","id":3,"command":"ranks","asked":4,"answered":4,"ms":0}`,
		}},
		{"no groups", session.Call{Command: "groups"}, []string{
			`{"event":"done","id":4,"command":"groups","asked":0,"answered":0,"ms":0}`,
		}},
		{"group", session.Call{Command: "group", Args: protocol.Args{Name: "even", Set: "0-6:2"}}, []string{
			`{"event":"reply","id":5,"command":"group","ranks":"0,2,4,6","n":4,"result":{"name":"even","set":"0,2,4,6"}}`,
			`{"event":"done","id":5,"command":"group","asked":4,"answered":4,"ms":0}`,
		}},
		{"focus", session.Call{Command: "focus", Args: protocol.Args{Set: "@even&@stopped"}}, []string{
			`{"event":"reply","id":6,"command":"focus","ranks":"0,2","n":2,"result":{"set":"0,2"}}`,
			`{"event":"done","id":6,"command":"focus","asked":2,"answered":2,"ms":0}`,
		}},
		{"groups", session.Call{Command: "groups"}, []string{
			`{"event":"reply","id":7,"command":"groups","ranks":"0,2,4,6","n":4,"result":{"name":"even","set":"0,2,4,6"}}`,
			`{"event":"done","id":7,"command":"groups","asked":4,"answered":4,"ms":0}`,
		}},
		{"through the tree", session.Call{Command: "continue", Ranks: "@even"}, []string{
			`{"event":"reply","id":8,"command":"continue","ranks":"0,2,4,6","n":4,"result":{}}`,
			`{"event":"done","id":8,"command":"continue","asked":4,"answered":4,"ms":0}`,
		}},
	}
	for _, s := range steps {
		if got, want := call(t, m, s.call), strings.Join(s.want, "\n")+"\n"; got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", s.name, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	m, f := standing(t, obedient)
	defer closeNow(t, m)
	for _, tt := range []struct {
		name string
		call session.Call
		want string // part of the error
	}{
		{"unknown command", session.Call{Command: "prnit"}, `unknown command "prnit" (did you mean print?)`},
		{"a command without a similar one", session.Call{Command: "zzzzzzzz"}, `unknown command "zzzzzzzz" (help lists the commands)`},
		{"an abbreviated command", session.Call{Command: "back"}, "did you mean backtrace?"},
		{"no expression", session.Call{Command: "whatis"}, "whatis: needs an expression"},
		{"an argument of other commands", session.Call{Command: "clear", Args: protocol.Args{Location: "f", Condition: "n > 1"}}, "clear: does not read condition (its arguments are location)"},
		{"an argument that only the master sets", session.Call{Command: "break", Args: protocol.Args{Location: "f", Breakpoint: 7}}, "break: does not read breakpoint"},
		{"an argument for a command without arguments", session.Call{Command: "kill", Args: protocol.Args{Signal: "9"}}, "kill: does not read signal (it has no arguments)"},
		{"no job", session.Call{Command: "launch"}, "launch: needs a job"},
		{"a rank beyond the last", session.Call{Command: "ranks", Ranks: "8"}, "there is no rank 8; the last is 7"},
		{"nonsense", session.Call{Command: "ranks", Ranks: "frog"}, "frog"},
		{"an empty set", session.Call{Command: "ranks", Ranks: "0-3&4-7"}, "there are no ranks in 0-3&4-7"},
		{"a set of an unknown breakpoint", session.Call{Command: "ranks", Ranks: "@bp:1"}, "@bp:1: there is no breakpoint number 1; info breakpoints lists them"},
		{"a set of an unknown host", session.Call{Command: "ranks", Ranks: "@host:elsewhere"}, "there is no such host; there are node01, node02"},
		{"a set of a place without a line", session.Call{Command: "ranks", Ranks: "@at:work.c"}, `"work.c" is not FILE:LINE`},
		{"a set of a function without a name", session.Call{Command: "ranks", Ranks: "@fn:"}, "something must follow"},
		{"no expression to compare", session.Call{Command: "diff"}, "diff: needs an expression"},
		{"an unknown group", session.Call{Command: "ranks", Ranks: "@odd"}, "odd"},
		{"not UTF-8", session.Call{Command: "print", Args: protocol.Args{Expr: "\xff"}}, "not UTF-8"},
		{"an unknown breakpoint is deleted", session.Call{Command: "delete", Args: protocol.Args{Breakpoints: []int{7}}}, "there is no breakpoint number 7"},
		{"a name that is taken", session.Call{Command: "group", Args: protocol.Args{Name: "stopped", Set: "1"}}, "already means"},
		{"a bad name", session.Call{Command: "group", Args: protocol.Args{Name: "a b", Set: "1"}}, "cannot be the name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := m.Do(context.Background(), tt.call)
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Kind != protocol.FaultUsage || id != 0 {
				t.Fatalf("number %d, error %v", id, err)
			}
			if text := err.Error(); !strings.Contains(text, tt.want) || strings.Contains(text, "\n") {
				t.Errorf("error: %s\nwant: %s", text, tt.want)
			}
		})
	}
	if n := len(f.sent(wire.Command)); n != 0 {
		t.Errorf("%d packets went down", n)
	}
}

func TestBreakpointNumbers(t *testing.T) {
	fail := false
	m, f := standing(t, func(f *fakeRoot, m wire.Message) {
		if m.Kind == wire.Command && fail {
			f.reply(m.ID, wire.Final, protocol.Group{Kind: protocol.KindFault, Ranks: m.Ranks, Body: []byte(`{"kind":"gdb","message":"No symbol."}`)})
			return
		}
		obedient(f, m)
	})
	defer closeNow(t, m)
	f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindRunning, Ranks: rank.Range(0, 7), Body: []byte("{}")}}})
	set := func(failing bool) {
		fail = failing
		call(t, m, session.Call{Command: "break", Args: protocol.Args{Location: "work.c:31"}})
	}
	set(false)
	set(true)
	set(false)
	var got []string
	for _, p := range f.sent(wire.Command) {
		got = append(got, string(p.Body))
	}
	want := []string{
		`{"command":"break","args":{"location":"work.c:31","breakpoint":1}}`,
		`{"command":"break","args":{"location":"work.c:31","breakpoint":2}}`, // no rank could set it
		`{"command":"break","args":{"location":"work.c:31","breakpoint":2}}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent:\n%s", strings.Join(got, "\n"))
	}
}

func TestWaits(t *testing.T) {
	m, f := standing(t, obedient)
	defer closeNow(t, m)
	for _, wait := range []time.Duration{0, 2 * time.Second, -1} {
		call(t, m, session.Call{Command: "continue", Wait: wait})
	}
	var got []time.Duration
	for _, p := range f.sent(wire.Command) {
		got = append(got, p.Wait)
	}
	if fmt.Sprint(got) != "[10s 2s 0s]" {
		t.Errorf("waits on the wire: %v", got)
	}
}
