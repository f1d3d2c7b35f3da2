// Types as gdb prints them, with the offsets of members.

package ptp

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/ptp"
)

// errType is the error for types that are not supported: classes with bases, classes of C++'s library,
// which gdb prints for people, vectors. Values of such types are sent as text.
var errType = errors.New("the type is not supported")

// resolver returns the type of a name within another type; size is in bytes.
type resolver func(name string, size int) (*ptp.Type, error)

// parseType reads the output of ptype/or for a type of C, or for one of C++ that is plain data; size is the
// size of the type, in bytes.
//
//	type = struct point {
//	/*      0      |       4 */    int x;
//	/*      8: 3   |       4 */    unsigned int flags : 5;
//	                               /* total size (bytes):   16 */
//	                             } [2]
func parseType(text string, size int, resolve resolver) (*ptp.Type, error) {
	p := &typeParser{tokens: tokenize(text), resolve: resolve}
	base, err := p.base(place{offset: 0, size: size})
	if err != nil {
		return nil, err
	}
	_, t, err := p.declarator(base, size)
	if err == nil && (len(p.tokens) > 0 || strings.HasSuffix(strings.TrimSpace(text), "&")) { // the target's size
		err = errType
	}
	return t, err
}

// plainSizes are the sizes of C's arithmetic types, in bytes, in the order in which their words decide.
// On machines where they are others, numbers are sent in more bytes than they have.
var plainSizes = []struct {
	word string
	size int
}{{"char", 1}, {"_Bool", 1}, {"bool", 1}, {"short", 2}, {"double", 8}, {"float", 4}, {"__int128", 16}, {"long", 8}, {"unsigned", 4}, {"int", 4}}

// plainType returns the type that whatis has named if the name is sufficient: the name of an arithmetic
// type of C, or of a pointer. Its values are read from the text that gdb shows. Otherwise it returns
// nil.
func plainType(whatis string) *ptp.Type {
	text := typeText(whatis)
	if strings.ContainsAny(text, "([<&:") || strings.Contains(text, "complex") {
		return nil
	}
	size := 8 // of a pointer
	if !isPointer(text) {
		size = 0
		for _, p := range plainSizes {
			if slices.Contains(strings.Fields(text), p.word) {
				size = p.size
				break
			}
		}
	}
	t, err := parseType(text, size, func(string, int) (*ptp.Type, error) { return nil, errType })
	if err != nil || t.Kind == ptp.Struct || t.Kind == ptp.Union || t.Kind == ptp.Enum || t.Kind == ptp.Array {
		return nil
	}
	return t
}

// isPointer reports whether a type is a pointer by its name, which qualifiers may follow: char * restrict.
// One to a member of a class (int C::*) is none: it is an offset.
func isPointer(text string) bool {
	words := strings.Fields(text)
	for len(words) > 0 && isQualifier[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && strings.HasSuffix(words[len(words)-1], "*") && !strings.HasSuffix(words[len(words)-1], "::*")
}

// base reads the part of a type before the name of a variable. The result may lack a size.
func (p *typeParser) base(at place) (*ptp.Type, error) {
	p.qualifiers()
	word, ok := p.word()
	switch {
	case !ok && p.peek() == "(": // (anonymous namespace)
	case !ok:
		return nil, errType
	}
	switch word {
	case "struct", "class":
		return p.structure(ptp.Struct, word, at)
	case "union":
		return p.structure(ptp.Union, word, at)
	case "enum":
		return p.enumeration()
	default:
		return p.scalar(word)
	}
}

// structure reads a struct, union or class, from its name on.
func (p *typeParser) structure(kind ptp.Kind, word string, at place) (*ptp.Type, error) {
	name, ok := p.word()
	if ok || p.peek() == "(" {
		var err error
		if name, err = p.qualified(name); err != nil {
			return nil, err
		}
	}
	if !p.take("{") {
		if name == "" || p.peek() == ":" {
			return nil, errType
		}
		return named(word + " " + name), nil
	}
	if p.depth++; p.depth > maxNested {
		return nil, errType
	}
	start, outer := p.inner(at.offset), p.stale
	p.stale = 0
	defer func() { p.depth--; p.stale = outer }()
	t := &ptp.Type{Kind: kind, Name: name}
	for !p.take("}") {
		switch {
		case len(p.tokens) == 0:
			return nil, errType
		case p.tokens[0].place == nil:
			if !p.noMember() {
				return nil, errType
			}
		default:
			f, err := p.field(start)
			if err != nil {
				return nil, err
			}
			t.Fields = append(t.Fields, f)
		}
	}
	return t, nil
}

// inner returns the offset that gdb prints for the beginning of a structure, after its opening brace; at is
// the offset of the member. For elements of an array, and for what a pointer points to, gdb (10 to 18) adds
// the offset of the last member before that is a structure, 0 if there is none.
func (p *typeParser) inner(at int) int {
	_, after := p.upto("}")
	if _, _, _, more := p.member(after); more && p.depth > 1 {
		return p.stale
	}
	return at
}

// member returns the name of a member, from all its tokens or from those behind its type; structure tells
// whether it is one whose members are printed, and more whether it is an array, a pointer or a reference.
func (p *typeParser) member(tokens []token) (name string, rest []token, structure, more bool) {
	before, rest := (&typeParser{tokens: tokens}).upto(";")
	if body := slices.IndexFunc(before, func(t token) bool { return t.text == "{" }); body >= 0 {
		structure = !slices.ContainsFunc(before[:body], func(t token) bool { return t.text == "enum" })
		_, before = (&typeParser{tokens: before[body+1:]}).upto("}")
	}
	for i, t := range before {
		next := ""
		if i+1 < len(before) {
			next = before[i+1].text
		}
		switch {
		case t.text == ":":
			return name, rest, structure, more
		case t.text == "*" || t.text == "&" || t.text == "[":
			more = true
		case isWord(t.text) && (next == "" || next == "[" || next == ":" || next == ")" && i > 0 && before[i-1].text == "*"):
			name = t.text
		}
	}
	return name, rest, structure, more
}

// noMember skips what is in a class of C++ and has no place: static members, labels, and the note that there
// are no members.
func (p *typeParser) noMember() bool {
	switch p.peek() {
	case "static":
		_, p.tokens = p.upto(";")
		return true
	case "<": // no data fields
		p.bracketed("<", ">")
		return true
	}
	_, ok := p.word()
	return ok && p.take(":")
}

// field reads a member of a structure that begins at start. One whose type is not supported is a structure
// without members: Eclipse asks for its value when it is expanded.
func (p *typeParser) field(start int) (ptp.Field, error) {
	at := *p.tokens[0].place
	p.tokens = p.tokens[1:]
	if at.offset < 0 {
		at.offset = start
	}
	name, rest, structure, more := p.member(p.tokens)
	f, err := p.supported(at)
	if err != nil {
		if rest == nil || name == "" {
			return f, errType
		}
		f = ptp.Field{Name: name, Type: &ptp.Type{Kind: ptp.Struct, Size: at.size}}
		p.tokens = rest
	}
	f.Offset = at.offset - start
	if f.Offset < 0 {
		return f, errType
	}
	if structure && !more {
		p.stale = at.offset
	}
	return f, nil
}

// supported reads a member, without its offset.
func (p *typeParser) supported(at place) (ptp.Field, error) {
	base, err := p.base(at)
	if err != nil {
		return ptp.Field{}, err
	}
	name, t, err := p.declarator(base, at.size)
	f := ptp.Field{Name: name, Type: t}
	if err == nil && p.take(":") {
		f.Bit = at.bit
		f.Width, err = strconv.Atoi(p.peek())
		p.take(p.peek())
	}
	if err == nil && (!p.take(";") || name == "" && t.Kind != ptp.Struct && t.Kind != ptp.Union) {
		err = errType
	}
	return f, err
}

// typeText removes gdb's prefix.
func typeText(text string) string {
	return strings.TrimPrefix(strings.TrimSpace(text), "type = ")
}
