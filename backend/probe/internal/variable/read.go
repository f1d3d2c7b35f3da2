// Bytes and numbers of values.

package variable

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"

	"sdm/backend/probe/internal/expression"
)

// read returns the bytes of an object.
func (v *evaluation) read(x object) (Value, error) {
	if x.number != nil {
		return Value{Size: 8, Bytes: binary.LittleEndian.AppendUint64(nil, uint64(*x.number))}, nil
	}
	x, e, err := v.plain(x)
	if err != nil {
		return Value{}, err
	}
	if x.unit.fortran && e != nil && isClass(e) { // class(...)
		if data, ok := v.component(x, e, "_data", 0); ok {
			return v.read(data)
		}
	}
	if e != nil && e.Tag == dwarf.TagArrayType {
		if x, err = v.dimensions(x, e); err != nil {
			return Value{}, err
		}
	}
	size := x.size
	switch {
	case x.bits > 0:
		return v.readBits(x)
	case x.array != nil:
		if size, err = v.extent(x); err != nil {
			return Value{}, err
		}
	case x.names != nil:
		n, ok := v.sizeOf(x.names, x.kind)
		if !ok {
			return Value{}, fmt.Errorf("the size of %s is not known", x.text)
		}
		size = uint64(n)
	}
	b := make([]byte, min(size, maxBytes))
	if !v.mem.Read(x.addr, b) {
		return Value{}, unreadable(x)
	}
	return Value{Addr: x.addr, Size: size, Bytes: b}, nil
}

// extent returns the size of an array, whose elements must follow one another.
func (v *evaluation) extent(x object) (uint64, error) {
	size, ok := v.sizeOf(x.names, x.kind)
	total, whole := size, size
	for _, d := range x.array {
		if total *= d.count; d.count <= 0 || total > maxCount {
			return 0, fmt.Errorf("the size of %s is not known: give one element", x.text)
		}
		whole += (d.count - 1) * d.stride
	}
	if !ok || whole != total {
		return 0, fmt.Errorf("the elements of %s do not follow one another in memory: give one of them", x.text)
	}
	return uint64(total), nil
}

func (v *evaluation) readBits(x object) (Value, error) {
	var b [16]byte
	size := (x.shift + x.bits + 7) / 8
	if !v.mem.Read(x.addr, b[:size]) {
		return Value{}, unreadable(x)
	}
	n := binary.LittleEndian.Uint64(b[:]) >> x.shift
	if x.shift > 0 {
		n |= binary.LittleEndian.Uint64(b[8:]) << (64 - x.shift)
	}
	if x.bits < 64 {
		n &= 1<<x.bits - 1
	}
	return Value{Addr: x.addr, Size: size, Bytes: binary.LittleEndian.AppendUint64(nil, n)}, nil
}

// Encodings of base types (DWARF 5, 7.8).
const (
	encodedBoolean      = 0x02
	encodedSigned       = 0x05
	encodedSignedChar   = 0x06
	encodedUnsigned     = 0x07
	encodedUnsignedChar = 0x08
)

// integer returns the value of an integer.
func (v *evaluation) integer(x object) (int64, error) {
	if x.number != nil {
		return *x.number, nil
	}
	x, e, err := v.plain(x)
	if err != nil {
		return 0, err
	}
	signed, is := false, false
	if e != nil {
		encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
		signed = encoding == encodedSigned || encoding == encodedSignedChar
		is = e.Tag == dwarf.TagEnumerationType || signed || encoding == encodedUnsigned || encoding == encodedUnsignedChar || encoding == encodedBoolean
	}
	value, err := v.read(x)
	if err != nil {
		return 0, err
	}
	bits := max(x.bits, 8*value.Size)
	if x.bits > 0 {
		bits = x.bits
	}
	if !is || bits > 64 {
		return 0, fmt.Errorf("%s is no integer", x.text)
	}
	n := int64(binary.LittleEndian.Uint64(append(value.Bytes, make([]byte, 8)...)))
	if signed {
		n = n << (64 - bits) >> (64 - bits)
	}
	return n, nil
}

// compute returns a sum, difference or product of integers of 64 bits.
func (v *evaluation) compute(e *expression.Expr) (object, error) {
	var both [2]int64
	for i, part := range []*expression.Expr{e.Of, e.Other} {
		x, err := v.of(part)
		if err == nil {
			both[i], err = v.integer(x)
		}
		if err != nil {
			return x, err
		}
	}
	n := both[0] + both[1]
	switch e.Op {
	case expression.Difference:
		n = both[0] - both[1]
	case expression.Product:
		n = both[0] * both[1]
	}
	return object{text: e.String(), number: &n}, nil
}
