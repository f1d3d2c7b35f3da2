// What most ranks gave, without keeping it.

package column

import "encoding/binary"

// votes counts, for each of 32 bits of the hash of a value, the ranks with a
// value whose hash has that bit. When more than half of all ranks gave one value,
// its bits are those that more than half have, whatever the others gave: that
// is how the majority is known after the values were dropped. Counts add up, so
// merging is exact.
type votes [32]int

// ballot is the part of a hash that is counted.
func ballot(value string) uint32 { return uint32(hash(value)) }

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

// Hash is what Majority compares values by. Different values may have one hash;
// it is never 0.
func Hash(value string) uint32 { return max(ballot(value), 1) }
