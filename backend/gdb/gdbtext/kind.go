// What the elements of an array are in memory.

package gdbtext

import (
	"runtime"
	"slices"
	"strings"

	"sdm/protocol/pattern"
)

// Kind is how the bytes of an element are read.
type Kind uint8

const (
	Opaque     Kind = iota // structures, pointers, unknown: equality of bytes does not decide equality
	Characters             // also enumeration constants and complex numbers: no statistics
	Signed
	Unsigned
	Floating
)

var (
	// The element of a class of the C++ library: "std::vector<double, ...".
	elementC = pattern.New(`^(?:const |class |struct )*std::\w+<([a-z_0-9 ]+)[,>]`)
	// "enum Color : unsigned int {RED, BLUE} [300]", "complex double [2]", "complex(kind=8) (5)"
	constants = pattern.New(`^(?:const |volatile )*(?:enum [^*]*\} ?(?:const )?\[|complex (?:float|double) \[|complex\(kind=[48]\)[^*]*\()`)
	// "integer(kind=4)", "real(kind=8), allocatable"
	elementFortran = pattern.New(`^(integer|real|logical|character)(?:\(kind=[0-9]+\)|\*[0-9]+)?(?:,| |$)`)
)

// KindOf returns the kind of the elements of an array, given its type as ptype prints it.
func KindOf(text string) Kind {
	if found := elementC.FindStringSubmatch(text); found != nil {
		text = found[1]
	}
	if found := elementFortran.FindStringSubmatch(text); found != nil {
		return map[string]Kind{"integer": Signed, "real": Floating, "logical": Unsigned, "character": Characters}[found[1]]
	}
	if constants.MatchString(text) {
		return Characters
	}
	head, _, _ := strings.Cut(text, "[")
	words := strings.Fields(strings.TrimRight(strings.TrimSpace(head), "(&) "))
	is := func(word string) bool { return slices.Contains(words, word) }
	switch {
	case len(words) == 0 || slices.ContainsFunc(words,
		func(word string) bool { return !slices.Contains(numberWords, word) }):
		return Opaque
	case is("wchar_t") || is("char8_t") || is("char16_t") || is("char32_t"):
		return Characters
	case is("double") || is("float"):
		return Floating
	case is("unsigned") || is("bool") || is("_Bool"):
		return Unsigned
	}
	return Signed
}

// numberWords are the words in the names of numeric and character types of C.
var numberWords = []string{
	"const", "volatile", "unsigned", "signed", "char", "short", "int", "long", "__int128", "float", "double", "bool", "_Bool",
	"wchar_t", "char8_t", "char16_t", "char32_t",
}

// Countable reports whether statistics can be computed of elements of a size, in bytes.
func (k Kind) Countable(size int) bool {
	switch k {
	case Signed, Unsigned:
		return size == 1 || size == 2 || size == 4 || size == 8
	case Floating:
		return size == 4 || size == 8 || size == 16 && runtime.GOARCH == "amd64"
	}
	return false
}

// Comparable reports whether elements of a size are equal if and only if their bytes are: a long double
// has padding.
func (k Kind) Comparable(size int) bool { return k != Opaque && (k != Floating || size < 16) }
