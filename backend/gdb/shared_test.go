package gdb_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// one gives a command to one rank.
func (r *rig) one(id rank.ID, name string, args protocol.Args) protocol.Group {
	r.Helper()
	req := r.id()
	r.engine.Do(backend.Request{ID: req, Ranks: rank.Of(id), Wait: patience, Command: &protocol.Command{Name: name, Args: args}})
	return r.answers(req, 1)[0]
}

// TestSharedGDBGivesTheSame checks that the same commands to eight ranks give the same
// answers and stops, whether each has a gdb of its own or all share one.
func TestSharedGDBGivesTheSame(t *testing.T) {
	want := ""
	for _, per := range []int{1, 3, 8} {
		t.Run(fmt.Sprintf("%d", per), func(t *testing.T) {
			got := conversation(t, per)
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// conversation gives many commands to eight ranks, and returns the output of each in
// its own order.
func conversation(t *testing.T, per int) string {
	const n = 8
	r := newRig(t, gdb.Config{RanksPerGDB: per})
	r.launch(build(t, "work.c"), n)
	var b strings.Builder
	tell := func(groups ...protocol.Group) {
		var lines []string
		for _, g := range groups {
			lines = append(lines, g.String())
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	all := func(name string, args protocol.Args) {
		tell(r.answers(r.send(n, name, args, patience), n)...)
	}
	stops := func(ranks ...rank.ID) {
		for _, id := range ranks {
			tell(r.await(id, protocol.KindStopped))
		}
	}
	all("break", protocol.Args{Location: "helper", Breakpoint: 1})
	tell(r.one(3, "break", protocol.Args{Location: "factorial", Breakpoint: 2, Temporary: true, Condition: "n == 2"}))
	tell(r.one(4, "disable", protocol.Args{Breakpoints: []int{1}}))
	all("continue", protocol.Args{})
	stops(0, 1, 2, 3, 5, 6, 7)
	tell(r.await(4, protocol.KindExited))
	all("info breakpoints", protocol.Args{})
	all("print", protocol.Args{Expr: "$mine = rank * 10"})
	all("print", protocol.Args{Expr: "$mine + x"})
	all("next", protocol.Args{})
	stops(0, 1, 2, 3, 5, 6, 7)
	tell(r.one(3, "delete", protocol.Args{Breakpoints: []int{1}}), r.one(3, "continue", protocol.Args{}))
	stops(3)
	all("backtrace", protocol.Args{})
	all("info threads", protocol.Args{})
	tell(r.one(5, "delete", protocol.Args{}), r.one(5, "continue", protocol.Args{}))
	tell(r.await(5, protocol.KindExited))
	all("info breakpoints", protocol.Args{})
	return strings.NewReplacer("Thread 0x", "Thread ").Replace(withoutPIDs(r, b.String()))
}

// withoutPIDs replaces process IDs.
func withoutPIDs(r *rig, text string) string {
	for id, p := range r.procs {
		number := regexp.MustCompile(fmt.Sprintf(`\b%d\b`, p.PID)) // not a part of an address
		text = number.ReplaceAllString(text, fmt.Sprintf("PID%d", id))
	}
	return text
}

// TestKilledInSharedGDB checks that a stopped rank that is killed, by sdm or otherwise,
// does not affect the other ranks of its gdb.
func TestKilledInSharedGDB(t *testing.T) {
	const n = 4
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "work.c"), n)
	r.one(1, "kill", protocol.Args{})
	r.await(1, protocol.KindSignalled)
	if err := syscall.Kill(r.process(0).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.await(0, protocol.KindSignalled)
	for id := rank.ID(2); id < n; id++ {
		r.one(id, "break", protocol.Args{Breakpoint: 1, Location: "factorial"})
		r.one(id, "continue", protocol.Args{})
		r.await(id, protocol.KindStopped)
		r.one(id, "continue", protocol.Args{})
	}
}

// TestSharedGDBDies checks that each rank of a shared gdb that dies goes on under
// another gdb.
func TestSharedGDBDies(t *testing.T) {
	const n = 4
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "calls.c"), n)
	r.answers(r.send(n, "break", protocol.Args{Location: "outer", Breakpoint: 1}, patience), n)
	syscall.Kill(r.gdbPID(0), syscall.SIGKILL)
	for id := range rank.ID(n) {
		r.await(id, protocol.KindNote)
		r.await(id, protocol.KindStopped)
	}
	for _, g := range r.answers(r.send(n, "info breakpoints", protocol.Args{}, patience), n) {
		if !strings.Contains(string(g.Body), `"number":1`) {
			t.Errorf("got %v", g)
		}
	}
}

// TestSharedGDBIsNotDisturbed checks that a line that would change other ranks gives
// the rank a gdb of its own; the others keep theirs.
func TestSharedGDBIsNotDisturbed(t *testing.T) {
	const n = 5
	r := newRig(t, gdb.Config{RanksPerGDB: n})
	r.launch(build(t, "work.c"), n)
	for i, c := range []struct{ name, text string }{
		{"gdb", "break helper"}, {"mi", "-break-insert helper"}, {"gdb", "handle SIGUSR1 nostop"}, {"gdb", "set schedule-multiple on"},
	} {
		if g := r.one(rank.ID(i), c.name, protocol.Args{Text: c.text}); g.Kind != protocol.KindResult {
			t.Errorf("%s: %v", c.text, g)
		}
		r.await(rank.ID(i), protocol.KindNote)
		if r.gdbPID(rank.ID(i)) == r.gdbPID(n-1) {
			t.Errorf("%s: the gdb is still shared", c.text)
		}
	}
	if g := r.one(n-1, "gdb", protocol.Args{Text: "info breakpoints"}); !strings.Contains(string(g.Body), "No breakpoints") {
		t.Errorf("the neighbour has %v", g)
	}
	r.answers(r.send(n, "gdb", protocol.Args{Text: "set schedule-multiple off"}, patience), n)
	if notes := r.count(protocol.KindNote); notes != 1 {
		t.Errorf("%d notes", notes)
	}
}

// TestSharedGDBKeepsSignalsApart checks that each rank has its own signal handling:
// whether it stops, and whether the program gets the signal.
func TestSharedGDBKeepsSignalsApart(t *testing.T) {
	want := ""
	for _, per := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(per), func(t *testing.T) {
			got := signalConversation(t, per)
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func signalConversation(t *testing.T, per int) string {
	r := newRig(t, gdb.Config{RanksPerGDB: per})
	const n = 5
	r.launch(build(t, "signals.c"), n)
	var b strings.Builder
	tell := func(id rank.ID, name string, args protocol.Args) {
		fmt.Fprintf(&b, "%s %v\n", name, r.one(id, name, args))
	}
	handle := func(id rank.ID, signals string, actions ...string) {
		tell(id, "handle", protocol.Args{Signal: signals, Actions: actions})
	}
	r.answers(r.send(n, "break", protocol.Args{Location: "done", Breakpoint: 1}, patience), n)
	handle(0, "SIGUSR1", "nopass")
	handle(1, "SIGUSR1", "nostop", "noprint")
	handle(2, "SIGUSR1", "nostop", "nopass")
	handle(3, "SIGUSR1", "noprint")
	handle(3, "SIGUSR1 14", "stop", "ignore")
	handle(3, "SIGUSR1", "noignore")
	handle(1, "SIGNOSUCH", "stop")
	handle(1, "SIGUSR1", "perhaps")
	for id, stops := range []int{3, 0, 0, 3, 3} {
		id := rank.ID(id)
		tell(id, "info signals", protocol.Args{Signal: "SIGUSR1"})
		for range stops {
			r.one(id, "continue", protocol.Args{})
			fmt.Fprintf(&b, "%v\n", r.await(id, protocol.KindStopped))
		}
		r.one(id, "continue", protocol.Args{})
		fmt.Fprintf(&b, "%v\n", r.await(id, protocol.KindStopped))
		tell(id, "print", protocol.Args{Expr: "caught"})
	}
	tell(4, "info signals", protocol.Args{Signal: "SIGALRM"})
	return withoutPIDs(r, b.String())
}
