// What most ranks gave, without keeping it.

package column

import (
	"encoding/binary"
	"slices"
	"strings"

	"sdm/protocol/shape"
)

// votes counts, for each of 32 bits of the hash of a value, the ranks with a
// value whose hash has that bit. When more than half of all ranks gave one value,
// its bits are those that more than half have, whatever the others gave: that
// is how the majority is known after the values were dropped. Counts add up, so
// merging is exact.
type votes [32]int

// ballot is the part of a hash that is counted.
func ballot(value string) uint32 { return uint32(hash(Placeless(value))) }

// Placeless is a value without the addresses of what gdb has found there: where ranks have address spaces
// of their own, 0x5581a0 <buf+16> and 0x7f31a0 <buf+16> are one value. Addresses that nothing is known of
// stay.
func Placeless(value string) string {
	if !strings.Contains(value, "0x") {
		return value
	}
	template, leaves, ok := shaped(value)
	if !ok {
		return value
	}
	leaves = slices.Clone(leaves)
	for i := range leaves {
		leaves[i] = shape.Known(leaves[i])
	}
	return shape.Text(template, leaves)
}

// Alike tells whether all values are one, but for the addresses of what is known.
func (c Column) Alike() bool {
	if c.Complete() {
		return !slices.ContainsFunc(c.values, func(v ValueCount) bool { return Placeless(v.Value) != Placeless(c.values[0].Value) })
	}
	all := c.Folds()
	return len(all) == 1 && !slices.ContainsFunc(all[0].fields, func(f Field) bool {
		values := f.Values()
		return f.varied != nil && (len(values) != 1 || values[0].Value == shape.Address)
	})
}

func (v *votes) cast(value string, n int) {
	b := ballot(value)
	for i := range v {
		if b>>i&1 == 1 {
			v[i] += n
		}
	}
}

func (v votes) merge(w votes) votes {
	for i := range v {
		v[i] += w[i]
	}
	return v
}

func (v *votes) appendWire(b []byte) []byte {
	for _, n := range v {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func (r *reader) votes(most int) votes {
	var v votes
	for i := range v {
		v[i] = r.Number("count of votes", most)
	}
	return v
}

// Majority gives the hash, as Hash gives it, of the value that more than half of
// the ranks gave, if there is one. Without one it may give any hash or say that
// there is none: only counting the ranks with that hash tells. It is never 0.
func (c Column) Majority() (hash uint32, ok bool) {
	s := c.summarized()
	for i, n := range s.votes {
		switch {
		case 2*n > s.count:
			hash |= 1 << i
		case 2*n == s.count:
			return 0, false
		}
	}
	return max(hash, 1), s.count > 0
}

// Hash is what Majority compares values by: a hash of Placeless. Different values may have one hash;
// it is never 0.
func Hash(value string) uint32 { return max(ballot(value), 1) }
