// A table of items by small keys.

package verdict

import "iter"

// index is a table of items by keys from 0 on: items with the same key are neighbours, in the order in which
// they came.
type index struct{ items, start []int32 }

// indexOf makes an index of keys below n. pairs are the key and the item of each entry; they are gone through twice.
func indexOf(n int, pairs iter.Seq2[int, int]) *index {
	x := &index{start: make([]int32, n+2)}
	for key := range pairs {
		x.start[key+2]++
	}
	for key := range n {
		x.start[key+2] += x.start[key+1]
	}
	x.items = make([]int32, x.start[n+1])
	for key, item := range pairs { // the first of a key is at key+1, and moves to the first of the next one
		x.items[x.start[key+1]] = int32(item)
		x.start[key+1]++
	}
	return x
}

// of returns the items of a key.
func (x *index) of(key int) []int32 { return x.items[x.start[key]:x.start[key+1]] }
