// Values of arrays as gdb writes them: how many elements stand there, and the first of them.

package gdb

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
)

// isCut tells whether gdb has left elements out at the end.
func isCut(value string) bool {
	return strings.HasSuffix(strings.TrimRight(value, "})"), "...")
}

// shortened gives a value in at most so many bytes, but for the first of its elements: it ends behind one, or,
// where it has none that are short enough, anywhere. shown is how many elements of an array that are.
func shortened(value string, most int) (text string, shown int) {
	if len(value) <= most {
		return value, elementsIn(value)
	}
	open := strings.IndexAny(value, "{(")
	if open < 0 || open > mostHead {
		return cutText(value, most), 0
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
		return cutText(value, most), 0
	}
	text = head + strings.Join(kept, ",") + tail
	return text, elementsIn(text)
}

// memberPart shortens a member of a structure that is an array or a structure; "" where it is none, or there is no room for it.
func memberPart(piece string, room int) string {
	open := strings.IndexAny(piece, "{(")
	if open < 0 || room < mostHead || !strings.Contains(piece[:open], " = ") {
		return ""
	}
	text, _ := shortened(piece, room)
	return text
}

// mostHead bounds what stands before the elements of a container, in bytes.
const mostHead = 200

// cutText ends a text with "...", not within a character.
func cutText(value string, most int) string {
	if len(value) <= most {
		return value
	}
	for most > 0 && !utf8.RuneStart(value[most]) {
		most--
	}
	return value[:most] + "..."
}

var incompleteEnd = regexp.MustCompile(`(?:, )?<incomplete sequence ((?:\\[0-7]{3})+)>$`)

// wholeCharacters takes off the bytes at the end of a text that begin a character of which the rest is on the next page, unless
// there are no others. cut is how many these are.
func wholeCharacters(value string) (text string, cut int) {
	found := incompleteEnd.FindStringSubmatchIndex(value)
	if found == nil || found[0] == 0 {
		return value, 0
	}
	return value[:found[0]], (found[3] - found[2]) / len(`\000`)
}

// elementsIn counts the elements of an array as gdb prints it, those of its rows
// and those that repeat included.
//
//	{{1, 2}, {3, 4 <repeats 9 times>...}...}
//	"abc", 'x' <repeats 30 times>, "\001"...
//	(1, 2, <repeats 5 times>, 7, ...)
//	std::vector of length 9, capacity 9 = {{x = 1, y = 2}, {x = 3, y = 4}...}
func elementsIn(value string) int { return elementsWithin(value, mostDims) }

// mostDims bounds how deep rows may lie in rows.
const mostDims = 8

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
	var last int // how many elements the piece before was
	for _, piece := range pieces(value[1:]) {
		piece = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(piece), "..."))
		row, times := repeats(piece)
		switch {
		case row == "" && times > 1: // Fortran: the one before is one of them
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

// isRow tells an array within an array from a structure or a complex number.
func isRow(element string) bool {
	if element[0] != '{' {
		return element[0] == '(' && !isComplex(element) && !strings.HasPrefix(element, "( ") // a derived type
	}
	name, _, named := strings.Cut(element[1:], " = ")
	return !named || strings.ContainsAny(name, `{,"'`)
}

// isComplex tells "(1.5,-2)", which gdb writes without a blank, from a row.
func isComplex(element string) bool {
	return strings.Count(element, ",") == 1 && !strings.Contains(element, ", ")
}

// textHead is how a text begins, or a pointer to one.
var textHead = regexp.MustCompile(`^(?:0x[0-9a-f]+ (?:<[^<>"']*> )?)?(?:L|u8?|U)?["']`)

// isText tells a text, or a pointer to one, from other values.
func isText(value string) bool { return textHead.MatchString(value) }

// pieces parts the elements between brackets, at the commas that stand in none
// and in no text. What follows the closing bracket is dropped. The rows of a
// Fortran array are parted by blanks alone.
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

// repeats parts "0 <repeats 50 times>".
func repeats(element string) (of string, times int) {
	of, text, ok := strings.Cut(element, "<repeats ")
	if n, err := strconv.Atoi(strings.TrimSuffix(text, " times>")); ok && err == nil {
		return strings.TrimSpace(of), n
	}
	return element, 1
}

// textElements counts the elements of a text as gdb prints it. They are bytes,
// but for a wide text (L"", u"", U""), whose elements are characters.
func textElements(value string) int {
	n := 0
	for _, piece := range pieces(value) {
		one, times := repeats(strings.TrimSpace(piece))
		i := strings.IndexAny(one, `"'`)
		if i < 0 {
			continue
		}
		wide := i > 0 && strings.IndexByte("LuU", one[i-1]) >= 0
		n += times * charactersIn(one[i+1:], one[i], wide)
	}
	return n
}

// charactersIn counts what stands before the closing quote.
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
