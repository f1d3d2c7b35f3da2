// Queries of sets.

package rank

import (
	"iter"
	"slices"
)

// Len returns the number of members.
func (s Set) Len() int {
	switch {
	case s.pace != 0:
		return s.runs() * int(s.pace.length())
	case s.more == nil:
		return int(s.end - s.first)
	case s.more.bits != nil:
		return int(s.more.bits.Count())
	}
	n := 0
	for _, r := range s.more.runs {
		n += int(r.end - r.first)
	}
	return n
}

// Size returns the approximate memory of the set, in bytes.
func (s Set) Size() int {
	const simple, each = 24, 8
	switch {
	case s.more == nil:
		return simple
	case s.more.bits != nil:
		return simple + each*len(s.more.bits.Words())
	}
	return simple + each*len(s.more.runs)
}

// IsEmpty reports whether the set has no members.
func (s Set) IsEmpty() bool { return s.end == 0 }

// Contains reports whether id is a member; any number may be asked for.
func (s Set) Contains(id ID) bool {
	if id < ID(s.first) || id >= ID(s.end) {
		return false
	}
	if bits := s.bits(); bits != nil {
		return bits.Test(uint(uint32(id) - s.base()))
	}
	return s.run(s.find(uint32(id))).first <= uint32(id)
}

// Min returns the lowest member; false when there is none.
func (s Set) Min() (ID, bool) { return ID(s.first), s.end != 0 }

// Max returns the highest member; false when there is none.
func (s Set) Max() (ID, bool) {
	if s.end == 0 {
		return 0, false
	}
	return ID(s.end - 1), true
}

// Intersects reports whether s and t have a member in common, without allocating a
// set.
func (s Set) Intersects(t Set) bool {
	if s.first >= t.end || t.first >= s.end {
		return false
	}
	if s.bits() != nil && t.bits() != nil {
		a, b := overlap(s.bits().Words(), s.base(), t)
		for i := range a {
			if a[i]&b[i] != 0 {
				return true
			}
		}
		return false
	}
	if s.bits() != nil || t.contiguous() {
		s, t = t, s
	}
	for i, n := s.find(t.first), s.runs(); i < n; i++ {
		r := s.run(i)
		if r.first >= t.end {
			return false
		}
		if t.meets(r) {
			return true
		}
	}
	return false
}

// meets reports whether a rank of the run is a member.
func (s Set) meets(r run) bool {
	if r.first >= s.end || r.end <= s.first {
		return false
	}
	if bits := s.bits(); bits != nil {
		from := max(r.first, s.first) - s.base()
		next, ok := bits.NextSet(uint(from))
		return ok && uint32(next) < r.end-s.base()
	}
	return s.run(s.find(r.first)).first < r.end // there is such a run, because r begins below the end
}

// Equal reports whether s and t have the same members.
func (s Set) Equal(t Set) bool {
	switch {
	case s == t:
		return true
	case s.first != t.first || s.end != t.end || s.more == nil || t.more == nil:
		return false
	case s.more.bits != nil:
		return t.more.bits != nil && slices.Equal(s.more.bits.Words(), t.more.bits.Words())
	}
	return slices.Equal(s.more.runs, t.more.runs)
}

// Is reports, in constant time, whether s and t are copies of one set; false means
// "unknown".
func (s Set) Is(t Set) bool { return s == t }

// All yields the members in ascending order.
func (s Set) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for first, last := range s.Ranges() {
			for id := first; id <= last; id++ {
				if !yield(id) {
					return
				}
			}
		}
	}
}

// Ranges yields the contiguous sequences of members as first and last, both
// included, ascending and of maximum length.
func (s Set) Ranges() iter.Seq2[ID, ID] {
	return func(yield func(first, last ID) bool) {
		if bits := s.bits(); bits != nil {
			eachRun(s.base(), bits, 0, func(r run) bool { return yield(ID(r.first), ID(r.end-1)) })
			return
		}
		for i := range s.runs() {
			r := s.run(i)
			if !yield(ID(r.first), ID(r.end-1)) {
				return
			}
		}
	}
}

// First returns the n lowest members, or all if there are at most n.
func (s Set) First(n int) Set {
	if n <= 0 || s.end == 0 {
		return Set{}
	}
	if n = min(n, int(s.end-s.first)); s.contiguous() {
		return Set{first: s.first, end: s.first + uint32(n)}
	}
	var list []run
	for first, last := range s.Ranges() {
		last = min(last, first+ID(n)-1)
		list = append(list, run{uint32(first), uint32(last) + 1})
		if n -= int(last-first) + 1; n == 0 {
			break
		}
	}
	return fromRuns(list)
}
