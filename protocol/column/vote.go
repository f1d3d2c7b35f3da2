// The majority value, without storing the values.

package column

import (
	"encoding/binary"
	"slices"
	"strings"

	"sdm/protocol/shape"
)

// votes counts, for each of 32 bits of the hash of a value, the ranks with a value
// whose hash has that bit set. If more than half of all ranks have the same value,
// each bit of its hash is the one that more than half have, whatever the others
// have. So the majority is known after the values were dropped. Counts add up, so
// merging is exact.
type votes [32]int

// ballot returns the part of a hash that is counted.
func ballot(value string) uint32 { return uint32(hash(Placeless(value))) }

// Placeless returns a value without the addresses of known symbols: for ranks with
// separate address spaces, 0x5581a0 <buf+16> and 0x7f31a0 <buf+16> are the same
// value. Addresses without a symbol are kept.
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

// Alike reports whether all values are equal, except for addresses of known
// symbols.
func (c Column) Alike() bool {
	if c.Complete() {
		first := Placeless(c.values[0].Value)
		return !slices.ContainsFunc(c.values, func(v ValueCount) bool { return Placeless(v.Value) != first })
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

// Majority returns the hash, as computed by Hash, of the value that more than half
// of the ranks have. If there is no such value, it may return any hash, or false:
// the caller must count the ranks with that hash. The hash is never 0.
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

// Hash returns the hash of a value without addresses (Placeless) by which Majority
// compares. Different values may have the same hash; it is never 0.
func Hash(value string) uint32 { return max(ballot(value), 1) }
