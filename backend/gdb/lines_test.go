package gdb_test

import (
	"fmt"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
)

// TestLines checks which lines of a source have code: not those of comments, and none of a source that is not there.
func TestLines(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "field.c"), 1)
	line := lineOf(t, "field.c", "the data stands")
	g := r.ok("lines", protocol.Args{Location: "field.c", First: line, Last: line})
	if string(g.Body) != fmt.Sprintf(`{"lines":[%d]}`, line) {
		t.Errorf("line %d: %s", line, g.Body)
	}
	if g := r.ok("lines", protocol.Args{Location: "field.c", First: 1, Last: 3}); string(g.Body) != `{"lines":[]}` {
		t.Errorf("the comment: %s", g.Body)
	}
	r.fault("lines", protocol.Args{Location: "nix.c"}, protocol.FaultGDB, "Unknown source file name")
	r.fault("lines", protocol.Args{Location: "-x"}, protocol.FaultUsage, "no name of a source")
}
