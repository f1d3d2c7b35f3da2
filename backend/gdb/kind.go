// Elements of arrays as numbers in memory.

package gdb

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// kind is what the bytes of an element are.
type kind uint8

const (
	opaque     kind = iota // structures, pointers, what is not known: bytes need not tell whether two are equal
	characters             // of texts; also constants and complex numbers, of which there are no statistics
	signed
	unsigned
	floating
)

var (
	// The element of a class of the C++ library: "std::vector<double, ...".
	elementC = regexp.MustCompile(`^(?:const |class |struct )*std::\w+<([a-z_0-9 ]+)[,>]`)
	// "enum Color : unsigned int {RED, BLUE} [300]", "complex double [2]", "complex(kind=8) (5)"
	constants = regexp.MustCompile(`^(?:const |volatile )*(?:enum [^*]*\} ?(?:const )?\[|complex (?:float|double) \[|complex\(kind=[48]\)[^*]*\()`)
	// "integer(kind=4)", "real(kind=8), allocatable"
	elementFortran = regexp.MustCompile(`^(integer|real|logical|character)(?:\(kind=[0-9]+\)|\*[0-9]+)?(?:,| |$)`)
)

// kindOf tells what the elements of an array are, by its type as ptype gives it.
func kindOf(text string) kind {
	if found := elementC.FindStringSubmatch(text); found != nil {
		text = found[1]
	}
	if found := elementFortran.FindStringSubmatch(text); found != nil {
		return map[string]kind{"integer": signed, "real": floating, "logical": unsigned, "character": characters}[found[1]]
	}
	if constants.MatchString(text) {
		return characters
	}
	head, _, _ := strings.Cut(text, "[")
	words := strings.Fields(strings.TrimRight(strings.TrimSpace(head), "(&) "))
	is := func(word string) bool { return slices.Contains(words, word) }
	switch {
	case len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(numberWords, word) }):
		return opaque
	case is("wchar_t") || is("char8_t") || is("char16_t") || is("char32_t"):
		return characters
	case is("double") || is("float"):
		return floating
	case is("unsigned") || is("bool") || is("_Bool"):
		return unsigned
	}
	return signed
}

// numberWords are those of which the names of C's numbers and characters consist.
var numberWords = []string{
	"const", "volatile", "unsigned", "signed", "char", "short", "int", "long", "__int128", "float", "double", "bool", "_Bool",
	"wchar_t", "char8_t", "char16_t", "char32_t",
}

// countable tells whether statistics of elements of a size can be made.
func (k kind) countable(size int) bool {
	switch k {
	case signed, unsigned:
		return size == 1 || size == 2 || size == 4 || size == 8
	case floating:
		return size == 4 || size == 8 || size == 16 && runtime.GOARCH == "amd64"
	}
	return false
}

// comparable tells whether elements of a size are equal if and only if their bytes are: a long double has padding.
func (k kind) comparable(size int) bool { return k != opaque && (k != floating || size < 16) }
