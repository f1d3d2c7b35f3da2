package gdbtext

import (
	"testing"

	"sdm/backend/mi/mitest"
)

// TestWithOmitted: GDB/MI shows the members of a structure that nothing is left of, and leaves out variables without a place.
func TestWithOmitted(t *testing.T) {
	const text = "total = 0\nnote = <optimized out>\nhere = <optimized out>\nhalf = {...}\n"
	list := mitest.Record(`^done,locals=[{name="total",value="0"},{name="here",value="{id = <optimized out>, u = {<optimized out> <repeats 10 times>}}"},` +
		`{name="half",value="{id = 5, u = <optimized out>}"}]`).Results.Path("locals").Fields
	want := [][2]string{{"total", "0"}, {"note", "<optimized out>"}, {"here", "<optimized out>"}, {"half", "{id = 5, u = <optimized out>}"}}
	got := WithOmitted(list, text)
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, f := range got {
		if name, value := f.Value.Fields.Str("name"), f.Value.Fields.Str("value"); name != want[i][0] || value != want[i][1] {
			t.Errorf("got %s = %s, want %v", name, value, want[i])
		}
	}
}
