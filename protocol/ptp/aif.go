// Types of the program, and values in AIF: a format, which describes a type, and data.

package ptp

import (
	"encoding/binary"
	"encoding/hex"
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
	Pointer // its target is not included; see PointerTo
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

// Value is a value in AIF, as Eclipse reads it. Data that are nil are left out, as of an array
// whose elements are not included.
type Value struct {
	Format string
	Data   []byte
}

// Argument encodes the data as an argument. Data without a byte are sent as one zero, because a
// value at the end of its data is unknown to Eclipse.
func (v Value) Argument() string {
	switch {
	case v.Data == nil:
		return ""
	case len(v.Data) == 0:
		return "00"
	}
	return strings.ToUpper(hex.EncodeToString(v.Data))
}

// Bare returns a value of a structure or a union without members, or of an array without elements.
func (t *Type) Bare() Value {
	switch t.Kind {
	case Struct:
		return Value{"{" + t.Name + "|;;;}", []byte{0}}
	case Union:
		return Value{"(" + t.Name + "|)", []byte{0}}
	}
	return Value{Format: string(surveys(nil).format(nil, t))}
}

// Members returns a structure with members in turn. Without any it is one that Eclipse asks for on
// expansion.
func Members(name string, names []string, values []Value) Value {
	v := Value{Format: "{" + name + "|", Data: []byte{}}
	for i, m := range values {
		if i > 0 {
			v.Format += ","
		}
		v.Format += names[i] + "=" + m.Format
		v.Data = append(v.Data, m.Data...)
	}
	v.Format += ";;;}"
	return v
}

// Elements returns an array of elements of one format with their data; nil: they are left out.
func Elements(count int, format string, data []byte) Value {
	return Value{fmt.Sprintf("[r0,%dis4]%s", count, format), data}
}

// Number returns a floating-point number. Larger ones than eight bytes are converted to eight,
// because Eclipse reads no more.
func (t *Type) Number(v float64) Value {
	if t.Size == 4 {
		return Value{"f4", binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v)))}
	}
	return Value{"f8", binary.BigEndian.AppendUint64(nil, math.Float64bits(v))}
}

// PointerTo returns a pointer of a size in bytes, with its target, or without one if to is nil. Null
// has no target.
func PointerTo(size int, addr uint64, to *Value) Value {
	v := Value{string(appendNumber([]byte("^a"), size)), appendAddress(nil, addr, size)}
	if to == nil || addr == 0 {
		v.Format += "v0"
		return v
	}
	v.Format += to.Format
	v.Data = append(v.Data, to.Data...)
	return v
}

// CharsAt returns a pointer to characters of a size in bytes, with the text, in the character set of
// the program.
func CharsAt(size int, addr uint64, text string) Value {
	return Value{string(appendNumber([]byte("pa"), size)), append(bigEndian(nil, addr, size), textData(text)...)}
}

// TextValue returns a text, in the character set of the program, as a value.
func TextValue(text string) Value { return Value{"s", textData(text)} }

// MaxText bounds a text in AIF, in bytes: its length has two bytes.
const MaxText = math.MaxUint16

func textData(text string) []byte {
	text = text[:min(len(text), MaxText)]
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)
}
