// Measurements on a machine that also does other work: the ways that are compared run alternately,
// and only neighbouring runs are compared.

package main

import (
	"slices"
	"time"
)

// way is one of the ways that are compared: it executes some rounds and returns the median time of
// one.
type way func(rounds int) time.Duration

// timed makes a way of a function that executes one round.
func timed(f func()) way {
	return func(rounds int) time.Duration {
		took := make([]time.Duration, rounds)
		for i := range took {
			began := time.Now()
			f()
			took[i] = time.Since(began)
		}
		return median(took)
	}
}

// comparison is the result, for each way.
type comparison struct {
	times []time.Duration // medians over the blocks
	ratio []float64       // of way 0 to each way; medians over the blocks
}

// compare runs the ways alternately, in blocks of rounds each. The order is reversed from block to
// block.
func compare(blocks, rounds int, ways ...way) comparison {
	times, ratios := make([][]time.Duration, len(ways)), make([][]float64, len(ways))
	block := make([]time.Duration, len(ways))
	for b := range blocks {
		for i := range ways {
			w := i
			if b%2 == 1 {
				w = len(ways) - 1 - i
			}
			block[w] = ways[w](rounds)
		}
		for w, took := range block {
			times[w] = append(times[w], took)
			ratios[w] = append(ratios[w], float64(block[0])/float64(took))
		}
	}
	var c comparison
	for w := range ways {
		c.times = append(c.times, median(times[w]))
		c.ratio = append(c.ratio, median(ratios[w]))
	}
	return c
}

// median returns the median of all, which it sorts.
func median[T time.Duration | float64](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

// ms and us return a duration in milliseconds and in microseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
