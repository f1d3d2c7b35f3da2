// Arrays: how their elements are counted and named, and the blocks by which
// ranks compare them.

package protocol

import (
	"math"
	"strconv"
	"strings"
)

// Shape is how an array is laid out, and how its language names elements. The
// zero Shape has none.
type Shape struct {
	Dims    []Dim `json:"dims"`
	Fortran bool  `json:"fortran,omitempty"` // the first index runs fastest, and names are "(1,2)" rather than "[0][1]"
}

// Dim is one dimension of an array.
type Dim struct {
	Low   int `json:"low,omitempty"` // the lowest index
	Count int `json:"count"`
}

// Elements is how many elements there are in all; 0 when there are none, or
// too many to be counted.
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

// Index names element i, from 0, in the order of memory: "[3][17]" or "(4,18)".
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

// Column names n elements of an array of Fortran from i on, which must be in one column: "(3:7,18)".
func (s Shape) Column(i, n int) string {
	first := s.Index(i)
	end := strings.IndexAny(first, ",)")
	low := s.Dims[0].Low + i%s.Dims[0].Count
	return first[:end] + ":" + strconv.Itoa(low+n-1) + first[end:]
}

// Span is a run of elements of an array, from 0; both ends belong to it.
type Span struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Len is how many elements it has.
func (s Span) Len() int { return s.Last - s.First + 1 }

const (
	// HashBlocks is into how many blocks a span is cut at most: 100,000 elements
	// are three rounds.
	HashBlocks = 64
	// MostSpans is how many spans of several elements one hash may ask for.
	MostSpans = 16
	// MostValues is how many spans of one element each a hash may ask for.
	MostValues = 256
)

// Blocks cuts a span into up to HashBlocks pieces of almost the same length.
// Whoever asks and whoever answers cut alike.
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
