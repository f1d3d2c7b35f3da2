package tree_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/treetest"
)

// A vertex that receives arbitrary packets does not panic, requests at most one
// Wake in a Step, and ends no request twice.
func TestAnythingMayCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := tree.NodeID(rapid.IntRange(0, 5).Draw(t, "vertex"))
		table := treetest.Table(rapid.SampledFrom([]string{"binomial", "1", "flat"}).Draw(t, "shape"), 5, 2, rapid.Bool().Draw(t, "dealt"))
		n := tree.New(id)
		now, ended := time.Duration(0), make(map[protocol.RequestID]bool)
		open := make(map[protocol.RequestID]bool)
		for range rapid.IntRange(1, 80).Draw(t, "inputs") {
			now += time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond
			in := drawInput(t, id, table)
			if p, ok := in.(tree.FromParent); ok && p.Msg.Kind == wire.Command && !open[p.Msg.ID] {
				delete(ended, p.Msg.ID) // a number may be reused when its request is done
				open[p.Msg.ID] = true
			}
			wakes := 0
			for _, out := range n.Step(now, in) {
				switch out := out.(type) {
				case tree.Wake:
					wakes++
				case tree.ToParent:
					if out.Msg.Kind != wire.Reply || out.Msg.ID == 1 {
						continue
					}
					if ended[out.Msg.ID] || !open[out.Msg.ID] {
						t.Fatalf("%v comes after the end", out)
					}
					if out.Msg.Flags&wire.Final != 0 {
						ended[out.Msg.ID] = true
						delete(open, out.Msg.ID)
					}
				}
			}
			if wakes > 1 {
				t.Fatalf("%d wakes in one Step", wakes)
			}
		}
	})
}

func drawInput(t *rapid.T, id tree.NodeID, table protocol.RouteTable) tree.Input {
	child := tree.NodeID(rapid.IntRange(0, 6).Draw(t, "child"))
	group := func() protocol.Group {
		return protocol.Group{Kind: protocol.Kind(rapid.IntRange(0, 40).Draw(t, "kind")), Ranks: drawSet(t), Body: []byte("x")}
	}
	msg := wire.Message{
		Kind:   wire.Kind(rapid.IntRange(0, 10).Draw(t, "packet")),
		ID:     protocol.RequestID(rapid.IntRange(2, 6).Draw(t, "id")),
		Flags:  wire.Flags(rapid.IntRange(0, 7).Draw(t, "flags")),
		Ranks:  drawSet(t),
		Wait:   time.Duration(rapid.IntRange(0, 50).Draw(t, "wait")) * time.Millisecond,
		Groups: []protocol.Group{group(), group()},
	}
	switch rapid.IntRange(0, 12).Draw(t, "input") {
	case 0, 1:
		part, err := treetest.Subtable(table, id)
		if err != nil {
			t.Fatal(err)
		}
		msg.Kind, msg.ID, msg.Ranks, msg.Body = wire.Init, 1, rank.Set{}, canonical.JSON(part)
		return tree.FromParent{Msg: msg}
	case 2, 3:
		if msg.Kind == wire.Init {
			msg.ID = 1
		}
		return tree.FromParent{Msg: msg}
	case 4, 5:
		return tree.FromChild{Child: child, Msg: msg}
	case 6, 7:
		return tree.Connected{Child: child}
	case 8:
		return tree.ConnectFailed{Child: child, Cause: "refused"}
	case 9:
		return tree.ChildLost{Child: child, Cause: "EOF"}
	case 10:
		return tree.LocalReply{ID: msg.ID, Groups: []protocol.Group{group()}}
	case 11:
		return tree.LocalEvents{Groups: msg.Groups}
	}
	return tree.LocalReady{Group: group()}
}

func drawSet(t *rapid.T) rank.Set {
	first := rapid.IntRange(-1, 12).Draw(t, "first")
	if first < 0 {
		return rank.Set{}
	}
	return rank.Range(rank.ID(first), rank.ID(first+rapid.IntRange(0, 6).Draw(t, "more")))
}
