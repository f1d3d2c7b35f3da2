// Decodes values as Eclipse PTP's Java code does.

package ptptest

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Show decodes a value in AIF as Eclipse PTP's Java code does, and returns what its view shows:
// "{age=36 pay=1000}", "[1 2]", "0x00005555555592a0 42". It shares no code with the encoder. An
// array within a structure or a union is shown as its bounds, "[0 - 8]": Eclipse asks for its
// elements on expansion. The error tells what Java throws: it ends a thread of Eclipse, which then
// hangs.
func Show(format, data string) (string, error) {
	return decode(format, data, func(d *decoder) string { return d.view(d.value(), true) })
}

// Expand returns how many children Java's view makes of the answer to the question that it asks to
// expand a value. The error tells what it throws.
func Expand(format, data string) (children int, err error) {
	_, err = decode(format, data, func(d *decoder) string {
		children = d.value().children()
		return ""
	})
	return children, err
}

// decode decodes a value, and does something with it.
func decode(format, data string, do func(*decoder) string) (text string, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case thrown:
			text, err = "", r
		default:
			panic(r)
		}
	}()
	b, err := hex.DecodeString(data)
	if err != nil {
		return "", err
	}
	return do(&decoder{format: format, data: b}), nil
}

// children is the number of children of an expanded value. Members of an unknown structure are unknown.
func (v decoded) children() int {
	switch v.kind {
	case '{', '(':
		return len(v.names)
	case '[':
		if v.unknown {
			throw("ClassCastException: an unknown array")
		}
		if v.count < 0 {
			throw("NegativeArraySizeException: %d", v.count)
		}
		return v.count
	case '^':
		if v.unknown || v.broken {
			throw("ClassCastException: a pointer that is unknown, or has no target")
		}
		if target := v.inner[0]; target.kind == '{' || target.kind == '(' {
			if target.unknown {
				throw("ClassCastException: an unknown target")
			}
			return len(target.names)
		}
	}
	return 1
}

// thrown is an exception of Java.
type thrown string

func (t thrown) Error() string { return string(t) }

func throw(format string, args ...any) { panic(thrown(fmt.Sprintf(format, args...))) }

// decoder has one format and one buffer with one cursor, as Java has.
type decoder struct {
	format string
	data   []byte
	at     int
}

// decoded is a value; text is the text of a scalar.
type decoded struct {
	kind    byte // the first character of its format
	unknown bool
	text    string
	names   []string // of members
	inner   []decoded
	count   int
	element string // format of the elements of an array
	broken  bool   // a null pointer to a structure
}

// value reads the next type from the format, and its value from the data.
func (d *decoder) value() decoded {
	v := decoded{unknown: d.at == len(d.data)}
	if d.format == "" {
		throw("the format is at its end")
	}
	v.kind = d.format[0]
	d.format = d.format[1:]
	switch v.kind {
	case 'i':
		d.skip(1)
		v.text = d.integer(d.number(), v.unknown)
	case 'f':
		v.text = d.float(d.number(), v.unknown)
	case 'c':
		v.text = d.char(v.unknown)
	case 'b':
		d.number()
		v.text = strconv.FormatBool(int8(d.byte(v.unknown)) > 0)
	case 's':
		v.text = d.text(v.unknown)
	case 'p':
		d.skip(1)
		d.take(d.number(), v.unknown)
		v.text = d.text(v.unknown)
	case 'a':
		v.text = fmt.Sprintf("0x%x", d.take(d.number(), v.unknown))
	case 'v':
		if d.number() == 0 {
			v.text = "(No value)"
		}
	case '<':
		v.text = d.enumeration(v.unknown)
	case '{':
		d.members(&v, "}")
	case '(':
		d.members(&v, ")")
	case '[':
		d.array(&v)
	case '^':
		d.pointer(&v)
	case '&':
		d.opaque()
	default: // an unknown type: the rest of the format is dropped
		d.format, v.text = "", "NOT SUPPORTED"
	}
	return v
}

// opaque takes the data up to a zero byte, and its format up to "/" and one type after each comma.
func (d *decoder) opaque() {
	for d.at < len(d.data) && d.data[d.at] != 0 {
		d.at++
	}
	d.at = min(d.at+1, len(d.data))
	d.upto("/")
	d.format = afterType(d.format)
}

func (d *decoder) skip(n int) {
	if len(d.format) < n {
		throw("the format is at its end")
	}
	d.format = d.format[n:]
}

// upto takes the format up to a character, which it discards.
func (d *decoder) upto(c string) string {
	text, rest, ok := strings.Cut(d.format, c)
	if !ok {
		throw("no %q in %q", c, d.format)
	}
	d.format = rest
	return text
}

// number reads a number of the format, which has 32 bits.
func (d *decoder) number() int {
	end := 0
	for end < len(d.format) && (d.format[end] >= '0' && d.format[end] <= '9' || end == 0 && d.format[0] == '-') {
		end++
	}
	n := parseInt(d.format[:end])
	d.format = d.format[end:]
	return n
}

// parseInt is Integer.parseInt.
func parseInt(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		throw("NumberFormatException: %q", text)
	}
	return int(n)
}

// take reads bytes; an unknown value has none.
func (d *decoder) take(n int, unknown bool) []byte {
	if unknown {
		return nil
	}
	if n < 0 || d.at+n > len(d.data) {
		throw("BufferUnderflowException: %d bytes at %d of %d", n, d.at, len(d.data))
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) byte(unknown bool) byte {
	if b := d.take(1, unknown); len(b) > 0 {
		return b[0]
	}
	return 0
}

func bigEndian(b []byte) int64 {
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	shift := 64 - 8*len(b)
	return int64(v) << shift >> shift
}

// integer is signed, whatever the format says; a size other than 2, 4 and 8 is text.
func (d *decoder) integer(size int, unknown bool) string {
	b := d.take(size, unknown)
	if unknown {
		return ""
	}
	if size != 2 && size != 4 && size != 8 {
		return string(b)
	}
	return strconv.FormatInt(bigEndian(b), 10)
}

func (d *decoder) float(size int, unknown bool) string {
	b := d.take(size, unknown)
	switch {
	case unknown:
		return ""
	case size == 4:
		return fmt.Sprint(math.Float32frombits(uint32(bigEndian(b))))
	case size == 8:
		return fmt.Sprint(math.Float64frombits(uint64(bigEndian(b))))
	}
	return string(b)
}

func (d *decoder) char(unknown bool) string {
	c := d.byte(unknown)
	if c >= 0x21 && c <= 0x7e {
		return "'" + string(rune(c)) + "'"
	}
	return strconv.Itoa(int(c))
}

// text has its length in front, in two bytes.
func (d *decoder) text(unknown bool) string {
	n := d.take(2, unknown)
	if unknown {
		return ""
	}
	return string(d.take(int(n[0])<<8|int(n[1]), false))
}

// enumeration shows the first constant with the value. Values of fewer than four bytes are 0, of
// more than four their high bytes.
func (d *decoder) enumeration(unknown bool) string {
	d.upto("|")
	var names []string
	var values []int
	for text := d.upto(">"); text != ""; {
		one, rest, _ := strings.Cut(text, ",")
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			throw("a constant without a value: %q", one)
		}
		names, values = append(names, name), append(values, parseInt(value))
		text = rest
	}
	if d.format == "" || d.format[0] != 'i' {
		throw("an enumeration of %q", d.format)
	}
	d.skip(2)
	size := d.number()
	b := d.take(size, unknown)
	v := 0
	if len(b) >= 4 {
		v = int(bigEndian(b[:4]))
	}
	if i := slices.Index(values, v); i >= 0 && !unknown {
		return names[i]
	}
	return ""
}

// members reads the members of a structure in four sections, or of a union, up to the closing
// character.
func (d *decoder) members(v *decoded, last string) {
	d.upto("|")
	for d.format != "" && d.format[:1] != last {
		if c := d.format[0]; c == ';' || c == ',' {
			d.skip(1)
			continue
		}
		v.names = append(v.names, d.upto("="))
		v.inner = append(v.inner, d.value())
	}
	d.skip(1)
}

// array does not read the elements: the view does.
func (d *decoder) array(v *decoded) {
	d.skip(1) // r
	d.number()
	d.skip(1)
	v.count = d.number()
	d.upto("]")
	rest := afterType(d.format)
	v.element = d.format[:len(d.format)-len(rest)]
	d.format = rest
}

// afterType returns what follows the first type of a format.
func afterType(format string) string {
	d := &decoder{format: format} // all values are unknown
	d.value()
	return d.format
}

// pointer has an address and a target if its first byte is 1. Else it has neither.
func (d *decoder) pointer(v *decoded) {
	d.skip(1)
	size := d.number()
	var addr []byte
	there := d.byte(v.unknown) == 1
	if there {
		addr = d.take(size, false)
	} else {
		addr = make([]byte, size)
	}
	v.text = fmt.Sprintf("0x%0*x", 2*size, addr)
	if there {
		v.inner = []decoded{d.value()}
		return
	}
	kind := d.format[:min(len(d.format), 1)]
	d.format = afterType(d.format)
	v.inner = []decoded{{kind: 'v', unknown: true}}
	v.broken = !v.unknown && strings.ContainsAny(kind, "{(")
}

// view shows a value. Elements of an array are read where the cursor stands now.
func (d *decoder) view(v decoded, outermost bool) string {
	switch v.kind {
	case '{', '(':
		if v.unknown {
			return "{...}"
		}
		return d.viewMembers(v)
	case '[':
		if v.unknown || !outermost {
			return fmt.Sprintf("[0 - %d]", v.count)
		}
		return d.viewElements(v)
	case '^':
		if v.unknown {
			throw("ClassCastException: an unknown pointer")
		}
		if v.broken {
			throw("ClassCastException: the target of a null pointer")
		}
		if target := v.inner[0]; target.kind != 'v' {
			return v.text + " " + d.view(target, outermost)
		}
		return v.text
	}
	if v.unknown && strings.ContainsRune("ifcsp", rune(v.kind)) {
		throw("ClassCastException: an unknown value of type %c", v.kind)
	}
	return v.text
}

// viewMembers shows the last one's value for all members of one name.
func (d *decoder) viewMembers(v decoded) string {
	var shown []string
	for _, name := range v.names {
		last := len(v.names) - 1
		for v.names[last] != name {
			last--
		}
		shown = append(shown, name+"="+d.view(v.inner[last], false))
	}
	return "{" + strings.Join(shown, " ") + "}"
}

func (d *decoder) viewElements(v decoded) string {
	if v.count < 0 {
		throw("NegativeArraySizeException: %d", v.count)
	}
	if v.count > 1<<20 {
		throw("OutOfMemoryError: %d elements", v.count)
	}
	var shown []string
	for range v.count {
		d.format = v.element
		shown = append(shown, d.view(d.value(), true))
	}
	return "[" + strings.Join(shown, " ") + "]"
}
