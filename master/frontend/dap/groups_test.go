// Groups of ranks as threads.

package dap

import (
	"fmt"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// stopAt lets ranks stop at a line.
func stopAt(s *session.States, ranks rank.Set, line int) {
	body := canonical.JSON(protocol.Stop{Reason: "breakpoint-hit", Frame: &protocol.Frame{Func: "f", File: "a.c", Line: line}})
	s.Feed(session.NewEvent(protocol.Group{Kind: protocol.KindStopped, Ranks: ranks, Body: body}))
}

func run(s *session.States, ranks rank.Set) {
	s.Feed(session.NewEvent(protocol.Group{Kind: protocol.KindRunning, Ranks: ranks, Body: []byte("{}")}))
}

// ids returns the numbers of the listed groups, in order.
func (t *groups) ids() (ids []int) {
	for _, g := range t.listed {
		ids = append(ids, g.id)
	}
	return ids
}

func TestGroupsKeepTheirNumberWhileTheyLast(t *testing.T) {
	s, g := session.NewStates(rank.Range(0, 7)), groups{}
	for _, step := range []struct {
		what string
		do   func()
		want string
	}{
		{"nothing has started", func() {}, "[]"},
		{"all stand in one place", func() { stopAt(s, rank.Range(0, 7), 1) }, "[1]"},
		{"some go on", func() { run(s, rank.Range(0, 3)) }, "[2 1]"},
		{"and stop elsewhere", func() { stopAt(s, rank.Range(0, 3), 2) }, "[3 1]"},
		{"more come there", func() { stopAt(s, rank.Range(4, 6), 2) }, "[3 1]"},
		{"all are there", func() { stopAt(s, rank.Of(7), 2) }, "[3]"},
		{"a place is reached again", func() { stopAt(s, rank.Of(7), 1) }, "[3 4]"},
		{"ranks run again", func() { run(s, rank.Of(7)) }, "[3 5]"},
	} {
		step.do()
		g.update(s, rank.Set{})
		if got := fmt.Sprint(g.ids()); got != step.want {
			t.Errorf("%s: threads %s, want %s", step.what, got, step.want)
		}
	}
}

func TestGroupsBeyondTheListAreCounted(t *testing.T) {
	const n = 10_000
	s, g := session.NewStates(rank.Range(0, n-1)), groups{}
	for r := range rank.ID(200) { // 200 places, the last of them with most ranks
		stopAt(s, rank.Of(r), int(r))
	}
	stopAt(s, rank.Range(200, n-2), 1000)
	run(s, rank.Of(n-1))
	odd := rank.Of(150)
	g.update(s, odd)
	if len(g.listed) != maxThreads {
		t.Fatalf("%d threads", len(g.listed))
	}
	var all rank.Set
	found := false
	for _, x := range g.listed {
		if x.ranks.Intersects(all) {
			t.Errorf("%s is in two threads", x.ranks)
		}
		all = all.Union(x.ranks)
		found = found || x.ranks.Equal(odd)
	}
	last := g.listed[maxThreads-1]
	if !all.Equal(rank.Range(0, n-1)) || !found || g.running() == nil {
		t.Errorf("ranks %s, the odd one is there: %v", all, found)
	}
	if want := "139 groups more"; last.place.fn != want || last.ranks.Len() != 139 {
		t.Errorf("the last one is %q of %d ranks, want %q", last.name(), last.ranks.Len(), want)
	}
	again := last.id
	g.update(s, odd)
	if g.listed[maxThreads-1].id != again {
		t.Error("the last one has another number")
	}
}

func BenchmarkThreadsOf10000Ranks(b *testing.B) {
	s, g := session.NewStates(rank.Range(0, 9999)), groups{}
	for line := range 1000 {
		stopAt(s, rank.Range(rank.ID(line*10), rank.ID(line*10+9)), line)
	}
	for b.Loop() {
		g.update(s, rank.Set{})
	}
}

// Build systems compile with absolute paths, of which a list of threads would show the beginning.
func TestGroupNamesAreShort(t *testing.T) {
	g := &group{place: place{state: session.Stopped, fn: "solve", where: "/home/me/project/src/work.c:31"}, ranks: rank.Range(0, 3)}
	if got := g.name(); got != "[0-3] (4) solve work.c:31" {
		t.Error(got)
	}
}
