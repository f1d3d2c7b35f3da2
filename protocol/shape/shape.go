// Package shape parts the text of a value, as gdb writes it, into what values of one shape have
// in common and what they may differ in.
//
//	{x = 5, p = 0x404040 <buf+16>, w = {0.5, 1.5}}
//
// has the leaves 5, 0x404040 <buf+16>, 0.5 and 1.5, and the template that is the text with a
// mark for each of them. Any text has a shape; a text that the grammar does not foresee has fewer
// leaves, never other bytes.
package shape

import (
	"errors"
	"strings"
)

// Bounds of what is parted. Longer texts have no shape.
const (
	// MaxText bounds a text, and a template, in bytes.
	MaxText = 64 << 10
	// MaxLeaves bounds the leaves of a text.
	MaxLeaves = 4096
	// maxDepth bounds how deep lists stand in one another.
	maxDepth = 100
)

// The marks in a template. gdb writes none of these bytes: it escapes them.
const (
	leafMark    = '\x00'
	openMark    = '\x01' // behind the bracket that opens a list
	closeMark   = '\x02' // in front of the one that closes it
	elementMark = '\x03' // in front of the comma between two elements
	marks       = "\x00\x01\x02\x03"
)

// Of parts a text. Equal elements that gdb has counted ("0 <repeats 20 times>") are leaves each
// as long as there is room, so that arrays have one shape whatever their elements are. It tells
// whether the text has a shape; the leaves are parts of the text.
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

// Leaves counts the leaves of a template; an error tells that it is none.
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
			return 0, errors.New("a template has no form")
		}
	}
	if depth != 0 {
		return 0, errors.New("a template has no form")
	}
	return n, nil
}

// Single tells a template that is one leaf and no text.
func Single(template string) bool { return template == string(leafMark) }

// Flat tells whether a template has no lists.
func Flat(template string) bool { return strings.IndexByte(template, openMark) < 0 }

// Text gives the text of a template with its leaves, one for each mark, where each element stands
// for itself, however many are equal.
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
