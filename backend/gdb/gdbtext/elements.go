// Values of arrays: counting and truncating their elements.

package gdbtext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// IsTruncated reports whether gdb has left out elements at the end of a value.
func IsTruncated(value string) bool {
	return strings.HasSuffix(strings.TrimRight(value, "})"), "...")
}

// Truncate shortens a value to at most so many bytes, marked by "...". It ends after an element, if the
// first one is short enough, else after a character. shown is the number of elements of an array that
// are left.
func Truncate(value string, most int) (text string, shown int) {
	if len(value) <= most {
		return value, elementsIn(value)
	}
	open := strings.IndexAny(value, "{(")
	if open < 0 || open > maxHead {
		return TruncateText(value, most), 0
	}
	head, tail := value[:open+1], "...}"
	if value[open] == '(' {
		tail = ", ...)"
	}
	var kept []string
	room := most - len(head) - len(tail)
	for _, piece := range pieces(value[open+1:]) {
		if room -= len(piece) + 1; room < 0 {
			if part := memberPart(piece, room+len(piece)); part != "" {
				kept = append(kept, part)
			}
			break
		}
		kept = append(kept, piece)
	}
	if len(kept) == 0 {
		return TruncateText(value, most), 0
	}
	text = head + strings.Join(kept, ",") + tail
	return text, elementsIn(text)
}

// memberPart truncates a member of a structure that is an array or a structure; "": it is neither, or
// there is no room for it.
func memberPart(piece string, room int) string {
	open := strings.IndexAny(piece, "{(")
	if open < 0 || room < maxHead || !strings.Contains(piece[:open], " = ") {
		return ""
	}
	text, _ := Truncate(piece, room)
	return text
}

// maxHead bounds the text before the elements of a container, in bytes.
const maxHead = 200

// TruncateText shortens a text to at most so many bytes, between two characters, and appends "...".
func TruncateText(value string, most int) string {
	if len(value) <= most {
		return value
	}
	for most > 0 && !utf8.RuneStart(value[most]) {
		most--
	}
	return value[:most] + "..."
}

var incompleteEnd = pattern.New(`(?:, )?<incomplete sequence ((?:\\[0-7]{3})+)>$`)

// WholeCharacters removes the bytes at the end of a text that are the beginning of a character, unless
// nothing else is there. cut is the number of bytes removed.
func WholeCharacters(value string) (text string, cut int) {
	found := incompleteEnd.FindStringSubmatchIndex(value)
	if found == nil || found[0] == 0 {
		return value, 0
	}
	return value[:found[0]], (found[3] - found[2]) / len(`\000`)
}

// elementsIn counts the elements in a value of an array, including elements of its rows and repeated
// ones.
//
//	{{1, 2}, {3, 4 <repeats 9 times>...}...}
//	"abc", 'x' <repeats 30 times>, "\001"...
//	(1, 2, <repeats 5 times>, 7, ...)
//	std::vector of length 9, capacity 9 = {{x = 1, y = 2}, {x = 3, y = 4}...}
func elementsIn(value string) int { return elementsWithin(value, maxDims) }

// maxDims bounds the nesting of rows.
const maxDims = 8

func elementsWithin(value string, depth int) int {
	if i := strings.Index(value, " = {"); i >= 0 && strings.HasPrefix(value, "std::") {
		value = value[i+3:]
	}
	if rest, ok := strings.CutPrefix(value, "{_M_elems = "); ok { // std::array
		value = strings.TrimSuffix(rest, "}")
	}
	value = strings.TrimSuffix(value, "...")
	if value == "" || value[0] != '{' && value[0] != '(' {
		return textElements(value)
	}
	n := 0
	var last int // number of elements of the previous piece
	for _, piece := range pieces(value[1:]) {
		piece = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(piece), "..."))
		row, times := Repeats(piece)
		switch {
		case row == "" && times > 1: // Fortran: the previous one is one of them
			n += last * (times - 1)
		case row == "":
		case depth > 1 && isRow(row):
			last = elementsWithin(row, depth-1)
			n += times * last
		default:
			last = 1
			n += times
		}
	}
	return n
}

// isRow reports whether an element is an array, not a structure or a complex number.
func isRow(element string) bool {
	if element[0] != '{' {
		return element[0] == '(' && !isComplex(element) && !strings.HasPrefix(element, "( ") // a derived type
	}
	name, _, named := strings.Cut(element[1:], " = ")
	return !named || strings.ContainsAny(name, `{,"'`)
}

// isComplex reports whether an element is a complex number: gdb prints "(1.5,-2)" without a blank.
func isComplex(element string) bool {
	return strings.Count(element, ",") == 1 && !strings.Contains(element, ", ")
}

// textHead matches the beginning of a string, or of a pointer to one.
var textHead = pattern.New(`^(?:0x[0-9a-f]+ (?:<[^<>"']*> )?)?(?:L|u8?|U)?["']`)

// IsText reports whether a value is a string, or a pointer to one.
func IsText(value string) bool { return textHead.MatchString(value) }

// pieces splits the elements between brackets at the commas that are in no brackets and no string. It
// drops what follows the closing bracket. The rows of a Fortran array are separated by blanks only.
func pieces(text string) []string {
	var all []string
	begin, depth := 0, 0
	for j, b := range protocol.Unquoted(text) {
		switch {
		case b == '{' || b == '(':
			if depth == 0 && strings.HasPrefix(text[begin:j], "(") {
				all, begin = append(all, text[begin:j]), j
			}
			depth++
		case b == '}' || b == ')':
			if depth == 0 {
				return append(all, text[begin:j])
			}
			depth--
		case b == ',' && depth == 0:
			all, begin = append(all, text[begin:j]), j+1
		}
	}
	return append(all, text[begin:])
}

// Repeats splits "0 <repeats 50 times>" into the element and its count, 1 if there is none.
func Repeats(element string) (of string, times int) {
	of, text, ok := strings.Cut(element, "<repeats ")
	if n, err := strconv.Atoi(strings.TrimSuffix(text, " times>")); ok && err == nil {
		return strings.TrimSpace(of), n
	}
	return element, 1
}

// textElements counts the elements of a string as gdb prints it: bytes, or characters of a wide string
// (L"", u"", U"").
func textElements(value string) int {
	n := 0
	for _, piece := range pieces(value) {
		one, times := Repeats(strings.TrimSpace(piece))
		i := strings.IndexAny(one, `"'`)
		if i < 0 {
			continue
		}
		wide := i > 0 && strings.IndexByte("LuU", one[i-1]) >= 0
		n += times * charactersIn(one[i+1:], one[i], wide)
	}
	return n
}

// charactersIn counts the elements before the closing quote.
func charactersIn(text string, quote byte, wide bool) int {
	n := 0
	for i := 0; i < len(text) && text[i] != quote; n++ {
		switch {
		case text[i] == '\\' && octalDigits(text[i+1:]) > 0:
			i += 1 + octalDigits(text[i+1:])
		case text[i] == '\\':
			i += 2
		case wide:
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		default:
			i++
		}
	}
	return n
}

func octalDigits(text string) int {
	n := 0
	for n < len(text) && n < 3 && text[n] >= '0' && text[n] <= '7' {
		n++
	}
	return n
}

// PageSize is the number of elements that gdb prints of an array: its setting "print elements", which
// every gdb is started with.
const PageSize = 200

// WithMore marks a value of an array as truncated.
func WithMore(value string) string {
	if rest, ok := strings.CutSuffix(value, ")"); ok {
		return rest + ", ...)"
	}
	if rest, ok := strings.CutSuffix(value, "}"); ok {
		return rest + "...}"
	}
	return value + "..."
}
