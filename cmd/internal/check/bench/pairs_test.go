package main

import (
	"slices"
	"testing"
	"time"
)

// TestCompareIsFair checks that the order changes from block to block, and that one bad block has
// no effect.
func TestCompareIsFair(t *testing.T) {
	var order []int
	times := [][]time.Duration{{30, 30, 900}, {20, 20, 20}}
	done := make([]int, 2)
	ways := make([]way, 2)
	for w := range ways {
		ways[w] = func(rounds int) time.Duration {
			if rounds != 7 {
				t.Errorf("%d rounds", rounds)
			}
			order = append(order, w)
			done[w]++
			return times[w][done[w]-1]
		}
	}
	c := compare(3, 7, ways...)
	if want := []int{0, 1, 1, 0, 0, 1}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if c.times[0] != 30 || c.times[1] != 20 || c.ratio[1] != 1.5 || c.ratio[0] != 1 {
		t.Errorf("got %+v", c)
	}
}

func TestTimedIsTheMedian(t *testing.T) {
	n := 0
	took := timed(func() {
		if n++; n == 2 {
			<-time.After(50 * time.Millisecond)
		}
	})(5)
	if n != 5 || took > 25*time.Millisecond {
		t.Errorf("%d rounds, %v", n, took)
	}
}
