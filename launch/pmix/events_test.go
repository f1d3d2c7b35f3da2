package pmix

import (
	"slices"
	"testing"
)

// TestNotices checks which events are told to the user, and in which words.
func TestNotices(t *testing.T) {
	of := func(nspace string, r uint32) Info { return OfProc(AffectedProc, Proc{nspace, r}) }
	for name, c := range map[string]struct {
		m    Message
		want string // "": none
	}{
		"rank":            {Message{Event: -402, Text: "PROC ABORTED BY SIGNAL", Info: []Info{of("job@1", 3)}}, "job job@1, rank 3: PROC ABORTED BY SIGNAL"},
		"job":             {Message{Event: -182, Text: "JOB ABORTED", Info: []Info{of("job@1", Wildcard)}}, "job job@1: JOB ABORTED"},
		"by source":       {Message{Event: -3005, Source: &Proc{"job@1", 1}, Info: []Info{String(EventText, "bad data")}}, "job job@1, rank 1: event -3005: bad data"},
		"unknown text":    {Message{Event: -3007, Text: "ERROR STRING NOT FOUND", Info: []Info{of("job@1", 2)}}, "job job@1, rank 2: event -3007"},
		"system":          {Message{Event: NodeDown, Text: "NODE DOWN", Source: &Proc{"prte@0", 0}, Info: []Info{String(NodeName, "n7")}}, "NODE DOWN on n7"},
		"another job":     {Message{Event: -402, Text: "PROC ABORTED BY SIGNAL", Info: []Info{of("job@2", 3)}}, ""},
		"the end":         {Message{Event: JobEnd, Info: []Info{of("job@1", 0)}}, ""},
		"another session": {Message{Event: DebuggerAttached, Source: &Proc{"tool@2", 0}, Info: []Info{of("job@1", Wildcard), String(EventText, "sdm: x")}}, "job job@1: another debugger is attached"},
		"it leaves":       {Message{Event: DebuggerDetached, Source: &Proc{"tool@2", 0}, Info: []Info{of("job@1", Wildcard)}}, "job job@1: the other debugger has left"},
		"of another job":  {Message{Event: DebuggerAttached, Source: &Proc{"tool@2", 0}, Info: []Info{of("job@2", Wildcard)}}, ""},
		"our own session": {Message{Event: DebuggerAttached, Source: &Proc{"tool@1", 0}, Info: []Info{of("job@1", Wildcard)}}, ""},
		"lost server":     {Message{Event: LostConnection, Source: &Proc{"prte@0", 0}}, ""}, // of a starter that has ended
		"our own release": {Message{Event: DebuggerRelease, Source: &Proc{"job@1", 0}}, ""},
	} {
		var told []Notice
		l := newConnection(ServerSpec{Notice: func(n Notice) { told = append(told, n) }})
		l.addOwn("job@1")
		l.self = "tool@1"
		l.note(c.m)
		if c.want == "" && len(told) == 0 || len(told) == 1 && told[0].String() == c.want {
			continue
		}
		t.Errorf("%s: %v, want %q", name, told, c.want)
	}
}

// TestOldSystemEvents checks that events of the system which a server tells each new tool are not told
// as new: they come before the session has a job.
func TestOldSystemEvents(t *testing.T) {
	var told []Notice
	l := newConnection(ServerSpec{Notice: func(n Notice) { told = append(told, n) }})
	down := Message{Event: NodeDown, Text: "NODE DOWN", Source: &Proc{"prte@0", 0}}
	l.note(down)
	if len(told) != 0 {
		t.Errorf("an old one: %v", told)
	}
	l.addOwn("job@2")
	l.note(down)
	if len(told) != 1 {
		t.Errorf("a new one: %v", told)
	}
}

// TestLostServer checks that the loss of a server that should outlive the job is told, unless the job
// has ended.
func TestLostServer(t *testing.T) {
	for _, ended := range []bool{false, true} {
		var told []Notice
		d := NewDirect(DirectSpec{ServerSpec: ServerSpec{Notice: func(n Notice) { told = append(told, n) }}})
		d.addOwn("job@1")
		if ended {
			d.note(Message{Event: JobEnd, Info: []Info{OfProc(AffectedProc, All("job@1"))}})
		}
		d.note(Message{Event: LostConnection, Source: &Proc{"prte@0", 0}})
		if !d.IsLost() || ended != (len(told) == 0) {
			t.Errorf("ended %v: %v", ended, told)
		}
	}
}

// TestReplayedEnds checks that the ends of old jobs, which servers tell each new tool, are not taken
// for ends of the session's job.
func TestReplayedEnds(t *testing.T) {
	l := newConnection(ServerSpec{})
	l.addOwn("job@2")
	l.note(Message{Event: JobEnd, Source: &Proc{"job@2", 0}, Info: []Info{OfProc(AffectedProc, Proc{"job@1", 0}), Number(ExitCode, Int, 3)}})
	if _, ended := l.exit("job@2"); ended {
		t.Error("job@2 has ended by the event of job@1")
	}
	if code, ended := l.exit("job@1"); !ended || code != 3 {
		t.Errorf("job@1: %d %v", code, ended)
	}
}

// TestNamesOf checks which namespaces of a list may be jobs: servers list old ones twice, tools, and
// themselves.
func TestNamesOf(t *testing.T) {
	l := newConnection(ServerSpec{})
	l.server.URI, l.self = NewURI("prterun-n0-7@0.0;tcp4://127.0.0.1:1"), "prterun-n0-7@1"
	got := l.namesOf("prterun-n0-7@10,prterun-n0-7@1,prterun-n0-7@2,prterun-n0-7@0,other@3,prterun-n0-7@x,,prterun-n0-7@2")
	if want := []string{"prterun-n0-7@2", "prterun-n0-7@10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
