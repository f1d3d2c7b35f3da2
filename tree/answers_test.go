package tree_test

import (
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/treetest"
)

// asked sends a command to a vertex of one rank and answers it if the back end
// receives it. It reports whether the back end did, and the body of the reply.
func asked(t *testing.T, n *tree.Node, m wire.Message) (delivered bool, answer string) {
	t.Helper()
	m.Kind, m.Ranks = wire.Command, rank.Of(1)
	outs := append([]tree.Output(nil), n.Step(0, tree.FromParent{Msg: m})...)
	for _, out := range outs {
		if d, ok := out.(tree.Deliver); ok {
			delivered = true
			outs = n.Step(0, tree.LocalReply{ID: d.ID, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: d.Ranks, Body: []byte(`{"a":1}`)}}})
		}
	}
	for _, m := range sent(outs) {
		for _, g := range m.Groups {
			answer += string(g.Body)
		}
	}
	if answer == "" {
		t.Fatalf("no answer to %v: %v", m, outs)
	}
	return delivered, answer
}

// deep returns a vertex that is not right below the root.
func deep(t *testing.T) *tree.Node { return placed(t, 2, treetest.Table("1", 2, 1, false)) }

// An answer is repeated as long as it may be requested again, and not stored
// longer.
func TestAnswersAreKeptUntilTheRootHasThem(t *testing.T) {
	n := deep(t)
	asked(t, n, wire.Message{ID: 2, Settled: 2})
	asked(t, n, wire.Message{ID: 3, Settled: 2}) // 2 is late at the root
	for id := protocol.RequestID(2); id <= 3; id++ {
		if delivered, answer := asked(t, n, wire.Message{ID: id, Flags: wire.Again}); delivered || answer != `{"a":1}` {
			t.Errorf("%d again: done again %v, answer %s", id, delivered, answer)
		}
	}
	asked(t, n, wire.Message{ID: protocol.FirstInternal + 1, Settled: protocol.FirstInternal + 1})
	if _, answer := asked(t, n, wire.Message{ID: 3, Flags: wire.Again}); answer != `{"a":1}` {
		t.Errorf("a request of the master's own made an answer to a front end go: %s", answer)
	}
	asked(t, n, wire.Message{ID: 4, Settled: 4})
	if delivered, answer := asked(t, n, wire.Message{ID: 3, Flags: wire.Again}); delivered || !strings.Contains(answer, "not kept any more") {
		t.Errorf("after all is settled: done again %v, answer %s", delivered, answer)
	}
	if _, answer := asked(t, n, wire.Message{ID: protocol.FirstInternal + 1, Flags: wire.Again}); answer != `{"a":1}` {
		t.Errorf("a request of a front end made an answer to the master go: %s", answer)
	}
}

// A request that was lost on its way down is executed even if internal requests of
// the master, whose numbers are higher, have arrived since.
func TestLostRequestIsDoneBehindInnerOnes(t *testing.T) {
	n := deep(t)
	asked(t, n, wire.Message{ID: protocol.FirstInternal + 1})
	if delivered, answer := asked(t, n, wire.Message{ID: 2, Flags: wire.Again}); !delivered {
		t.Errorf("it was not done: %s", answer)
	}
}

// With each command the root sends the lowest number that it still waits for.
func TestRootTellsWhatIsSettled(t *testing.T) {
	n := placed(t, 0, treetest.Table("flat", 1, 1, false))
	settled := func(id protocol.RequestID) protocol.RequestID {
		for _, out := range n.Step(0, tree.FromParent{Msg: wire.Message{Kind: wire.Command, ID: id, Ranks: rank.Of(0)}}) {
			if down, ok := out.(tree.ToChild); ok {
				return down.Msg.Settled
			}
		}
		t.Fatalf("%d was not sent", id)
		return 0
	}
	answer := func(id protocol.RequestID) {
		n.Step(0, tree.FromChild{Child: 1, Msg: wire.Message{Kind: wire.Reply, ID: id, Flags: wire.Final,
			Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(0), Body: []byte("{}")}}}})
	}
	const inner = protocol.FirstInternal
	var got []protocol.RequestID
	for _, id := range []protocol.RequestID{2, 3, inner + 1} {
		got = append(got, settled(id))
	}
	answer(3)
	got = append(got, settled(4))
	answer(2)
	got = append(got, settled(5), settled(inner+2))
	for i, want := range []protocol.RequestID{2, 2, inner + 1, 2, 4, inner + 1} {
		if got[i] != want {
			t.Fatalf("settled: %v; number %d is to be %d", got, i, want)
		}
	}
}
