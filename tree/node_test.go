package tree_test

import (
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"

	"sdm/tree"
	"sdm/tree/treetest"
)

// TestVertex runs the scripts of testdata/vertex: one vertex, line by line. go test
// -rewrite regenerates them.
func TestVertex(t *testing.T) {
	datadriven.Walk(t, "testdata/vertex", func(t *testing.T, path string) {
		var v *treetest.Vertex
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "vertex":
				id, err := strconv.Atoi(d.CmdArgs[0].Key)
				if err != nil {
					d.Fatalf(t, "vertex wants a number: %v", err)
				}
				v = treetest.NewVertex(tree.NodeID(id))
				return v.Exec(d.Input)
			case "step":
				return v.Exec(d.Input)
			}
			d.Fatalf(t, "command %q is not known", d.Cmd)
			return ""
		})
	})
}
