// Lists of numbers that are sorted on demand.

package image

import (
	"math/bits"
	"slices"
	"sort"
)

// index is a sorted list of numbers in buckets. A bucket is sorted when it is used for the first time: a
// stack needs only a few of the symbols of a library of 100 MB.
type index struct {
	keys   []uint64 // by bucket, in ascending order of buckets
	ends   []uint32 // of each bucket in keys
	sorted []bool   // of each bucket
	shift  uint     // key>>shift is the bucket of a key
}

const (
	perBucket  = 16 // keys, on average
	maxBuckets = 18 // binary logarithm of the greatest number of buckets
)

// newIndex returns the list of keys, which it changes and keeps.
func newIndex(keys []uint64) *index {
	greatest := uint64(0)
	for _, k := range keys {
		greatest = max(greatest, k)
	}
	size := min(uint(bits.Len(uint(len(keys)/perBucket))), maxBuckets)
	x := &index{keys: keys, ends: make([]uint32, 1<<size), sorted: make([]bool, 1<<size)}
	if width := uint(bits.Len64(greatest)); width > size {
		x.shift = width - size
	}
	for _, k := range keys {
		x.ends[k>>x.shift]++
	}
	next := make([]uint32, len(x.ends)) // of each bucket, the place of its next key
	total := uint32(0)
	for i, n := range x.ends {
		next[i] = total
		total += n
		x.ends[i] = total
	}
	for i, end := range x.ends {
		for next[i] < end {
			k := keys[next[i]]
			to := k >> x.shift
			keys[next[i]], keys[next[to]] = keys[next[to]], k
			next[to]++
		}
	}
	return x
}

// bucket returns the sorted bucket with a number and where it begins.
func (x *index) bucket(n uint64) (keys []uint64, first int) {
	if n > 0 {
		first = int(x.ends[n-1])
	}
	keys = x.keys[first:x.ends[n]]
	if !x.sorted[n] {
		slices.Sort(keys)
		x.sorted[n] = true
	}
	return keys, first
}

// from returns how many keys are less than k.
func (x *index) from(k uint64) int {
	n := k >> x.shift
	if n >= uint64(len(x.ends)) {
		return len(x.keys)
	}
	keys, first := x.bucket(n)
	return first + sort.Search(len(keys), func(i int) bool { return keys[i] >= k })
}

// at returns key i in ascending order.
func (x *index) at(i int) uint64 {
	keys, first := x.bucket(x.keys[i] >> x.shift)
	return keys[i-first]
}
