package master

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// script is the interpreter of testdata/requests: the request table with a clock that the script
// sets.
//
//	open id=N command=NAME ranks=SET [at=DURATION]
//	reply id=N [at=DURATION] [final]     one group a line: KIND RANKS BODY
//	fail cause=TEXT [at=DURATION]
//	table                                what is kept
//
// It prints the events for front ends.
type script struct{ *requests }

func TestRequests(t *testing.T) {
	datadriven.Walk(t, "testdata/requests", func(t *testing.T, path string) {
		table := newRoutes(twoHosts(), nil)
		s := script{newRequests(table.hostsOf)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.step(t, d)
		})
	})
}

// twoHosts is a table of ranks 0-3 on node01 and 4-7 on node02.
func twoHosts() protocol.RouteTable {
	return protocol.RouteTable{Shape: "binomial", Size: 2, Routes: []protocol.Route{
		{Server: 0, Host: "node01", Ranks: rank.Range(0, 3)},
		{Server: 1, Host: "node02", Ranks: rank.Range(4, 7)},
	}}
}

func (s script) step(t *testing.T, d *datadriven.TestData) string {
	var id int
	var at, command, set, cause string
	d.MaybeScanArgs(t, "id", &id)
	d.MaybeScanArgs(t, "at", &at)
	d.MaybeScanArgs(t, "command", &command)
	d.MaybeScanArgs(t, "ranks", &set)
	d.MaybeScanArgs(t, "cause", &cause)
	now := duration(t, at)
	switch d.Cmd {
	case "open":
		s.open(now, protocol.RequestID(id), command, ranks(t, set))
		return ""
	case "reply":
		m := wire.Message{Kind: wire.Reply, ID: protocol.RequestID(id), Groups: groups(t, d.Input)}
		if d.HasArg("final") {
			m.Flags |= wire.Final
		}
		return lines(s.reply(now, m))
	case "fail":
		return lines(s.fail(now, cause))
	case "table":
		return s.text()
	}
	t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

func (s script) text() string {
	var b strings.Builder
	for id := range protocol.RequestID(100) {
		if r, ok := s.byID[id]; ok {
			fmt.Fprintf(&b, "%d %s: owed %q answered %q missing %q lost %q\n", id, r.command, r.owed, r.answered, r.missing, r.lost)
		}
	}
	return b.String()
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ranks(t *testing.T, text string) rank.Set {
	t.Helper()
	var s rank.Set
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// groups reads lines of KIND RANKS BODY.
func groups(t *testing.T, text string) []protocol.Group {
	t.Helper()
	kinds := map[string]protocol.Kind{
		"result": protocol.KindResult, "fault": protocol.KindFault,
		"missing": protocol.KindMissing, "lost": protocol.KindLost,
	}
	var list []protocol.Group
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(f) < 3 || kinds[f[0]] == 0 {
			t.Fatalf("bad group %q", line)
		}
		list = append(list, protocol.Group{Kind: kinds[f[0]], Ranks: ranks(t, f[1]), Body: []byte(f[2])})
	}
	return list
}

func lines(events []session.Event) string {
	var b []byte
	for _, e := range events {
		b = append(e.AppendJSON(b), '\n')
	}
	return string(b)
}

func TestRequestsForgetTheOldest(t *testing.T) {
	s := newRequests(func(rank.Set) []string { return nil })
	silent := func(id protocol.RequestID) {
		s.open(0, id, "print", rank.Of(0))
		s.reply(0, wire.Message{ID: id, Groups: []protocol.Group{missingGroup(protocol.KindMissing, rank.Of(0), "no answer in 1s", nil)}})
	}
	for id := range protocol.RequestID(keptRequests + 3) {
		silent(id + 1)
	}
	if len(s.byID) != keptRequests || len(s.kept) != keptRequests {
		t.Errorf("%d requests kept, %d in order", len(s.byID), len(s.kept))
	}
	late := wire.Message{ID: 1, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(0), Body: []byte("{}")}}}
	if events := s.reply(0, late); events != nil {
		t.Errorf("the oldest was not forgotten: %s", lines(events))
	}
}
