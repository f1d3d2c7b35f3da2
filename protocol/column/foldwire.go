// Encoding of folds, which follow a summary.
//
//	folds  = 0 (there were too many) | uvarint(n+1), n times: fold
//	fold   = string(template) set sketch, for each leaf of the template: field
//	field  = 0 string | 1 sketch uvarint(n) n values | 2 sketch span
//	span   = uvarint(numbers) uvarint(nan) uvarint(inf), with numbers: point(low) point(high)
//	point  = string(value) tally

package column

import (
	"encoding/binary"
	"errors"

	"sdm/protocol/decode"
	"sdm/protocol/shape"
)

// The forms of a field.
const (
	formSame = iota
	formValues
	formSpan
)

// none reports whether nothing has to be encoded.
func (f folds) none() bool { return len(f.list) == 0 && !f.dropped }

func (f folds) appendWire(b []byte) []byte {
	if f.dropped {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(f.list)+1))
	for _, x := range f.list {
		b = x.distinct.appendWire(x.ranks.AppendWire(appendString(b, x.template)))
		for _, field := range x.fields {
			b = field.appendWire(b)
		}
	}
	return b
}

func (f Field) appendWire(b []byte) []byte {
	v := f.varied
	switch {
	case v == nil:
		return appendString(append(b, formSame), f.same)
	case v.span == nil:
		return appendValues(v.raw.appendWire(append(b, formValues)), v.values)
	}
	b = v.raw.appendWire(append(b, formSpan))
	for _, n := range []int{v.span.numbers, v.span.nan, v.span.inf} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	if v.span.numbers == 0 {
		return b
	}
	b = v.span.low.appendWire(appendString(b, v.span.low.Value))
	return v.span.high.appendWire(appendString(b, v.span.high.Value))
}

var errFolds = errors.New("folds are not in canonical form")

func (r *reader) folds() folds {
	n := r.Number("count of shapes", maxFolds+1) - 1
	if r.Err != nil {
		return folds{}
	}
	switch {
	case n < 0:
		return folds{dropped: true}
	case n == 0: // not a valid encoding
		r.Fail(errFolds)
	}
	out, last, fields := folds{}, "", 0
	for i := range n {
		f := r.fold(maxFields - fields)
		if i > 0 && f.template <= last {
			r.Fail(errFolds)
		}
		if r.Err != nil {
			return folds{}
		}
		last, fields = f.template, fields+len(f.fields)
		out.list = append(out.list, f)
	}
	if !out.fits() {
		r.Fail(errFolds)
		return folds{}
	}
	return out
}

// fold decodes one fold with at most this number of fields.
func (r *reader) fold(most int) Fold {
	f := Fold{template: r.String(), ranks: r.Ranks(), distinct: r.sketch()}
	n, err := shape.Leaves(f.template)
	if err != nil || n == 0 || n > most || n > len(r.Rest)/2 { // a field takes at least two bytes
		r.Fail(errFolds)
		return Fold{}
	}
	f.fields = make([]Field, n)
	for i := range f.fields {
		f.fields[i] = r.field()
	}
	return f
}

func (r *reader) field() Field {
	form := r.Number("form of a field", formSpan)
	if form == formSame {
		return Field{same: r.String()}
	}
	v := &varied{raw: r.sketch()}
	if form == formValues {
		if v.values = r.values(maxKept); v.values == nil {
			r.Fail(errFolds)
		}
		return Field{varied: v}
	}
	v.span = &span{numbers: r.Number("count", decode.MaxCount), nan: r.Number("count", decode.MaxCount),
		inf: r.Number("count", decode.MaxCount)}
	if v.span.numbers > 0 {
		v.span.low, v.span.high = r.point(), r.point()
	}
	return Field{varied: v}
}

// point decodes a number with its ranks.
func (r *reader) point() point {
	value := r.String()
	p := point{Extreme{value, r.tally()}, parseNumber(value)}
	if p.number.class != finite || p.Count == 0 {
		r.Fail(errors.New("extremes are out of order"))
	}
	return p
}
