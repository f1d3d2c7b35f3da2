package tree_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/treetest"
)

// placed returns a vertex that has received its Init.
func placed(t testing.TB, id tree.NodeID, table protocol.RouteTable) *tree.Node {
	t.Helper()
	part, err := treetest.Subtable(table, id)
	if err != nil {
		t.Fatal(err)
	}
	n := tree.New(id)
	outs := append([]tree.Output(nil), n.Step(0, tree.FromParent{Msg: wire.Message{Kind: wire.Init, ID: 1, Body: canonical.JSON(part)}})...)
	for _, out := range outs {
		switch out := out.(type) {
		case tree.Connect:
			n.Step(0, tree.Connected{Child: out.Child})
			first := rank.ID(out.Route.Server)
			n.Step(0, tree.FromChild{Child: out.Child, Msg: wire.Message{Kind: wire.Reply, ID: 1, Flags: wire.Final,
				Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Range(first, rank.ID(table.Size-1)), Body: []byte("{}")}}}})
		case tree.DeliverInit:
			n.Step(0, tree.LocalReady{})
		}
	}
	return n
}

// sent returns the packets for the parent among outputs.
func sent(outs []tree.Output) (list []wire.Message) {
	for _, out := range outs {
		if up, ok := out.(tree.ToParent); ok {
			list = append(list, up.Msg)
		}
	}
	return list
}

func say(r rank.ID, text []byte) tree.LocalEvents {
	return tree.LocalEvents{Groups: []protocol.Group{{Kind: protocol.KindStdout, Ranks: rank.Of(r), Body: text}}}
}

// A flood is not held back to coalesce it: it is sent as soon as a limit is
// reached.
func TestFloodGoesUpAtOnce(t *testing.T) {
	for _, test := range []struct {
		name string
		line func(i int) []byte
		want int // groups in the packet
	}{
		{"long lines", func(i int) []byte { return fmt.Appendf(nil, "%08192d", i) }, 8},
		{"many lines", func(i int) []byte { return fmt.Appendf(nil, "%d", i) }, 513},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := placed(t, 1, treetest.Table("flat", 1, 1, false))
			n.Step(time.Second, say(0, []byte("first"))) // passes at once: no window is open
			for i := 1; i <= 1000; i++ {
				up := sent(n.Step(time.Second, say(0, test.line(i))))
				if len(up) == 0 {
					continue
				}
				if i != test.want || len(up) != 1 || len(up[0].Groups) != test.want {
					t.Errorf("after %d lines %d packets went up, with %d lines; want one after %d", i, len(up), len(up[0].Groups), test.want)
				}
				return
			}
			t.Error("nothing went up")
		})
	}
}

// An answer that does not fit into one packet is sent in several; only the last one
// has flags that end the request.
func TestLargeAnswerInPieces(t *testing.T) {
	n := placed(t, 1, treetest.Table("flat", 1, 5, false))
	n.Step(0, tree.FromParent{Msg: wire.Message{Kind: wire.Command, ID: 2, Ranks: rank.Range(0, 4)}})
	var up []wire.Message
	for r := range rank.ID(5) {
		body := make([]byte, 7<<20)
		body[0] = byte(r)
		up = append(up, sent(n.Step(0, tree.LocalReply{ID: 2, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: body}}}))...)
	}
	got := ""
	for _, m := range up {
		got += fmt.Sprintf("%d %v; ", len(m.Groups), m.Flags)
	}
	if want := "2 ; 2 ; 1 final; "; got != want {
		t.Errorf("groups and flags %q, want %q", got, want)
	}
}

func ask(id int, ranks rank.Set, wait time.Duration) tree.FromParent {
	return tree.FromParent{Msg: wire.Message{Kind: wire.Command, ID: protocol.RequestID(id), Ranks: ranks, Wait: wait}}
}

const maxOverdue = 1024 // as in package tree

// Requests that are never answered are kept up to a limit; then the oldest is
// ended. Requests that have been answered meanwhile do not count.
func TestOverdueRequestsAreBounded(t *testing.T) {
	n := placed(t, 1, treetest.Table("flat", 1, 1, false))
	now, ended := time.Duration(0), 0
	for i := range 3 * maxOverdue {
		n.Step(now, ask(2+i, rank.Of(0), time.Millisecond))
		now += time.Second
		for _, m := range sent(n.Step(now, tree.Tick{})) {
			if m.Flags != wire.Late|wire.Final {
				continue
			}
			if want := protocol.RequestID(2 + 2*ended); m.ID != want {
				t.Fatalf("request %d was ended, want %d", m.ID, want)
			}
			ended++
		}
		if i%2 == 1 { // every second one is answered late
			n.Step(now, tree.LocalReply{ID: protocol.RequestID(2 + i), Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(0), Body: []byte("{}")}}})
		}
	}
	// The last one was open, too, when it arrived.
	if want := 3*maxOverdue/2 + 1 - maxOverdue; ended != want {
		t.Errorf("%d requests were ended, want %d", ended, want)
	}
}

// A request that is ended because the limit is reached while a child is being lost
// is not answered again because of that loss.
func TestEndedWhileLost(t *testing.T) {
	n := placed(t, 0, treetest.Table("flat", 2, 1, false))
	all := rank.Range(0, 1)
	n.Step(0, ask(5, all, time.Hour))
	n.Step(0, tree.FromChild{Child: 2, Msg: wire.Message{Kind: wire.Reply, ID: 5, Flags: wire.Partial}})
	for i := range maxOverdue {
		n.Step(time.Second, ask(1000+i, rank.Of(0), time.Second))
	}
	n.Step(2*time.Second, tree.Tick{})
	ends := make(map[protocol.RequestID]int)
	for _, m := range sent(n.Step(3*time.Second, tree.ChildLost{Child: 1, Cause: "EOF"})) {
		if m.Flags&wire.Final != 0 {
			ends[m.ID]++
		}
	}
	if len(ends) != maxOverdue {
		t.Errorf("%d requests were ended, want %d", len(ends), maxOverdue)
	}
	for id, n := range ends {
		if n != 1 {
			t.Errorf("request %d was ended %d times", id, n)
		}
	}
}

// The limit of unacknowledged events counts all that they contain, including
// columns: output is paused before they reach a megabyte, and resumes when the root
// has them.
func TestKeptColumnsCount(t *testing.T) {
	n := placed(t, 3, treetest.Table("binomial", 4, 1, false))
	held := func(outs []tree.Output) (on, said bool) {
		for _, out := range outs {
			if h, ok := out.(tree.PauseOutput); ok {
				on, said = h.On, true
			}
		}
		return on, said
	}
	logged := protocol.Group{Kind: protocol.KindLogged, Ranks: rank.Of(2), Columns: []column.Column{
		column.New("value.0", 2, strings.Repeat("x", 100<<10), 0),
	}}
	last := uint64(0)
	for on := false; !on; last++ {
		if last > 11 {
			t.Fatal("more than a megabyte is kept, and no writer waits")
		}
		on, _ = held(n.Step(0, tree.LocalEvents{Groups: []protocol.Group{logged}}))
	}
	if last < 10 {
		t.Errorf("%d events of 100 KB are held up", last)
	}
	seen := wire.Message{Kind: wire.Ack, Marks: []wire.Mark{{Servers: rank.Of(2), Last: last}}}
	if on, said := held(n.Step(0, tree.FromParent{Msg: seen})); on || !said {
		t.Error("they wait though the root has it all")
	}
}
