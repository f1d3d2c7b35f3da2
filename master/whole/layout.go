// Where the pieces are in the whole.

package whole

import (
	"cmp"
	"fmt"
	"slices"

	"sdm/protocol/rank"
)

// Piece is what a rank has of the array.
type Piece struct {
	Rank     rank.ID
	Elements int
	Values   []int64 // of the names of the offset
}

// Range is consecutive places of the whole; both ends are included.
type Range struct{ First, Last int64 }

// String returns "5" or "5-9".
func (r Range) String() string {
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// Len returns the number of places.
func (r Range) Len() int64 { return r.Last - r.First + 1 }

// Overlap is places for which several ranks have elements.
type Overlap struct {
	Range
	Ranks rank.Set
}

// Negative is elements of a rank before the first place.
type Negative struct {
	Rank  rank.ID
	Range       // the places
	Local int64 // the number of the first of them in its piece
}

// Layout is where the pieces are.
type Layout struct {
	Elements int64 // of the whole: up to the last place that a rank has
	Covered  int64 // places that some rank has
	Gaps     []Range
	Overlaps []Overlap
	Negative []Negative
	// Numbers of what is in none of the lists, which have at most maxTold each.
	MoreGaps, MoreOverlaps, MoreNegative int
}

const (
	maxTold     = 8       // gaps, overlaps and so on that are listed
	maxRuns     = 1 << 20 // runs of places
	maxElements = 1 << 26 // elements whose places are computed one by one
)

// run is elements of a piece that follow one another also in the whole.
type run struct {
	rank  rank.ID
	local int64
	Range
}

// Lay returns where the pieces are. The error tells what cannot be computed.
func Lay(o *Offset, pieces []Piece) (Layout, error) {
	var l Layout
	var runs []run
	examined := 0
	for _, p := range pieces {
		if o.element {
			examined += p.Elements
		}
		if examined > maxElements {
			return l, fmt.Errorf("the pieces have more than %d elements, too many for an offset of each (an offset without $i has no limit)", maxElements)
		}
		var err error
		if runs, err = appendRuns(runs, o, p); err != nil {
			return l, err
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.rank, b.rank)) })
	var end int64 // of the places so far
	var owner rank.Set
	for _, r := range runs {
		if r.First < 0 {
			l.negative(r)
			if r.Last < 0 {
				continue
			}
			r.local, r.First = r.local-r.First, 0
		}
		who := rank.Of(r.rank)
		switch {
		case r.First > end:
			l.gap(Range{end, r.First - 1})
		case r.First < end:
			l.overlap(Overlap{Range{r.First, min(end-1, r.Last)}, owner.Union(who)})
		}
		if r.Last >= end {
			l.Covered += r.Last - max(end, r.First) + 1
			end, owner = r.Last+1, who
		}
	}
	l.Elements = end
	return l, nil
}

// appendRuns appends the runs of a piece.
func appendRuns(runs []run, o *Offset, p Piece) ([]run, error) {
	if p.Elements == 0 {
		return runs, nil
	}
	bad := func(i int64) error {
		return fmt.Errorf("on %d the offset %s of element %d is not a number: it divides by zero, or is too large", p.Rank, o, i)
	}
	first, ok := o.At(p.Values, 0)
	if !ok {
		return nil, bad(0)
	}
	now := run{rank: p.Rank, Range: Range{first, first}}
	if !o.element {
		now.Last += int64(p.Elements) - 1
		return append(runs, now), nil
	}
	for i := int64(1); i < int64(p.Elements); i++ {
		at, ok := o.At(p.Values, i)
		if !ok {
			return nil, bad(i)
		}
		if at == now.Last+1 {
			now.Last = at
			continue
		}
		if runs = append(runs, now); len(runs) > maxRuns {
			return nil, fmt.Errorf("the pieces are in more than %d places apart", maxRuns)
		}
		now = run{rank: p.Rank, local: i, Range: Range{at, at}}
	}
	return append(runs, now), nil
}

func (l *Layout) negative(r run) {
	if len(l.Negative) == maxTold {
		l.MoreNegative++
		return
	}
	l.Negative = append(l.Negative, Negative{r.rank, Range{r.First, min(r.Last, -1)}, r.local})
}

func (l *Layout) gap(r Range) {
	if n := len(l.Gaps); n == maxTold {
		l.MoreGaps++
		return
	}
	l.Gaps = append(l.Gaps, r)
}

// overlap adds places, to those of the same ranks if these are neighbours.
func (l *Layout) overlap(o Overlap) {
	n := len(l.Overlaps)
	switch {
	case n > 0 && l.Overlaps[n-1].Last+1 >= o.First && l.Overlaps[n-1].Ranks.Equal(o.Ranks):
		l.Overlaps[n-1].Last = max(l.Overlaps[n-1].Last, o.Last)
	case n == maxTold:
		l.MoreOverlaps++
	default:
		l.Overlaps = append(l.Overlaps, o)
	}
}
