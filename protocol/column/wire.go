// Encoding of a column.
//
//	column  = string(name) uvarint(limit+1) 0 uvarint(n) n values
//	        | string(name) uvarint(limit+1) 1 summary
//	        | string(name) uvarint(limit+1) 2 summary folds (see foldwire.go)
//	value   = string(value) set
//	summary = uvarint(count) sketch uvarint(numbers) tally(nan) tally(inf)
//	          points(low) points(high) exact(sum) exact(squares) bins votes
//	tally   = uvarint(count) set (none when count is 0)
//	points  = uvarint(n), n times: string(value) tally
//	string  = uvarint(length) bytes

package column

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"sdm/protocol/decode"
)

// AppendWire appends the encoding of the column to b. It depends on the name, the
// limit and the pairs (rank, value) only.
func (c Column) AppendWire(b []byte) []byte {
	c = c.Limited()
	b = appendString(b, c.Name)
	b = binary.AppendUvarint(b, uint64(c.limit+1))
	switch {
	case c.summary == nil:
		return appendValues(append(b, wireValues), c.values)
	case c.summary.folds.none():
		return c.summary.appendWire(append(b, wireSummary))
	}
	return c.summary.appendWire(append(b, wireFolds))
}

func appendValues(b []byte, values []ValueCount) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	for _, v := range values {
		b = v.Ranks.AppendWire(appendString(b, v.Value))
	}
	return b
}

// The forms of a column.
const (
	wireValues = iota
	wireSummary
	wireFolds
)

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (s *summary) appendWire(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(s.count))
	b = s.distinct.appendWire(b)
	b = binary.AppendUvarint(b, uint64(s.numbers))
	b = s.inf.appendWire(s.nan.appendWire(b))
	for _, points := range [][]point{s.low, s.high} {
		b = binary.AppendUvarint(b, uint64(len(points)))
		for _, p := range points {
			b = p.appendWire(appendString(b, p.Value))
		}
	}
	b = s.squares.appendWire(s.sum.appendWire(b))
	b = s.votes.appendWire(s.bins.appendWire(b))
	if s.folds.none() {
		return b
	}
	return s.folds.appendWire(b)
}

func (t Tally) appendWire(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(t.Count))
	if t.Count == 0 {
		return b
	}
	return t.Ranks.AppendWire(b)
}

// reader decodes the parts of a column.
type reader struct{ decode.Reader }

// Decode decodes one column from the front of b and returns the remaining bytes. It
// keeps no reference to b.
func Decode(b []byte) (c Column, rest []byte, err error) {
	r := &reader{decode.Reader{Rest: b}}
	c.Name = r.String()
	c.limit = r.Number("limit", math.MaxInt32) - 1
	switch form := r.Number("form", wireFolds); {
	case r.Err != nil:
	case form == wireValues:
		c.values = r.values(c.limit)
	case c.limit == 0:
		r.Fail(errors.New("a summary without a limit"))
	default:
		c.summary = r.summary()
		if form == wireFolds {
			c.summary.folds = r.folds()
		}
	}
	if r.Err != nil {
		return Column{}, nil, fmt.Errorf("column: %w", r.Err)
	}
	return c, r.Rest, nil
}

// values decodes the values of a complete column.
func (r *reader) values(limit int) []ValueCount {
	n := r.Uvarint()
	if n > uint64(len(r.Rest))/3 || limit >= 0 && n > uint64(limit) { // at least 3 bytes each
		r.Fail(errors.New("more values than there can be"))
	}
	if r.Err != nil || n == 0 {
		return nil
	}
	values := make([]ValueCount, n)
	for i := range values {
		values[i] = ValueCount{r.String(), r.Ranks()}
		if r.Err == nil && i > 0 && values[i].Value <= values[i-1].Value {
			r.Fail(errors.New("values are out of order"))
		}
		if r.Err != nil {
			return nil
		}
	}
	return values
}

func (r *reader) summary() *summary {
	s := &summary{
		count:    r.Number("count", decode.MaxCount),
		distinct: r.sketch(),
		numbers:  r.Number("count of numbers", decode.MaxCount),
		nan:      r.tally(),
		inf:      r.tally(),
		low:      r.points(point.compare),
		high:     r.points(point.compareDown),
		sum:      r.exact(),
		squares:  r.exact(),
		bins:     r.bins(),
	}
	s.votes = r.votes(s.count)
	if s.count < s.numbers || (len(s.low) == 0) != (s.numbers == 0) || (len(s.high) == 0) != (s.numbers == 0) ||
		s.bins.total() != s.numbers {
		r.Fail(errors.New("a summary contradicts itself"))
	}
	return s
}

func (r *reader) tally() Tally {
	n := r.Number("count", decode.MaxCount)
	if n == 0 {
		return Tally{}
	}
	ranks := r.Ranks()
	if ranks.Len() > min(n, maxTallyRanks) {
		r.Fail(errors.New("more ranks than there can be"))
	}
	return Tally{n, ranks}
}

func (r *reader) points(compare func(p, q point) int) []point {
	n := r.Number("count of extremes", maxExtremes)
	var out []point
	for i := range n {
		p := r.point()
		if r.Err == nil && i > 0 && compare(out[i-1], p) >= 0 {
			r.Fail(errors.New("extremes are out of order"))
		}
		if r.Err != nil {
			return nil
		}
		out = append(out, p)
	}
	return out
}
