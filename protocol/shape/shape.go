// Package shape splits the text of a value, as gdb prints it, into a template,
// which values of the same shape have in common, and leaves, in which they may
// differ.
//
//	{x = 5, p = 0x404040 <buf+16>, w = {0.5, 1.5}}
//
// has the leaves 5, 0x404040 <buf+16>, 0.5 and 1.5; the template is the text with a
// mark for each of them. Any text has a shape: a text that the grammar does not
// cover has fewer leaves, but template and leaves always give the same text.
package shape

import (
	"errors"
	"strings"
)

// Limits. Longer texts have no shape.
const (
	// MaxText bounds a text, and a template, in bytes.
	MaxText = 256 << 10
	// MaxLeaves bounds the leaves of a text: an object of a simulation may have a
	// hundred vectors, and gdb shows 200 elements of each.
	MaxLeaves = 32 << 10
	// maxRepeated bounds the leaves of one count of equal elements.
	maxRepeated = 4096
	// maxDepth bounds the nesting of lists.
	maxDepth = 100
)

// The marks in a template. gdb prints none of these bytes unescaped.
const (
	leafMark    = '\x00'
	openMark    = '\x01' // after the opening bracket of a list
	closeMark   = '\x02' // before the closing bracket
	elementMark = '\x03' // before the comma between two elements
	marks       = "\x00\x01\x02\x03"
)

// Of splits a text. Equal elements that gdb has counted ("0 <repeats 20 times>")
// are separate leaves within the limits, so that the shape of an array does not
// depend on its elements. ok reports whether the text has a shape; the leaves are
// substrings of the text.
func Of(text string) (template string, leaves []string, ok bool) {
	if len(text) > MaxText || strings.ContainsAny(text, marks) {
		return "", nil, false
	}
	l := lexer{text: text, expand: true}
	if !l.run() && l.full {
		l = lexer{text: text}
		l.run()
	}
	if l.bad || l.full {
		return "", nil, false
	}
	return string(l.out), l.leaves, true
}

// Leaves returns the number of leaves of a template, or an error if the template is
// invalid.
func Leaves(template string) (int, error) {
	if len(template) > MaxText {
		return 0, errors.New("a template is too long")
	}
	n, depth := 0, 0
	for i := range len(template) {
		switch template[i] {
		case leafMark:
			n++
		case openMark:
			depth++
		case closeMark:
			depth--
		}
		if depth < 0 || depth > maxDepth || n > MaxLeaves {
			return 0, errors.New("a template is malformed")
		}
	}
	if depth != 0 {
		return 0, errors.New("a template is malformed")
	}
	return n, nil
}

// Single reports whether a template consists of one leaf and no text.
func Single(template string) bool { return template == string(leafMark) }

// Flat reports whether a template has no lists.
func Flat(template string) bool { return strings.IndexByte(template, openMark) < 0 }

// Text returns the text of a template with its leaves, one for each mark. All
// elements are written separately, even equal ones.
func Text(template string, leaves []string) string {
	var b strings.Builder
	for i := range len(template) {
		switch c := template[i]; c {
		case leafMark:
			b.WriteString(leaves[0])
			leaves = leaves[1:]
		case openMark, closeMark, elementMark:
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
