// Translation of gdb's breakpoint records.

package breakpoint

import (
	"slices"
	"testing"

	"sdm/backend/mi/mitest"
)

// TestPlaceOfSymbol checks that a location without lines is shown by its symbol, as gdb
// does.
func TestPlaceOfSymbol(t *testing.T) {
	var b Table
	r := mitest.Record(`1^done,bkpt={number="2",type="breakpoint",disp="keep",enabled="y",addr="<MULTIPLE>",times="0",original-location="step",locations=[` +
		`{number="2.1",enabled="y",addr="0x1",func="step(int)",file="a.cc",line="15"},{number="2.2",enabled="y",addr="0x2",at="<step+4>"}]}`).Results
	got := b.info(r.Path("bkpt").Fields).Places
	if want := []string{"step(int) at a.cc:15", "<step+4>"}; !slices.Equal(got, want) {
		t.Errorf("places %q, want %q", got, want)
	}
}
