package tree_test

import (
	"testing"

	"sdm/protocol/canonical"
	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/treetest"
)

// For any bytes as routing table, the vertex either refuses the Init with a
// message, or delivers its own route and connects to children that have one.
func FuzzInit(f *testing.F) {
	for _, shape := range []string{"binomial", "flat", "2"} {
		part, err := treetest.Subtable(treetest.Table(shape, 5, 2, true), 2)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(canonical.JSON(part))
	}
	f.Add([]byte(`{"shape":"1","size":16777216,"routes":[{"server":1,"ranks":"0-16777215"}]}`))
	f.Add([]byte(`{"routes":[{"server":-9223372036854775808},{"server":9223372036854775807}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n := tree.New(2)
		delivered, refused, connects := 0, 0, 0
		for _, out := range n.Step(0, tree.FromParent{Msg: wire.Message{Kind: wire.Init, ID: 1, Body: body}}) {
			switch out := out.(type) {
			case tree.DeliverInit:
				delivered++
				if out.Route.Server != 1 {
					t.Errorf("server 1 got the route of %d", out.Route.Server)
				}
			case tree.Connect:
				connects++
				if int(out.Child) != int(out.Route.Server)+1 {
					t.Errorf("child %d got the route of server %d", out.Child, out.Route.Server)
				}
			case tree.ToParent:
				refused++
			}
		}
		if delivered+refused != 1 || refused > 0 && connects > 0 {
			t.Errorf("%d delivered, %d refused, %d connects", delivered, refused, connects)
		}
	})
}
