// AIF, the encoding of values: a format, which describes a type, and data.

package ptp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Kind is the kind of a Type.
type Kind uint8

// The kinds of types.
const (
	Int Kind = iota + 1
	Unsigned
	Char
	Bool
	Float
	Enum
	Pointer // to Elem; nil: the target is not included
	Array   // of Count elements of type Elem, indexed from 0
	Struct
	Union
	CharPointer // a null-terminated string; its data contain the text
	TextKind    // text printed by the debugger, for all other types
)

// Type is a type of the program in AIF.
type Type struct {
	Kind   Kind
	Size   int    // in bytes; of an array, of all elements
	Name   string // of a Struct, a Union, an Enum
	Elem   *Type
	Count  int
	Fields []Field
	Values []Constant // of an Enum
}

// Field is a member of a Struct or a Union.
type Field struct {
	Name   string
	Type   *Type
	Offset int // in the Struct, in bytes
	Bit    int // of a bit field: its first bit after Offset
	Width  int // of a bit field, in bits; 0 is none
}

// Constant is a value of an Enum.
type Constant struct {
	Name  string
	Value int64
}

// Format returns the format of the type.
func (t *Type) Format() string { return string(t.append(nil)) }

func (t *Type) append(b []byte) []byte {
	switch t.Kind {
	case Int:
		return fmt.Appendf(b, "is%d", t.Size)
	case Unsigned:
		return fmt.Appendf(b, "iu%d", t.Size)
	case Char:
		return append(b, 'c')
	case Bool:
		return fmt.Appendf(b, "b%d", t.Size)
	case Float:
		return fmt.Appendf(b, "f%d", min(t.Size, 8))
	case Pointer:
		b = fmt.Appendf(b, "^a%d", t.Size)
		if t.Elem == nil {
			return append(b, "v0"...)
		}
		return t.Elem.append(b)
	case Array:
		return t.Elem.append(fmt.Appendf(b, "[r0,%dis4]", t.Count))
	case CharPointer:
		return fmt.Appendf(b, "pa%d", t.Size)
	case Struct:
		return append(t.appendFields(append(b, '{')), ";;;}"...)
	case Union:
		return append(t.appendFields(append(b, '(')), ')')
	case Enum:
		b = fmt.Appendf(b, "<%s|", t.Name)
		for i, c := range t.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "%s=%d", c.Name, c.Value)
		}
		return fmt.Appendf(b, ">is%d", t.Size)
	}
	return append(b, 's')
}

func (t *Type) appendFields(b []byte) []byte {
	b = append(append(b, t.Name...), '|')
	for i, f := range t.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.Type.append(append(append(b, f.Name...), '='))
	}
	return b
}

// Memory returns the data of a value from its bytes in the memory of the program,
// lowest byte first. Pointers have no target.
func (t *Type) Memory(mem []byte) ([]byte, error) { return t.appendMemory(nil, mem, 0) }

func (t *Type) appendMemory(b, mem []byte, at int) ([]byte, error) {
	if at < 0 || t.Size < 0 || at+t.Size > len(mem) {
		return nil, fmt.Errorf("%d bytes at %d of %d", t.Size, at, len(mem))
	}
	var err error
	switch t.Kind {
	case Struct:
		for _, f := range t.Fields {
			if b, err = f.append(b, mem, at); err != nil {
				return nil, err
			}
		}
		return b, nil
	case Union:
		return t.appendLargest(b, mem, at)
	case Array:
		for i := range t.Count {
			if b, err = t.Elem.appendMemory(b, mem, at+i*t.Elem.Size); err != nil {
				return nil, err
			}
		}
		return b, nil
	case Pointer:
		return appendPointer(b, reversed(mem[at:at+t.Size])), nil
	case Float:
		return appendFloat(b, mem[at:at+t.Size])
	case CharPointer, TextKind:
		return nil, errors.New("the text is not there")
	}
	return append(b, reversed(mem[at:at+t.Size])...), nil
}

// appendLargest encodes the largest member of a union.
func (t *Type) appendLargest(b, mem []byte, at int) ([]byte, error) {
	var largest *Field
	for i, f := range t.Fields {
		if largest == nil || f.Type.Size > largest.Type.Size {
			largest = &t.Fields[i]
		}
	}
	if largest == nil {
		return b, nil
	}
	return largest.append(b, mem, at)
}

func (f *Field) append(b, mem []byte, at int) ([]byte, error) {
	first := at + f.Offset
	if f.Width == 0 {
		return f.Type.appendMemory(b, mem, first)
	}
	last := first + (f.Bit+f.Width+7)/8
	if first < 0 || f.Bit < 0 || f.Width > 64 || last-first > 8 || last > len(mem) {
		return nil, fmt.Errorf("%d bits at %d of %d bytes", f.Width, first, len(mem))
	}
	var v uint64
	for i, c := range mem[first:last] {
		v |= uint64(c) << (8 * i)
	}
	v = v >> f.Bit << (64 - f.Width) // its highest bit first
	if k := f.Type.Kind; k == Unsigned || k == Bool || k == Char {
		return f.Type.appendInteger(b, int64(v>>(64-f.Width))), nil
	}
	return f.Type.appendInteger(b, int64(v)>>(64-f.Width)), nil
}

// Integer returns the data of a number, a character, a truth value or an enumeration.
func (t *Type) Integer(v int64) []byte { return t.appendInteger(nil, v) }

func (t *Type) appendInteger(b []byte, v int64) []byte {
	for i := t.Size - 1; i >= 0; i-- {
		b = append(b, byte(v>>min(8*i, 63)))
	}
	return b
}

// Number returns the data of a floating-point number. Larger ones than eight bytes
// are converted to eight, because Eclipse reads no more.
func (t *Type) Number(v float64) []byte {
	if t.Size == 4 {
		return binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
}

// PointerTo returns the data of a pointer, with those of its target.
func (t *Type) PointerTo(addr uint64, target []byte) []byte {
	if addr == 0 {
		return []byte{pointerNull}
	}
	return append(appendPointer(nil, t.appendInteger(nil, int64(addr))), target...)
}

// CharsAt returns the data of a pointer to characters, with the text.
func (t *Type) CharsAt(addr uint64, text string) []byte {
	return append(t.appendInteger(nil, int64(addr)), TextData(text)...)
}

// MaxText bounds a text in AIF, in bytes: its length has two bytes.
const MaxText = math.MaxUint16

// TextData returns the data of a text, truncated to MaxText.
func TextData(text string) []byte {
	text = text[:min(len(text), MaxText)]
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)
}

// The first byte of a pointer's data.
const (
	pointerNull   = 0 // nothing follows
	pointerNormal = 1
)

func appendPointer(b, addr []byte) []byte {
	for _, c := range addr {
		if c != 0 {
			return append(append(b, pointerNormal), addr...)
		}
	}
	return append(b, pointerNull)
}

// appendFloat supports the IEEE formats with four and eight bytes, and the x86
// format of long double, which has ten.
func appendFloat(b, mem []byte) ([]byte, error) {
	switch len(mem) {
	case 4, 8:
		return append(b, reversed(mem)...), nil
	case 12, 16:
		v := extended(binary.LittleEndian.Uint64(mem), binary.LittleEndian.Uint16(mem[8:]))
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v)), nil
	}
	return nil, fmt.Errorf("a floating-point number of %d bytes", len(mem))
}

// extended converts the 80-bit format of x86: a 64-bit fraction with its leading
// one, and an exponent with the sign.
func extended(fraction uint64, exponent uint16) float64 {
	const bias, infinite = 16383, 0x7fff
	v := math.Ldexp(float64(fraction), int(exponent&infinite)-bias-63)
	if exponent&infinite == infinite {
		if v = math.Inf(1); fraction<<1 != 0 {
			v = math.NaN()
		}
	}
	if exponent > infinite {
		v = -v
	}
	return v
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[len(b)-1-i] = c
	}
	return out
}

// DataText encodes data as an argument. Empty data are one byte.
func DataText(data []byte) string {
	if len(data) == 0 {
		return "00"
	}
	return strings.ToUpper(hex.EncodeToString(data))
}
