package offline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func reply(command string, ranks rank.Set, body string) session.Event {
	e := session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte(body)})
	e.Command = command
	return e
}

func output(kind protocol.Kind, ranks rank.Set, text string) session.Event {
	return session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks, Body: []byte(text)})
}

// file returns a file of four ranks: 2 was silent, 3 has crashed.
func file() *hangfile.File {
	when := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	f := hangfile.New(when, "1.2", hangfile.Reason{Kind: hangfile.Crash, Text: "SIGSEGV", Ranks: rank.Of(3)},
		hangfile.Job{Command: []string{"mpirun", "./a b"}, ID: "77", Host: "login"}, rank.Range(0, 3))
	f.States = []hangfile.State{
		{Ranks: rank.Range(0, 1), Status: session.Status{State: session.Running}},
		{Ranks: rank.Of(2), Status: session.Status{State: session.Stopped, Where: "w.c:9", Func: "f", Reason: "signal-received", Signal: "SIGINT"}},
		{Ranks: rank.Of(3), Status: session.Status{State: session.Signalled, Signal: "SIGSEGV"}},
	}
	stacks := reply("stacks", rank.Range(0, 1), `{}`)
	stacks.Group.Stack = stack.Of(rank.Of(0), []stack.Frame{{Func: "main", File: "/src/w.c", Line: 5}, {Func: "PMPI_Recv", From: "libmpi.so"}}).
		Merge(stack.Of(rank.Of(1), []stack.Frame{{Func: "main", File: "/src/w.c", Line: 6}}))
	silent := session.NewEvent(protocol.Group{Kind: protocol.KindMissing, Ranks: rank.Of(2), Body: []byte(`{"cause":"no answer in 10s","host":"n2"}`)})
	f.Stacks = []session.Event{stacks, silent}
	value := reply("print", rank.Range(0, 1), `{"expr":"x"}`)
	value.Group.Columns = []column.Column{column.Of("value", rank.Of(0), "7", 64).Merge(column.New("value", 1, "8", 64))}
	f.Values = []hangfile.Value{{Line: "print x", Command: "print", Args: protocol.Args{Expr: "x"}, Answers: []session.Event{value}},
		{Line: "bt", Command: "backtrace", Answers: []session.Event{output(protocol.KindNote, rank.Set{}, `{"text":"gdb is missing"}`)}}}
	f.Hosts = []session.Event{reply("info hosts", rank.Range(0, 1), `{"hosts":["n1.site"]}`), reply("info hosts", rank.Range(2, 3), `{"hosts":["n2"]}`)}
	f.Versions = []hangfile.Version{{Of: "MPI", Text: "Open MPI 4.1.4"}}
	f.Output.Events = []session.Event{
		output(protocol.KindStdout, rank.Range(0, 3), "step 1\n"),
		output(protocol.KindStderr, rank.Of(3), "bad \xff\n"),
	}
	f.Output.DroppedStdout = 12
	return f
}

// transcript returns the events up to the done of a call, a line each without numbers and times.
func transcript(t *testing.T, s *Session) string {
	t.Helper()
	var lines []string
	for e := range s.Events() {
		e.ID = 0
		if e.Done != nil {
			e.Done.Took = 0
		}
		lines = append(lines, string(e.AppendJSON(nil)))
		if e.Done != nil {
			return strings.Join(lines, "\n")
		}
	}
	t.Fatal("the stream has ended")
	return ""
}

func TestAnswers(t *testing.T) {
	s := New(file())
	defer s.Close(t.Context())
	for i, c := range []struct {
		call session.Call
		want []string // parts of the transcript
	}{
		{session.Call{Command: "ranks"}, []string{ // and the events that tell the states
			`{"event":"watched","ranks":"0-1","n":2}`,
			`{"event":"stopped","ranks":"2","n":1,"reason":"signal-received","signal":"SIGINT","frame":{"level":0,"func":"f","file":"w.c","line":9}}`,
			`{"event":"signalled","ranks":"3","n":1,"signal":"SIGSEGV"}`,
			`{"event":"reply","command":"ranks","ranks":"0-1","n":2,"result":{"state":"running"}}`,
			`{"event":"done","command":"ranks","asked":4,"answered":4,"ms":0}`,
		}},
		{session.Call{Command: "stacks"}, []string{
			`"func":"PMPI_Recv"`, `{"event":"missing","command":"stacks","ranks":"2","n":1,"waited":"10s","hosts":["n2"]}`,
			`{"event":"error","command":"stacks","ranks":"3","n":1,"kind":"state","op":"stacks","message":"the file has no stacks of these ranks"}`,
			`"asked":4,"answered":3,"faults":1,"missing":"2"`,
		}},
		{session.Call{Command: "stacks", Ranks: "0-1", Args: protocol.Args{By: "function"}}, []string{
			`"stack":[{"func":"main","ranks":"0-1","n":2,"threads":2,"children":[{"func":"PMPI_Recv","from":"libmpi.so","ranks":"0",`,
		}},
		{session.Call{Command: "stacks", Ranks: "@fn:MPI_Recv", Args: protocol.Args{Explain: true}}, []string{
			`"ranks":"0","n":1,"result":{}`, `{"event":"note","command":"stacks","ranks":"0","n":1,"text":"the file does not tell where`, `"asked":1,`,
		}},
		{session.Call{Command: "focus", Args: protocol.Args{Set: "@at:w.c:6"}}, []string{`"result":{"set":"1"}`}},
		{session.Call{Command: "focus", Args: protocol.Args{Set: "@host:n[1-2]&0-2"}}, []string{`"result":{"set":"0-2"}`}},
		{session.Call{Command: "group", Args: protocol.Args{Name: "odd", Set: "0-3:2^all"}}, []string{`"result":{"name":"odd","set":"1,3"}`}},
		{session.Call{Command: "focus", Args: protocol.Args{Set: "@odd&@running"}}, []string{`"result":{"set":"1"}`}},
		{session.Call{Command: "groups"}, []string{`"result":{"name":"odd","set":"1,3"}`}},
		{session.Call{Command: "print", Ranks: "1", Args: protocol.Args{Expr: "x", Limit: -1}}, []string{`"values":[{"value":"8","ranks":"1"}]`}},
		{session.Call{Command: "expand", Ranks: "1", Args: protocol.Args{Of: 10}}, []string{`"command":"expand","ranks":"1","n":1,"result":{"expr":"x"},"columns"`}},
		{session.Call{Command: "info hosts", Ranks: "3"}, []string{`"ranks":"3","n":1,"result":{"hosts":["n2"]}`}},
		{session.Call{Command: "info file"}, []string{
			`"text":"hang file of 2026-11-24 09:30:00 +0000, written by sdm 1.2"`, `"ranks":"3","n":1,"result":{"text":"reason: crash, SIGSEGV"}`,
			`"text":"command: mpirun './a b'"`, `"text":"job 77, started on login, 4 ranks"`, `"text":"MPI: Open MPI 4.1.4"`, `"text":"has the answers to: print x"`,
		}},
		{session.Call{Command: "info output", Ranks: "0-1"}, []string{`"text":"12 bytes of standard output before this are not in the file"`, `"ranks":"0-1","n":2,"result":{"text":"step 1\n"}`}},
		{session.Call{Command: "backtrace", Ranks: "1"}, []string{`"text":"gdb is missing"`}},
		{session.Call{Command: "info output", Ranks: "3"}, []string{`"text":"bad ` + "\uFFFD" + `\n"`}},
		{session.Call{Command: "stacks", Ranks: "0-1", Args: protocol.Args{Children: true}}, []string{
			`"text":"the file has no stacks of processes that the ranks have started"`,
		}},
	} {
		id, err := s.Do(t.Context(), c.call)
		if err != nil {
			t.Errorf("%v: %v", c.call, err)
			continue
		}
		if id != protocol.RequestID(i+1) {
			t.Fatalf("%v has number %d, want %d", c.call, id, i+1)
		}
		got := transcript(t, s)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v answers\n%s\nwithout\n%s", c.call, got, want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	s := New(file())
	defer s.Close(t.Context())
	for _, c := range []struct {
		call session.Call
		want string
	}{
		{session.Call{Command: "continue"}, "continue: the job is not here: this is a file of 2026-11-24 09:30:00 +0000 (info file tells what is in it)"},
		{session.Call{Command: "print", Args: protocol.Args{Expr: "y"}}, "print: the job is not here: "},
		{session.Call{Command: "stacks", Args: protocol.Args{By: "address"}}, "stacks: the file has no addresses"},
		{session.Call{Command: "stacks", Args: protocol.Args{By: "colour"}}, `stacks: "colour" is no granularity`},
		{session.Call{Command: "stacks", Ranks: "9"}, "there is no rank 9; the last is 3"},
		{session.Call{Command: "stacks", Ranks: "@expr{x}"}, "a hang file has no such set"},
		{session.Call{Command: "stacks", Ranks: "@at:w.c"}, "write it as @at:FILE:LINE"},
		{session.Call{Command: "stacks", Ranks: "@host:n7"}, "the file has no such host; it has n1.site, n2"},
		{session.Call{Command: "stacks", Ranks: "@fn:nothing"}, "there are no ranks in @fn:nothing"},
		{session.Call{Command: "group", Args: protocol.Args{Name: "watched", Set: "0"}}, "@watched already means"},
		{session.Call{Command: "group", Args: protocol.Args{Name: "é", Set: "0"}}, "cannot be a name"},
		{session.Call{Command: "expand", Args: protocol.Args{Of: 99}}, "there is no such answer any more"},
	} {
		_, err := s.Do(t.Context(), c.call)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.call, err, c.want)
		}
	}
}

// TestQuit: the stream ends after quit, and after Close alone.
func TestQuit(t *testing.T) {
	for _, quit := range []bool{true, false} {
		s := New(file())
		if quit {
			if _, err := s.Do(t.Context(), session.Call{Command: "quit"}); err != nil {
				t.Fatal(err)
			}
			for range s.Events() { // ends
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}
