// Arrays: layout, names of elements, and the blocks by which ranks compare them.

package protocol

import (
	"math"
	"strconv"
	"strings"
)

// Shape is the layout of an array, and how its language names elements. The zero
// Shape has no dimensions.
type Shape struct {
	Dims    []Dim `json:"dims"`
	Fortran bool  `json:"fortran,omitempty"` // column-major order; names are "(1,2)", not "[0][1]"
}

// Dim is one dimension of an array.
type Dim struct {
	Low   int `json:"low,omitempty"` // the lowest index
	Count int `json:"count"`
}

// Elements returns the number of elements; 0 if there are none or too many to
// count.
func (s Shape) Elements() int {
	if len(s.Dims) == 0 {
		return 0
	}
	n := 1
	for _, d := range s.Dims {
		if d.Count <= 0 || n > math.MaxInt32*256/d.Count {
			return 0
		}
		n *= d.Count
	}
	return n
}

// Index returns the name of element i, from 0, in memory order: "[3][17]" or
// "(4,18)".
func (s Shape) Index(i int) string {
	at := make([]string, len(s.Dims))
	for n := range s.Dims {
		k := n
		if !s.Fortran {
			k = len(s.Dims) - 1 - n
		}
		d := s.Dims[k]
		at[k] = strconv.Itoa(d.Low + i%max(d.Count, 1))
		i /= max(d.Count, 1)
	}
	if s.Fortran {
		return "(" + strings.Join(at, ",") + ")"
	}
	return "[" + strings.Join(at, "][") + "]"
}

// Column returns the name of n elements of a Fortran array from element i on, which
// must be in one column: "(3:7,18)".
func (s Shape) Column(i, n int) string {
	first := s.Index(i)
	end := strings.IndexAny(first, ",)")
	low := s.Dims[0].Low + i%s.Dims[0].Count
	return first[:end] + ":" + strconv.Itoa(low+n-1) + first[end:]
}

// Span is a range of elements of an array, from 0; both ends are included.
type Span struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Len returns the number of elements.
func (s Span) Len() int { return s.Last - s.First + 1 }

const (
	// HashBlocks is the maximum number of blocks of a span: 100,000 elements take
	// three rounds.
	HashBlocks = 64
	// MaxSpans is the maximum number of spans of several elements in one hash
	// command.
	MaxSpans = 16
	// MaxValues is the maximum number of spans of one element each in one hash
	// command.
	MaxValues = 256
)

// Blocks divides a span into up to HashBlocks blocks of almost equal length. The
// master and the back ends use the same division.
func (s Span) Blocks() []Span {
	n := s.Len()
	if n <= 0 {
		return nil
	}
	k := min(n, HashBlocks)
	blocks := make([]Span, k)
	for i := range blocks {
		blocks[i] = Span{s.First + i*n/k, s.First + (i+1)*n/k - 1}
	}
	return blocks
}
