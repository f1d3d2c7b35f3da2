package inferior

import (
	"bytes"
	"testing"
)

// TestHolds: what is looked for may lie where two blocks meet, and at the end.
func TestHolds(t *testing.T) {
	const block = 256 << 10
	what := []byte("\x00MPI_Abort\x00")
	for _, at := range []int{0, 1, block - 12, block - 11, block - 5, block - 1, block, 2*block - 6, 3*block - len(what)} {
		b := make([]byte, 3*block)
		copy(b[at:], what)
		if !holds(bytes.NewReader(b), what) {
			t.Errorf("at %d of %d: not found", at, len(b))
		}
		if b[at+5]++; holds(bytes.NewReader(b), what) {
			t.Errorf("at %d: found, and is not there", at)
		}
	}
	if holds(bytes.NewReader(nil), what) {
		t.Error("found in nothing")
	}
}
