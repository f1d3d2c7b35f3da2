package gdb_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/digest"
)

// TestHash checks that the hashes of an array are the hashes of the bytes that the program has
// written.
func TestHash(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "field.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "field.c", "the data stands"), Breakpoint: 1})
	r.ok("continue", protocol.Args{})
	r.stop()
	g := r.ok("hash", protocol.Args{Expr: "field", Limit: -1})
	var body struct {
		Size  int
		Spans []protocol.Span
		Shape protocol.Shape
	}
	if err := json.Unmarshal(g.Body, &body); err != nil {
		t.Fatal(err)
	}
	if body.Size != 8 || body.Shape.Elements() != 100_000 || len(body.Spans) != 1 || body.Spans[0].Len() != 100_000 {
		t.Fatalf("body %s", g.Body)
	}
	for k, b := range body.Spans[0].Blocks() {
		var bytes []byte
		for i := b.First; i <= b.Last; i++ {
			bytes = binary.NativeEndian.AppendUint64(bytes, math.Float64bits(float64(i)*0.5))
		}
		if got, want := column(g, fmt.Sprintf("0.%d", k)), digest.Text(digest.Of(bytes)); got != want {
			t.Errorf("block %d: %s, want %s", k, got, want)
		}
	}
	g = r.ok("hash", protocol.Args{Expr: "field", Spans: []protocol.Span{{First: 7, Last: 7}, {First: 8, Last: 9}}})
	eight := digest.Of(binary.NativeEndian.AppendUint64(nil, math.Float64bits(4)))
	if column(g, "value.0") != "3.5" || column(g, "1.0") != digest.Text(eight) {
		t.Errorf("single elements: %v", g)
	}
	r.fault("hash", protocol.Args{Expr: "field", Spans: []protocol.Span{{First: 0, Last: 100_000}}}, protocol.FaultGDB, "no elements 0 to 100000")
	pairs := slices.Repeat([]protocol.Span{{First: 0, Last: 1}}, protocol.MaxSpans+1)
	r.fault("hash", protocol.Args{Expr: "field", Spans: pairs}, protocol.FaultUsage, "at most")
	r.fault("hash", protocol.Args{Expr: "field", Spans: make([]protocol.Span, protocol.MaxValues+1)}, protocol.FaultUsage, "at most")
	r.fault("hash", protocol.Args{Expr: "*(char(*)[8])1"}, protocol.FaultGDB, "Unable to read memory")
	r.fault("hash", protocol.Args{Expr: "list"}, protocol.FaultGDB, "is not an array")
	r.fault("hash", protocol.Args{Expr: "nix"}, protocol.FaultGDB, `No symbol "nix"`)
}
