package session

import (
	"fmt"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// life is the life of a job: an event, then the table after it.
var life = []struct {
	name  string
	event Event
	want  string
}{
	{"start", NewEvent(group(protocol.KindStarted, "0-3", protocol.Started{Program: "b"})),
		`0-3 {"state":"starting"}; 4 {"state":"unstarted"}`},
	{"run", NewEvent(group(protocol.KindRunning, "0-3", struct{}{})),
		`0-3 {"state":"running"}; 4 {"state":"unstarted"}`},
	{"stop", NewEvent(group(protocol.KindStopped, "1-2", protocol.Stop{Reason: "breakpoint-hit", Frame: &protocol.Frame{Func: "f", File: "w.c", Line: 3}})),
		`0,3 {"state":"running"}; 1-2 {"state":"stopped","where":"w.c:3","func":"f","reason":"breakpoint-hit"}; 4 {"state":"unstarted"}`},
	{"a rank stops at another place", NewEvent(group(protocol.KindStopped, "0", protocol.Stop{Reason: "signal-received", Signal: "SIGSEGV", Frame: &protocol.Frame{Func: "read", From: "libc.so.6"}})),
		`0 {"state":"stopped","where":"libc.so.6","func":"read","reason":"signal-received","signal":"SIGSEGV"}; 1-2 {"state":"stopped","where":"w.c:3","func":"f","reason":"breakpoint-hit"}; 3 {"state":"running"}; 4 {"state":"unstarted"}`},
	{"answers do not change states", answer(1, "x", group(protocol.KindLost, "0-4", protocol.Missing{Cause: "gone"})),
		`0 {"state":"stopped","where":"libc.so.6","func":"read","reason":"signal-received","signal":"SIGSEGV"}; 1-2 {"state":"stopped","where":"w.c:3","func":"f","reason":"breakpoint-hit"}; 3 {"state":"running"}; 4 {"state":"unstarted"}`},
	{"exit", NewEvent(group(protocol.KindExited, "0-1", protocol.Exit{Code: 3})),
		`0-1 {"state":"exited","code":3}; 2 {"state":"stopped","where":"w.c:3","func":"f","reason":"breakpoint-hit"}; 3 {"state":"running"}; 4 {"state":"unstarted"}`},
	{"signal", NewEvent(group(protocol.KindSignalled, "3", protocol.Exit{Signal: "SIGKILL"})),
		`0-1 {"state":"exited","code":3}; 2 {"state":"stopped","where":"w.c:3","func":"f","reason":"breakpoint-hit"}; 3 {"state":"signalled","signal":"SIGKILL"}; 4 {"state":"unstarted"}`},
	{"ranks that have ended are not lost", NewEvent(group(protocol.KindLost, "0-3", protocol.Missing{Cause: "reset", Host: "n1"})),
		`0-1 {"state":"exited","code":3}; 2 {"state":"lost","cause":"reset","host":"n1"}; 3 {"state":"signalled","signal":"SIGKILL"}; 4 {"state":"unstarted"}`},
	{"an unknown rank", NewEvent(group(protocol.KindDetached, "7", struct{}{})),
		`0-1 {"state":"exited","code":3}; 2 {"state":"lost","cause":"reset","host":"n1"}; 3 {"state":"signalled","signal":"SIGKILL"}; 4 {"state":"unstarted"}; 7 {"state":"detached"}`},
	{"a body that is not JSON", NewEvent(protocol.Group{Kind: protocol.KindStopped, Ranks: ranks("4"), Body: []byte("{oops")}),
		`0-1 {"state":"exited","code":3}; 2 {"state":"lost","cause":"reset","host":"n1"}; 3 {"state":"signalled","signal":"SIGKILL"}; 4 {"state":"stopped"}; 7 {"state":"detached"}`},
}

func TestStates(t *testing.T) {
	s := NewStates(ranks("0-4"))
	for _, step := range life {
		s.Feed(step.event)
		if got := tableText(s); got != step.want {
			t.Fatalf("%s:\n%s\nwant:\n%s", step.name, got, step.want)
		}
	}
	if got := s.Ended().String(); got != "0-3,7" {
		t.Errorf("ended: %s", got)
	}
	if got, ok := s.Lookup("exited"); !ok || got.String() != "0-1" {
		t.Errorf("@exited: %s, %v", got, ok)
	}
	if _, ok := s.Lookup("nonsense"); ok {
		t.Error("@nonsense is known")
	}
	if got, ok := s.Of(7); !ok || got.State != Detached {
		t.Errorf("rank 7: %+v, %v", got, ok)
	}
	if _, ok := s.Of(99); ok {
		t.Error("rank 99 is known")
	}
}

func TestSettled(t *testing.T) {
	s := NewStates(ranks("0-3"))
	s.Feed(NewEvent(group(protocol.KindRunning, "0-3", struct{}{})))
	s.Feed(NewEvent(group(protocol.KindStopped, "0", protocol.Stop{Reason: "entry"})))
	s.Feed(NewEvent(group(protocol.KindExited, "1", protocol.Exit{})))
	for set, want := range map[string]bool{"": true, "0-1": true, "0-2": false, "3": false} {
		if got := s.NoneRuns(ranks(set)); got != want {
			t.Errorf("settled %q: %v", set, got)
		}
	}
}

func tableText(s *States) string {
	var parts []string
	for _, g := range s.Groups(s.All()) {
		parts = append(parts, fmt.Sprintf("%s %s", g.Ranks, canonical.JSON(g.Status)))
	}
	return strings.Join(parts, "; ")
}

func BenchmarkFeedMillion(b *testing.B) {
	s := NewStates(ranks("0-1048575"))
	running := NewEvent(group(protocol.KindRunning, "0-1048575", struct{}{}))
	half := NewEvent(group(protocol.KindStopped, "1000-500000", protocol.Stop{Reason: "entry"}))
	for b.Loop() {
		s.Feed(running)
		s.Feed(half)
	}
}
