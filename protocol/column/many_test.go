package column

import (
	"bytes"
	"testing"

	"sdm/protocol/rank"
)

func TestOfAgreesWithMerging(t *testing.T) {
	for _, ranks := range []rank.Set{rank.Of(), rank.Of(7), rank.Of(0, 1, 2, 9, 500)} {
		want := Column{Name: "n"}
		for r := range ranks.All() {
			want = want.Merge(New("n", r, "4", 2))
		}
		if got := Of("n", ranks, "4", 2); !bytes.Equal(got.AppendWire(nil), want.AppendWire(nil)) {
			t.Errorf("column of %v is %v, want %v", ranks, got, want)
		}
	}
}
