// Elements of arrays.

package variable

import (
	"debug/dwarf"
	"fmt"
	"slices"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/expression"
)

// element returns an element of an array, or of what a pointer points to.
func (v *evaluation) element(x object, indices []*expression.Expr) (object, error) {
	var at []int64
	for _, i := range indices {
		y, err := v.of(i)
		if err != nil {
			return x, err
		}
		n, err := v.integer(y)
		if err != nil {
			return x, err
		}
		at = append(at, n)
	}
	x, e, err := v.plain(x)
	if err != nil {
		return x, err
	}
	if len(at) > 1 && !x.unit.fortran {
		return x, fmt.Errorf("give each index of %s in brackets of its own", x.text)
	}
	return v.elementAt(x, e, at)
}

// elementAt returns an element of an array or behind a pointer, whose type is e; the first one without indices.
func (v *evaluation) elementAt(x object, e *dwarf.Entry, at []int64) (object, error) {
	switch {
	case x.array != nil:
	case e == nil:
		return x, fmt.Errorf("the type of %s is not known in this file", x.text)
	case e.Tag == dwarf.TagPointerType:
		to, err := v.follow(x, e)
		if err != nil {
			return x, err
		}
		size, ok := v.sizeOf(to.names, to.kind)
		if !ok {
			return x, fmt.Errorf("the size of what %s points to is not known", x.text)
		}
		x, x.array = to, []dimension{{0, -1, size}}
	case e.Tag == dwarf.TagArrayType:
		var err error
		if x, err = v.dimensions(x, e); err != nil {
			return x, err
		}
	default:
		return x, fmt.Errorf("%s is no array and no pointer", x.text)
	}
	if at == nil {
		at = []int64{x.array[0].lower}
	}
	if x.unit.fortran && len(at) != len(x.array) {
		return x, fmt.Errorf("%s has %d dimensions, not %d", x.text, len(x.array), len(at))
	}
	for i, n := range at {
		d := x.array[i]
		if d.count >= 0 && (n < d.lower || n-d.lower >= d.count) {
			return x, fmt.Errorf("index %d of %s is not within %d and %d", n, x.text, d.lower, d.lower+d.count-1)
		}
		if n > maxCount || n < -maxCount {
			return x, fmt.Errorf("index %d of %s is too large", n, x.text)
		}
		x.addr += uint64((n - d.lower) * d.stride)
	}
	if x.array = x.array[len(at):]; len(x.array) == 0 {
		x.array = nil
	}
	return x, nil
}

// maxCount bounds counts of elements and their sizes, so that products do not overflow.
const maxCount = 1 << 31

// dimensions returns an array as its dimensions, with the type of its elements. e is its type.
func (v *evaluation) dimensions(x object, e *dwarf.Entry) (object, error) {
	o := cfi.Object{Addr: x.addr}
	for _, a := range []dwarf.Attr{dwarf.AttrAllocated, dwarf.AttrAssociated} {
		if expr, ok := e.Val(a).([]byte); ok {
			if is, ok := cfi.Evaluate(expr, v.mem, o); !ok {
				return x, unreadable(x)
			} else if is == 0 {
				return x, fmt.Errorf("%s is not allocated or associated", x.text)
			}
		}
	}
	base := x.addr
	if expr, ok := e.Val(dwarf.AttrDataLocation).([]byte); ok {
		if base, ok = cfi.Evaluate(expr, v.mem, o); !ok {
			return x, unreadable(x)
		}
	}
	kind, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
	size, ok := v.sizeOf(x.names, kind)
	if !ok || e.Val(dwarf.AttrStrideSize) != nil {
		return x, fmt.Errorf("the size of the elements of %s is not known", x.text)
	}
	dims, ok := v.bounds(x, e, o)
	if !ok {
		return x, fmt.Errorf("the bounds of %s are not known", x.text)
	}
	order := dims // from the dimension whose index changes slowest
	if x.unit.fortran {
		order = slices.Clone(dims)
		slices.Reverse(order)
	}
	strides := make([]int64, len(order))
	step := size
	for i := len(order) - 1; i >= 0; i-- {
		if strides[i] = order[i].stride; strides[i] == 0 {
			strides[i] = step
		}
		if step = strides[i] * max(order[i].count, 1); step > maxCount || step < -maxCount {
			return x, fmt.Errorf("%s is too large", x.text)
		}
	}
	if x.unit.fortran {
		slices.Reverse(strides)
	}
	for i := range dims {
		dims[i].stride = strides[i]
	}
	x.addr, x.kind, x.array = base, kind, dims
	return x, nil
}

// bounds returns the dimensions of an array as its type e describes them. Strides are 0 where they follow from the
// sizes.
func (v *evaluation) bounds(x object, e *dwarf.Entry, o cfi.Object) (dims []dimension, ok bool) {
	r := x.names.debug.Data.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil || !e.Children {
		return nil, false
	}
	for {
		d, err := r.Next()
		if v.left--; err != nil || d == nil || d.Tag == 0 || v.left < 0 {
			break
		}
		if d.Children || d.Tag != dwarf.TagSubrangeType && d.Tag != dwarf.TagEnumerationType || len(dims) == maxDims {
			return nil, false
		}
		first := int64(0)
		if x.unit.fortran {
			first = 1
		}
		lower, known := v.bound(d, dwarf.AttrLowerBound, o, first)
		upper, bounded := v.bound(d, dwarf.AttrUpperBound, o, lower-1)
		count, counted := v.bound(d, dwarf.AttrCount, o, upper-lower+1)
		stride, strided := v.bound(d, dwarf.AttrStride, o, 0)
		if !known || !bounded || !counted || !strided || max(lower, count, stride) > maxCount || min(lower, count, stride) < -maxCount {
			return nil, false
		}
		open := d.Val(dwarf.AttrUpperBound) == nil && d.Val(dwarf.AttrCount) == nil || count < 0 && !x.unit.fortran
		if count = max(count, 0); open {
			count = -1
		}
		dims = append(dims, dimension{lower, count, stride})
	}
	return dims, len(dims) > 0
}

// bound returns the value of an attribute that is a number or an expression.
func (v *evaluation) bound(e *dwarf.Entry, a dwarf.Attr, o cfi.Object, otherwise int64) (int64, bool) {
	switch x := e.Val(a).(type) {
	case nil:
		return otherwise, true
	case int64:
		return x, true
	case []byte:
		n, ok := cfi.Evaluate(x, v.mem, o)
		return int64(n), ok
	}
	return 0, false
}
