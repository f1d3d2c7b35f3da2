package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

func event(kind protocol.Kind, ranks rank.Set, body string) session.Event {
	return session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks, Body: []byte(body)})
}

// in lets ranks be in a call of MPI.
func in(f *hangfile.File, key string, ranks rank.Set, line int, inner string) {
	e := event(protocol.KindResult, ranks, `{"samples":4,"every":"150ms"}`)
	e.Group.Stack = stack.Of(ranks, []stack.Frame{
		{Func: "main", File: "/src/w.c", Line: 50}, {Func: "sum", File: "/src/w.c", Line: line},
		{Func: "PMPI_Barrier", From: "/lib/libmpi.so"}, {Func: inner, From: "/lib/libmpi.so"},
	})
	e.Group.Waits = wait.Of(ranks, wait.Rank{
		Doing: wait.Doing{Frames: fmt.Sprintf("sum w.c:%d", line)},
		Comms: []wait.Comm{{Key: key, Name: "MPI_COMM_WORLD", Members: rank.Range(0, 3)}},
		Calls: []wait.Call{{Function: "MPI_Barrier", Comm: key, Root: wait.No, Bytes: wait.No}},
	})
	f.Stacks = append(f.Stacks, e)
}

// does lets ranks compute.
func does(f *hangfile.File, ranks rank.Set, name string) {
	e := event(protocol.KindResult, ranks, `{"samples":4,"every":"150ms"}`)
	e.Group.Stack = stack.Of(ranks, []stack.Frame{{Func: "main", File: "/src/w.c", Line: 50}, {Func: name, File: "/src/k.c", Line: 9}})
	e.Group.Waits = wait.Of(ranks, wait.Rank{Doing: wait.Doing{State: wait.Running, Frames: name + " k.c:9"}})
	f.Stacks = append(f.Stacks, e)
}

// file returns a file of four ranks: 0 to 2 are in a barrier, and 3 does something.
func file(key, inner, name string) *hangfile.File {
	when := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	f := hangfile.New(when, "1.2", hangfile.Reason{Kind: hangfile.Stall, Text: "no progress for 2m0s"},
		hangfile.Job{Command: []string{"mpirun", "./a"}, ID: "77"}, rank.Range(0, 3))
	in(f, key, rank.Range(0, 2), 31, inner)
	does(f, rank.Of(3), name)
	f.States = []hangfile.State{{Ranks: rank.Range(0, 3), Status: session.Status{State: session.Watched}}}
	value := event(protocol.KindResult, rank.Range(0, 3), `{"expr":"x"}`)
	value.Group.Columns = []column.Column{column.Of("value", rank.Range(0, 2), "7", 64).Merge(column.New("value", 3, name, 64))}
	f.Values = []hangfile.Value{{Line: "print x", Command: "print", Answers: []session.Event{value}}}
	f.Judge()
	return f
}

func textOf(t *testing.T, c *Changes) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestEqual: keys of communicators, frames inside of MPI, times and the number of the job are not compared.
func TestEqual(t *testing.T) {
	a, b := file("1", "poll", "relax"), file("2", "progress", "relax")
	b.When, b.Job.ID = b.When.Add(90*time.Second), "78"
	c := Of(a, b)
	want := `then: 2026-11-24 09:30:00 +0000, stall, no progress for 2m0s, job 77, 4 ranks
now:  2026-11-24 09:31:30 +0000, stall, no progress for 2m0s, job 78, 4 ranks, 1m30s later
[0-3] (4) same stacks and calls
nothing has changed
`
	if diff := cmp.Diff(want, textOf(t, c)); diff != "" || !c.Equal {
		t.Errorf("equal: %v\n%s", c.Equal, diff)
	}
}

func TestDifferent(t *testing.T) {
	a, b := file("1", "poll", "relax"), hangfile.New(time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC), "1.3", hangfile.Reason{Kind: hangfile.Crash, Text: "SIGSEGV"},
		hangfile.Job{Command: []string{"mpirun", "./b"}}, rank.Range(0, 4))
	in(b, "9", rank.Of(0, 1), 31, "poll")
	in(b, "9", rank.Of(3), 40, "poll")
	b.Stacks = append(b.Stacks, event(protocol.KindMissing, rank.Of(4), `{"cause":"no answer in 10s"}`))
	does(b, rank.Of(2), "crunch")
	code := 3
	b.States = []hangfile.State{{Ranks: rank.Range(0, 3), Status: session.Status{State: session.Watched}}, {Ranks: rank.Of(4), Status: session.Status{State: session.Exited, Code: &code}}}
	b.Values = a.Values[:0]
	b.Hosts = []session.Event{event(protocol.KindResult, rank.Range(0, 4), `{"hosts":["n1"],"program":"/a"}`)}
	b.Versions = []hangfile.Version{{Of: "MPI", Text: "5.0"}}
	b.Output.Events = []session.Event{event(protocol.KindStdout, rank.Of(1), "bye\x1b\n")}
	b.Judge()
	want := `then: 2026-11-24 09:30:00 +0000, stall, no progress for 2m0s, job 77, 4 ranks
now:  2026-11-24 09:30:00 +0000, crash, SIGSEGV, 5 ranks, 0s later
[0-1] (2) same stacks and calls
[2-4] (3) other stacks or calls
reason:
- stall, no progress for 2m0s
+ crash, SIGSEGV
command:
- mpirun ./a
+ mpirun ./b
verdict:
- so far: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 computes still in relax (k.c:9)
+ so far: 0-1,3 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 computes still in crunch (k.c:9)
ranks:
+ [4] in the job
calls:
- [2] MPI_Barrier on MPI_COMM_WORLD, called by sum (w.c:31)
- [3] computes in relax (k.c:9)
+ [2] computes in crunch (k.c:9)
+ [3] MPI_Barrier on MPI_COMM_WORLD, called by sum (w.c:40)
+ [4] did not answer
stacks:
- [2] main w.c:50 > sum w.c:31 > PMPI_Barrier
- [3] main w.c:50 > relax k.c:9
+ [2] main w.c:50 > crunch k.c:9
+ [3] main w.c:50 > sum w.c:40 > PMPI_Barrier
without stacks:
+ [4] no answer in 10s
states:
+ [4] exited with code 3
print x:
- [0-2] (3) 7
- [3] relax
hosts:
+ [0-4] (5) n1, /a
versions:
- sdm: 1.2
+ sdm: 1.3
+ MPI: 5.0
output:
+ [1] bye^[
`
	c := Of(a, b)
	if diff := cmp.Diff(want, textOf(t, c)); diff != "" || c.Equal {
		t.Errorf("equal: %v\n%s", c.Equal, diff)
	}
	var out bytes.Buffer
	if err := c.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var read Changes
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, textOf(t, &read)); diff != "" {
		t.Errorf("from JSON:\n%s", diff)
	}
}

// TestMany: sections are bounded, and similar rows are one.
func TestMany(t *testing.T) {
	many := func(peer int) *hangfile.File {
		f := hangfile.New(time.Time{}, "1", hangfile.Reason{Kind: hangfile.Asked}, hangfile.Job{}, rank.Range(0, 99))
		e := event(protocol.KindResult, f.Ranks, `{}`)
		for r := range rank.ID(100) {
			edge := wait.Edge{Function: "MPI_Recv", Comm: "w", Tag: int(r)}
			e.Group.Waits = e.Group.Waits.Merge(wait.Of(rank.Of(r), wait.Rank{Waits: []wait.Message{{Edge: edge, Peer: peer}},
				Comms: []wait.Comm{{Key: "w", Name: "w", Members: f.Ranks}}}))
			f.States = append(f.States, hangfile.State{Ranks: rank.Of(r), Status: session.Status{State: session.Lost, Cause: fmt.Sprint(peer, r)}})
		}
		f.Stacks = []session.Event{e}
		return f
	}
	c := Of(many(1), many(2))
	got := textOf(t, c)
	for _, want := range []string{"- [0-99] (100) MPI_Recv from 1 tag N on w (100 rows, N differs)\n", "and 60 more\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nis not in\n%s", want, got)
		}
	}
}
