package verdict

import (
	"slices"
	"testing"
)

// TestIndex groups items by keys; some keys have no items.
func TestIndex(t *testing.T) {
	keys := []int{3, 0, 3, 1, 3}
	x := indexOf(5, func(yield func(key, item int) bool) {
		for i, key := range keys {
			if !yield(key, i) {
				return
			}
		}
	})
	for key, want := range [][]int32{{1}, {3}, {}, {0, 2, 4}, {}} {
		if got := x.of(key); !slices.Equal(got, want) {
			t.Errorf("key %d has %v, want %v", key, got, want)
		}
	}
}
