package overlay

import (
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/sendqueue"
)

// The contents of columns and stacks count for the limits of queues, as bodies do.
func TestWholeGroupsCount(t *testing.T) {
	const long = maxUp + 1
	of := rank.Of(1)
	text := strings.Repeat("x", long)
	for name, g := range map[string]protocol.Group{
		"body":   {Body: []byte(text)},
		"column": {Columns: []column.Column{column.New("value", 1, text, 0)}},
		"stack":  {Stack: stack.OfPaths([]stack.RankedPath{{Path: stack.NewPath(&stack.Frame{Func: text}), Ranks: of}})},
	} {
		t.Run(name, func(t *testing.T) {
			g.Kind, g.Ranks = protocol.KindStopped, of
			n := neighbourThatSends(t, wire.Message{Kind: wire.Events, Groups: []protocol.Group{g}})
			brought, err := receiveBatch(n, nil)
			check(t, err)
			if got := brought[0].size; got < long {
				t.Errorf("a packet of over %d bytes counts %d in the inbox", long, got)
			}
			r := run(t, LoopConfig{Lost: func(string) {}}, vertex(false)) // no parent: all packets wait
			r.Post(tree.LocalEvents{Groups: []protocol.Group{g}})
			r.inside(func() {
				if r.upper.takes(sendqueue.Event) {
					t.Errorf("children may send more while %d bytes wait for a parent, which count %d", long, r.keptSize)
				}
			})
		})
	}
}

// neighbourThatSends returns a neighbour that has sent one packet.
func neighbourThatSends(t *testing.T, m wire.Message) *neighbour {
	x, y := pipe()
	t.Cleanup(func() { x.Close(); y.Close() })
	check(t, x.Send(m))
	return &neighbour{link: y}
}
