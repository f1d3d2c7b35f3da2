package treetest_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/tree/treetest"
)

// TestNet runs the scripts of testdata/net: a whole network, as the master sees it.
// go test -rewrite regenerates them.
func TestNet(t *testing.T) {
	datadriven.Walk(t, "testdata/net", func(t *testing.T, path string) {
		var s *treetest.Script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "net":
				var size, per int
				shape := d.CmdArgs[0].Key
				d.ScanArgs(t, "servers", &size)
				d.ScanArgs(t, "per", &per)
				s = treetest.NewScript(treetest.Table(shape, size, per, d.HasArg("dealt")))
				return ""
			case "until":
				until, err := time.ParseDuration(d.CmdArgs[0].Key)
				if err != nil {
					d.Fatalf(t, "until wants a time: %v", err)
				}
				return s.Exec(until, d.Input)
			}
			d.Fatalf(t, "command %q is not known", d.Cmd)
			return ""
		})
	})
}
