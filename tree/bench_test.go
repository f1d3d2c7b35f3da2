package tree_test

import (
	"fmt"
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

// forest is a tree of Nodes and a queue: the cheapest network possible.
type forest struct {
	nodes   []*tree.Node
	parents []tree.NodeID
	queue   []fed
	answer  func(server int, d tree.Deliver) protocol.Group
	final   int // final replies at the root
}

type fed struct {
	to tree.NodeID
	in tree.Input
}

func plant(b *testing.B, table protocol.RouteTable) *forest {
	f := &forest{parents: make([]tree.NodeID, table.Size+1)}
	for i := range table.Size + 1 {
		f.nodes = append(f.nodes, tree.New(tree.NodeID(i)))
	}
	f.feed(0, tree.FromParent{Msg: wire.Message{Kind: wire.Init, ID: 1, Body: canonical.JSON(table)}})
	if f.run(0); f.final != 1 {
		b.Fatal("the tree is not built")
	}
	return f
}

func (f *forest) feed(to tree.NodeID, in tree.Input) { f.queue = append(f.queue, fed{to, in}) }

func (f *forest) run(now time.Duration) {
	for i := 0; i < len(f.queue); i++ {
		at := f.queue[i].to
		for _, out := range f.nodes[at].Step(now, f.queue[i].in) {
			switch out := out.(type) {
			case tree.ToChild:
				f.feed(out.Child, tree.FromParent{Msg: out.Msg})
			case tree.Connect:
				f.parents[out.Child] = at
				f.feed(at, tree.Connected{Child: out.Child})
			case tree.DeliverInit:
				f.feed(at, tree.LocalReady{})
			case tree.Deliver:
				f.feed(at, tree.LocalReply{ID: out.ID, Groups: []protocol.Group{f.answer(int(at), out)}})
			case tree.ToParent:
				if at > 0 {
					f.feed(f.parents[at], tree.FromChild{Child: at, Msg: out.Msg})
				} else if out.Msg.Flags&wire.Final != 0 {
					f.final++
				}
			}
		}
	}
	f.queue = f.queue[:0]
}

// BenchmarkCommand measures one command over a tree and its answer, with all
// vertices in one goroutine and without links.
func BenchmarkCommand(b *testing.B) {
	same := []byte(`{"expr":"n"}`)
	answers := map[string]func(server int, d tree.Deliver) protocol.Group{
		"same": func(server int, d tree.Deliver) protocol.Group {
			return protocol.Group{Kind: protocol.KindResult, Ranks: d.Ranks, Body: same}
		},
		"distinct": func(server int, d tree.Deliver) protocol.Group {
			return protocol.Group{Kind: protocol.KindResult, Ranks: d.Ranks, Body: fmt.Appendf(nil, `{"expr":"n%d"}`, server)}
		},
		"column": func(server int, d tree.Deliver) protocol.Group {
			first, _ := d.Ranks.Min()
			return protocol.Group{Kind: protocol.KindResult, Ranks: d.Ranks, Body: same,
				Columns: []column.Column{column.New("value", first, fmt.Sprint(server%4), 0)}}
		},
	}
	for _, test := range []struct {
		servers       int
		shape, answer string
		dealt         bool
	}{
		{64, "binomial", "same", false},
		{64, "binomial", "same", true},
		{64, "binomial", "distinct", false},
		{64, "binomial", "column", false},
		{64, "flat", "same", false},
		{1000, "binomial", "same", false},
	} {
		b.Run(fmt.Sprintf("servers=%d/%s/%s/dealt=%v", test.servers, test.shape, test.answer, test.dealt), func(b *testing.B) {
			table := treetest.Table(test.shape, test.servers, 8, test.dealt)
			f := plant(b, table)
			f.answer = answers[test.answer]
			all := rank.Range(0, rank.ID(test.servers*8-1))
			before := f.final
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				now := time.Duration(i+1) * time.Second
				f.feed(0, tree.FromParent{Msg: wire.Message{Kind: wire.Command, ID: protocol.RequestID(i + 2), Ranks: all, Wait: 10 * time.Second, Body: same}})
				f.run(now)
			}
			if f.final-before != b.N {
				b.Fatalf("%d answers to %d commands", f.final-before, b.N)
			}
			vertices := float64(test.servers + 1)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vertices, "ns/vertex")
		})
	}
}

// BenchmarkEvents measures a vertex that forwards events of its children.
func BenchmarkEvents(b *testing.B) {
	n := placed(b, 0, treetest.Table("flat", 64, 1, false))
	line := []byte("iteration 17: residual 1.25e-7\n")
	b.ReportAllocs()
	now := time.Duration(0)
	for i := 0; b.Loop(); i++ {
		now += time.Millisecond / 10
		r := i % 64
		n.Step(now, tree.FromChild{Child: tree.NodeID(r + 1), Msg: wire.Message{Kind: wire.Events,
			Groups: []protocol.Group{{Kind: protocol.KindStdout, Ranks: rank.Of(rank.ID(r)), Body: line}}}})
	}
}
