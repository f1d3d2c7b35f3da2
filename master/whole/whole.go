// What an array is as a whole.

package whole

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Part is a piece with what is known of its elements.
type Part struct {
	Piece
	Stat    protocol.ArrayStat
	Stride  int       // of the sample
	Numbers []float64 // the sample: elements 0, Stride, 2*Stride, ...
	// Index returns the name of an element in its piece: "[3]".
	Index func(int) string
}

// Array is a whole array.
type Array struct {
	Layout
	offset *Offset
	parts  []Part
}

// Join puts parts together.
func Join(o *Offset, parts []Part) (*Array, error) {
	pieces := make([]Piece, len(parts))
	for i, p := range parts {
		pieces[i] = p.Piece
	}
	l, err := Lay(o, pieces)
	if err != nil {
		return nil, err
	}
	return &Array{l, o, parts}, nil
}

// String describes the array in lines; the first one follows its name.
func (a *Array) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, " as one array: %s in the pieces of %s, places 0-%d", plural(a.elements(), "element"),
		plural(len(a.parts), "rank"), max(a.Elements-1, 0))
	if a.Covered == a.Elements && len(a.Overlaps)+len(a.Negative) == 0 {
		b.WriteString(", each once")
	}
	b.WriteString("\n" + a.numbers())
	for _, g := range a.Gaps {
		fmt.Fprintf(&b, "\n  gap: no rank has %s", places(g))
	}
	b.WriteString(more(a.MoreGaps, "gap"))
	for _, o := range a.Overlaps {
		if o.Ranks.Len() == 1 {
			fmt.Fprintf(&b, "\n  overlap: rank %s has %s several times", o.Ranks, places(o.Range))
		} else {
			fmt.Fprintf(&b, "\n  overlap: ranks %s have %s", o.Ranks, places(o.Range))
		}
	}
	b.WriteString(more(a.MoreOverlaps, "overlap"))
	for _, n := range a.Negative {
		fmt.Fprintf(&b, "\n  negative: rank %d has places %d to %d, from its %s on", n.Rank, n.First, n.Last, a.index(n.Rank, int(n.Local)))
	}
	b.WriteString(more(a.MoreNegative, "run of negative places"))
	return b.String()
}

// numbers describes the elements.
func (a *Array) numbers() string {
	var least, most, nan *Part
	var s protocol.ArrayStat
	var nanPlace int64
	for i := range a.parts {
		p := &a.parts[i]
		s.Elements, s.NaN, s.Inf, s.Sum = s.Elements+p.Stat.Elements, s.NaN+p.Stat.NaN, s.Inf+p.Stat.Inf, s.Sum+p.Stat.Sum
		if p.Stat.Min != "" && (least == nil || float(p.Stat.Min) < float(least.Stat.Min)) {
			least = p
		}
		if p.Stat.Max != "" && (most == nil || float(p.Stat.Max) > float(most.Stat.Max)) {
			most = p
		}
		if at, _ := a.offset.At(p.Values, int64(p.Stat.NaNAt)); p.Stat.NaN > 0 && (nan == nil || at < nanPlace) {
			nan, nanPlace = p, at
		}
	}
	line := "  no finite number"
	if finite := s.Elements - s.NaN - s.Inf; least != nil && most != nil && finite > 0 {
		line = fmt.Sprintf("  min %s at %s, max %s at %s, mean %s", least.Stat.Min, a.where(least, least.Stat.MinAt),
			most.Stat.Max, a.where(most, most.Stat.MaxAt), strconv.FormatFloat(s.Sum/float64(finite), 'g', 6, 64))
	}
	if nan != nil {
		line += fmt.Sprintf("\n  %d NaN, the first at %s", s.NaN, a.where(nan, nan.Stat.NaNAt))
	}
	if s.Inf > 0 {
		line += fmt.Sprintf("\n  %d infinite", s.Inf)
	}
	return line
}

// where returns "1200 ([200] of rank 1)".
func (a *Array) where(p *Part, i int) string {
	at, _ := a.offset.At(p.Values, int64(i))
	return fmt.Sprintf("%d (%s of rank %d)", at, p.Index(i), p.Rank)
}

func (a *Array) index(r rank.ID, i int) string {
	for _, p := range a.parts {
		if p.Rank == r {
			return p.Index(i)
		}
	}
	return "[" + strconv.Itoa(i) + "]"
}

func (a *Array) elements() (n int) {
	for _, p := range a.parts {
		n += p.Elements
	}
	return n
}

// float reads a number of gdb; integers beyond 2^53 are near enough.
func float(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64) // our own server has written it
	return f
}

func places(r Range) string {
	if r.First == r.Last {
		return "place " + r.String()
	}
	return fmt.Sprintf("places %s (%d)", r, r.Len())
}

func more(n int, what string) string {
	if n == 0 {
		return ""
	}
	return "\n  and " + plural(n, "more "+what)
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
