// Values in AIF from the memory of the program.

package ptp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Texts returns the text at an address, in the character set of the program. false says that it was
// not read; the text is shown in its place then.
type Texts func(addr uint64) (string, bool)

// Encode returns a value from its bytes in the memory of the program, lowest byte first. texts gives
// the texts of pointers to characters; nil: none can be read. Pointers have no targets.
//
// The encoding is what Eclipse PTP's Java code reads. It differs from the original SDM's where Java
// shows another value or ends: arrays within structures and unions have no data, because Java reads
// them only when they are expanded; the members of a union follow one another; numbers of the kinds
// and sizes that Java misreads are widened, or are text.
func (t *Type) Encode(mem []byte, texts Texts) (Value, error) {
	if texts == nil {
		texts = func(uint64) (string, bool) { return "", false }
	}
	e := encoder{surveys: surveys{}, texts: texts}
	if err := e.surveys.add(t, mem); err != nil {
		return Value{}, err
	}
	e.data = []byte{}
	if err := e.append(t, mem, false); err != nil {
		return Value{}, err
	}
	if e.started == len(e.data) {
		e.data = append(e.data, 0) // a structure at the end of the data is unknown to Eclipse
	}
	return Value{string(e.surveys.format(nil, t)), e.data}, nil
}

// Pointers appends the addresses of the pointers to characters that Encode asks for.
func (t *Type) Pointers(mem []byte) []uint64 {
	var all []uint64
	_, _ = t.Encode(mem, func(addr uint64) (string, bool) {
		if !slices.Contains(all, addr) {
			all = append(all, addr)
		}
		return "", false
	})
	return all
}

// FromNumber returns an integer, a character, a truth value or an enumeration constant.
func (t *Type) FromNumber(n *big.Int) (Value, error) {
	mem := make([]byte, t.Size)
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size)))
	}
	if n.Sign() < 0 || n.BitLen() > 8*t.Size {
		return Value{}, fmt.Errorf("%v in %d bytes", n, t.Size)
	}
	n.FillBytes(mem)
	slices.Reverse(mem)
	return t.Encode(mem, nil)
}

// survey is what the values of one type in a value have in common: all elements of an array have one
// format.
type survey struct {
	large bool       // a number is beyond the range of Java's
	extra []Constant // of values of an Enum that are no constant
}

type surveys map[*Type]*survey

// add surveys a value that begins with mem.
func (s surveys) add(t *Type, mem []byte) error {
	if t.Size < 0 || t.Size > len(mem) {
		return fmt.Errorf("%d bytes of %d", t.Size, len(mem))
	}
	mem = mem[:t.Size]
	switch t.Kind {
	case Struct, Union:
		for _, f := range t.Fields {
			inner, err := f.memory(mem)
			if err == nil && f.Type.Kind != Array {
				err = s.add(f.Type, inner)
			}
			if err != nil {
				return err
			}
		}
	case Array:
		if t.Elem.Size == 0 { // however many there are
			return nil
		}
		for i := range t.Count {
			if err := s.add(t.Elem, mem[min(i*t.Elem.Size, len(mem)):]); err != nil {
				return err
			}
		}
	case Unsigned:
		if t.Size == 8 && mem[7] >= 0x80 {
			s.of(t).large = true
		}
	case Float:
		if t.isExtended() && isBeyondDouble(extendedParts(mem)) {
			s.of(t).large = true
		}
	case Enum:
		s.of(t).addConstant(t, mem)
	}
	return nil
}

func (s surveys) of(t *Type) *survey {
	if s[t] == nil {
		s[t] = &survey{}
	}
	return s[t]
}

// isLarge reports whether a value of a type is beyond the range of Java's: all of them are text then.
func (s surveys) isLarge(t *Type) bool { return s[t] != nil && s[t].large }

// addConstant adds a constant for a value that has none: Java shows nothing for it.
func (s *survey) addConstant(t *Type, mem []byte) {
	v := t.constant(mem)
	if t.position(v, s) < 0 {
		s.extra = append(s.extra, Constant{flagNames(t.Values, v), v})
	}
}

// constant returns the value of an enumeration. It is signed if a constant is negative, as for gdb.
func (t *Type) constant(mem []byte) int64 {
	return littleEndian(mem, t.hasNegative())
}

// hasNegative reports whether a constant of an enumeration is negative: its values have a sign then.
func (t *Type) hasNegative() bool {
	return slices.ContainsFunc(t.Values, func(c Constant) bool { return c.Value < 0 })
}

// position returns the index of a value among the constants of the type and of the survey; -1: it
// is not there.
func (t *Type) position(v int64, s *survey) int {
	all := t.Values
	if s != nil {
		all = slices.Concat(all, s.extra)
	}
	return slices.IndexFunc(all, func(c Constant) bool { return c.Value == v })
}

// code returns the code of a value of an enumeration: the value itself, or its position if the value
// may have more than the 32 bits that Java reads.
func (t *Type) code(v int64, s *survey) int32 {
	if t.Size > 4 {
		return int32(t.position(v, s))
	}
	return int32(v)
}

// flagNames returns a value as flags, "A | C", or else as a number.
func flagNames(constants []Constant, v int64) string {
	var names []string
	rest := v
	for _, c := range constants {
		if c.Value != 0 && rest&c.Value == c.Value {
			names, rest = append(names, c.Name), rest&^c.Value
		}
	}
	if rest == 0 && len(names) > 1 {
		return strings.Join(names, " | ")
	}
	return strconv.FormatInt(v, 10)
}

// format appends the format of a type.
func (s surveys) format(b []byte, t *Type) []byte {
	switch t.Kind {
	case Int, Unsigned:
		return append(b, s.numberFormat(t)...)
	case Char:
		return append(b, 'c')
	case Bool:
		return append(b, "b1"...)
	case Float:
		switch {
		case s.isLarge(t):
			return append(b, 's')
		case t.Size == 4:
			return append(b, "f4"...)
		}
		return append(b, "f8"...)
	case Pointer:
		return append(appendNumber(append(b, "^a"...), t.Size), "v0"...)
	case CharPointer:
		return appendNumber(append(b, "pa"...), t.Size)
	case Array:
		return s.format(fmt.Appendf(b, "[r0,%dis4]", t.Count), t.Elem)
	case Struct:
		return append(s.formatFields(append(b, '{'), t), ";;;}"...)
	case Union:
		return append(s.formatFields(append(b, '('), t), ')')
	case Enum:
		return s.formatEnum(b, t)
	}
	return append(b, 's')
}

// numberFormat is what Java reads correctly: signed numbers of 2, 4 and 8 bytes. All others are text.
func (s surveys) numberFormat(t *Type) string {
	switch {
	case t.Size > 8 || s.isLarge(t):
		return "s"
	case t.Kind == Unsigned && t.Size < 8:
		return "is" + strconv.Itoa(2*t.Size)
	case t.Size == 1:
		return "is2"
	}
	return "is" + strconv.Itoa(t.Size)
}

func (s surveys) formatFields(b []byte, t *Type) []byte {
	b = append(append(b, t.Name...), '|')
	for i, f := range t.members() {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.format(append(append(b, f.Name...), '='), f.Type)
	}
	return b
}

func (s surveys) formatEnum(b []byte, t *Type) []byte {
	b = fmt.Appendf(b, "<%s|", t.Name)
	all := t.Values
	if s[t] != nil {
		all = slices.Concat(all, s[t].extra)
	}
	for i, c := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%s=%d", c.Name, t.code(c.Value, s[t]))
	}
	return append(b, ">is4"...)
}

// members returns the members, with the members of anonymous structures and unions in their place:
// Java shows the last of several members without a name for all of them.
func (t *Type) members() []Field {
	var all []Field
	for _, f := range t.Fields {
		if f.Name != "" || f.Type.Kind != Struct && f.Type.Kind != Union {
			all = append(all, f)
			continue
		}
		for _, inner := range f.Type.members() {
			inner.Offset += f.Offset
			all = append(all, inner)
		}
	}
	return all
}

// memory returns the bytes of a member of a structure or a union; for a bit field as a number of its
// type.
func (f *Field) memory(mem []byte) ([]byte, error) {
	if f.Offset < 0 || f.Offset > len(mem) {
		return nil, fmt.Errorf("a member at %d of %d bytes", f.Offset, len(mem))
	}
	mem = mem[f.Offset:]
	if f.Width == 0 {
		return mem, nil
	}
	last := (f.Bit + f.Width + 7) / 8
	if f.Bit < 0 || f.Width > 64 || f.Width < 0 || last > 8 || last > len(mem) || f.Type.Size > 8 {
		return nil, fmt.Errorf("%d bits at %d of %d bytes", f.Width, f.Bit, len(mem))
	}
	v := uint64(littleEndian(mem[:last], false)) >> f.Bit << (64 - f.Width) // its highest bit first
	if k := f.Type.Kind; k == Unsigned || k == Bool || k == Char || k == Enum && !f.Type.hasNegative() {
		v >>= 64 - f.Width
	} else {
		v = uint64(int64(v) >> (64 - f.Width))
	}
	return binary.LittleEndian.AppendUint64(nil, v), nil
}

// encoder appends the data of a value.
type encoder struct {
	surveys surveys
	texts   Texts
	data    []byte
	started int // where the last structure or union begins
}

// append appends a value that begins with mem; inside tells that it is in a structure or a union.
func (e *encoder) append(t *Type, mem []byte, inside bool) error {
	mem = mem[:t.Size]
	switch t.Kind {
	case Struct, Union:
		return e.appendMembers(t, mem)
	case Array:
		if inside || t.Elem.Size == 0 {
			return nil
		}
		for i := range t.Count {
			if err := e.append(t.Elem, mem[i*t.Elem.Size:], false); err != nil {
				return err
			}
		}
	case Int, Unsigned:
		e.appendInteger(t, mem)
	case Enum:
		e.data = bigEndian(e.data, uint64(t.code(t.constant(mem), e.surveys[t])), 4)
	case Bool:
		e.data = append(e.data, truth(mem))
	case Float:
		return e.appendFloat(t, mem)
	case Pointer:
		e.data = appendAddress(e.data, uint64(littleEndian(mem, false)), t.Size)
	case CharPointer:
		addr := uint64(littleEndian(mem, false))
		text := ""
		if addr != 0 {
			text, _ = e.texts(addr)
		}
		e.data = append(bigEndian(e.data, addr, t.Size), textData(text)...)
	case TextKind:
		e.data = append(e.data, textData("??")...)
	default:
		e.data = append(e.data, mem...)
	}
	return nil
}

func (e *encoder) appendMembers(t *Type, mem []byte) error {
	e.started = len(e.data)
	if len(t.members()) == 0 {
		return nil
	}
	for _, f := range t.members() {
		inner, err := f.memory(mem)
		if err != nil {
			return err
		}
		if err := e.append(f.Type, inner, true); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) appendInteger(t *Type, mem []byte) {
	switch format := e.surveys.numberFormat(t); format {
	case "s":
		e.data = append(e.data, textData(decimal(mem, t.Kind == Int))...)
	default:
		size, _ := strconv.Atoi(format[2:])
		e.data = bigEndian(e.data, uint64(littleEndian(mem, t.Kind == Int)), size)
	}
}

// appendFloat supports the IEEE formats with four and eight bytes, and the x86 format of long double,
// which has ten.
func (e *encoder) appendFloat(t *Type, mem []byte) error {
	switch {
	case t.Size == 4 || t.Size == 8:
		e.data = bigEndian(e.data, uint64(littleEndian(mem, false)), t.Size)
	case !t.isExtended():
		return fmt.Errorf("a floating-point number of %d bytes", t.Size)
	case e.surveys.isLarge(t):
		e.data = append(e.data, textData(extendedText(extendedParts(mem)))...)
	default:
		e.data = binary.BigEndian.AppendUint64(e.data, math.Float64bits(extended(extendedParts(mem))))
	}
	return nil
}

// isExtended reports whether a floating-point type has x86's format of ten bytes.
func (t *Type) isExtended() bool { return t.Size == 12 || t.Size == 16 }

// extendedParts returns fraction and exponent of a number in x86's format of ten bytes.
func extendedParts(mem []byte) (fraction uint64, exponent uint16) {
	return binary.LittleEndian.Uint64(mem), binary.LittleEndian.Uint16(mem[8:])
}

// The first byte of a pointer's data.
const (
	pointerNull   = 0 // nothing follows
	pointerNormal = 1
)

func appendAddress(b []byte, addr uint64, size int) []byte {
	if addr == 0 {
		return append(b, pointerNull)
	}
	return bigEndian(append(b, pointerNormal), addr, size)
}
