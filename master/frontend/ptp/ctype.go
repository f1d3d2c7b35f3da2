// Types as gdb prints them, with the offsets of members.

package ptp

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/ptp"
)

// errType is the error for types that are not supported: C++ classes with methods, Fortran,
// vectors. Values of such types are sent as text.
var errType = errors.New("the type is not supported")

// resolver returns the type of a name within another type; size is in bytes.
type resolver func(name string, size int) (*ptp.Type, error)

// parseType reads the output of ptype/o for a type of C; size is that of the type, in bytes.
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
	if err == nil && len(p.tokens) > 0 {
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

// plainType returns the type that whatis has named if the name is sufficient: that of an arithmetic type
// of C, or of a pointer. Its values are read from the text that gdb shows. Otherwise it returns nil.
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
func isPointer(text string) bool {
	words := strings.Fields(text)
	for len(words) > 0 && isQualifier[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && strings.HasSuffix(words[len(words)-1], "*")
}

// isQualifier are the qualifiers of types, as gdb writes them for C and C++.
var isQualifier = map[string]bool{"const": true, "volatile": true, "restrict": true, "__restrict__": true, "_Atomic": true}

// place is the location of a member, from the comment before it.
type place struct{ offset, bit, size int }

// token is a word, a sign, or the place of the following member.
type token struct {
	text  string
	place *place
}

var (
	placeComment = regexp.MustCompile(`^\s*/\*\s*(?:(\d+)(?::\s*(\d+))?\s*\|)?\s*(\d+)\s*\*/`)
	comment      = regexp.MustCompile(`/\*[^*]*\*/`)
	lexemes      = regexp.MustCompile(`[A-Za-z_$][A-Za-z_0-9$]*|-?\d+|::|\S`)
)

func tokenize(text string) []token {
	var out []token
	for line := range strings.Lines(text) {
		line, _ = strings.CutPrefix(line, "type = ")
		if m := placeComment.FindStringSubmatch(line); m != nil {
			pl := &place{offset: -1} // a member of a union begins with it
			if m[1] != "" {
				pl.offset, _ = strconv.Atoi(m[1])
			}
			pl.bit, _ = strconv.Atoi(m[2])
			pl.size, _ = strconv.Atoi(m[3])
			out = append(out, token{place: pl})
		}
		line = comment.ReplaceAllString(line, " ")
		line, _ = strings.CutPrefix(strings.TrimSpace(line), "type = ")
		for _, w := range lexemes.FindAllString(line, -1) {
			out = append(out, token{text: w})
		}
	}
	return out
}

// typeParser reads tokens from the front.
type typeParser struct {
	tokens  []token
	resolve resolver
	depth   int
}

// mostNested bounds structures within structures.
const mostNested = 32

func (p *typeParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0].text
}

func (p *typeParser) take(text string) bool {
	if p.peek() != text || text == "" {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *typeParser) word() (string, bool) {
	w := p.peek()
	if w == "" || !isWord(w) {
		return "", false
	}
	p.tokens = p.tokens[1:]
	return w, true
}

func isWord(w string) bool {
	c := w[0]
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (p *typeParser) qualifiers() {
	for isQualifier[p.peek()] {
		p.tokens = p.tokens[1:]
	}
}

// base reads the part of a type before the name of a variable. The result may lack a size.
func (p *typeParser) base(at place) (*ptp.Type, error) {
	p.qualifiers()
	switch word, _ := p.word(); word {
	case "":
		return nil, errType
	case "struct":
		return p.structure(ptp.Struct, "struct", at)
	case "union":
		return p.structure(ptp.Union, "union", at)
	case "enum":
		return p.enumeration()
	default:
		return p.scalar(word)
	}
}

// named returns a type that has only its name so far.
func named(name string) *ptp.Type { return &ptp.Type{Name: name} }

// scalarWords are the words of C's arithmetic types.
var scalarWords = map[string]bool{
	"char": true, "short": true, "int": true, "long": true, "signed": true, "unsigned": true,
	"float": true, "double": true, "_Bool": true, "bool": true, "void": true, "__int128": true,
}

func (p *typeParser) scalar(first string) (*ptp.Type, error) {
	if !scalarWords[first] {
		if first == "class" || p.peek() == "::" || p.peek() == "<" {
			return nil, errType
		}
		if first == "complex" {
			w, _ := p.word()
			return p.complex(w)
		}
		p.qualifiers()
		return named(first), nil
	}
	has := map[string]bool{first: true}
	for p.qualifiers(); scalarWords[p.peek()]; p.qualifiers() {
		w, _ := p.word()
		has[w] = true
	}
	switch {
	case has["void"]:
		return &ptp.Type{Kind: ptp.Pointer}, nil // valid only after a star, which discards it
	case has["float"] || has["double"]:
		return &ptp.Type{Kind: ptp.Float}, nil
	case has["char"] && !has["signed"]: // int8_t is a number
		return &ptp.Type{Kind: ptp.Char}, nil
	case has["_Bool"] || has["bool"]:
		return &ptp.Type{Kind: ptp.Bool}, nil
	case has["unsigned"]:
		return &ptp.Type{Kind: ptp.Unsigned}, nil
	}
	return &ptp.Type{Kind: ptp.Int}, nil
}

// complex is a complex number of C, from the words after "complex" on: a structure of two numbers,
// whose sizes element sets.
func (p *typeParser) complex(first string) (*ptp.Type, error) {
	part, err := p.scalar(first)
	if err != nil || part.Kind != ptp.Float {
		return nil, errType
	}
	return &ptp.Type{Kind: ptp.Struct, Name: complexName, Fields: []ptp.Field{{Name: "re", Type: part}, {Name: "im", Type: part}}}, nil
}

const complexName = "complex"

// complexOf returns a complex number of a size in bytes.
func complexOf(t ptp.Type, size int) *ptp.Type {
	part := *t.Fields[0].Type
	part.Size = size / 2
	t.Size = size
	t.Fields = []ptp.Field{{Name: "re", Type: &part}, {Name: "im", Type: &part, Offset: size / 2}}
	return &t
}

// structure reads a struct or union, from its name on.
func (p *typeParser) structure(kind ptp.Kind, word string, at place) (*ptp.Type, error) {
	name, _ := p.word()
	if !p.take("{") {
		if name == "" || p.peek() == ":" || p.peek() == "<" || p.peek() == "::" {
			return nil, errType
		}
		return named(word + " " + name), nil
	}
	if p.depth++; p.depth > mostNested {
		return nil, errType
	}
	defer func() { p.depth-- }()
	t := &ptp.Type{Kind: kind, Name: name}
	for !p.take("}") {
		f, err := p.field(at.offset)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, f)
	}
	return t, nil
}

// field reads a member of a structure that begins at start.
func (p *typeParser) field(start int) (ptp.Field, error) {
	if len(p.tokens) == 0 || p.tokens[0].place == nil {
		return ptp.Field{}, errType // a static member, a function, or a label of C++
	}
	at := *p.tokens[0].place
	p.tokens = p.tokens[1:]
	if at.offset < 0 {
		at.offset = start
	}
	base, err := p.base(at)
	if err != nil {
		return ptp.Field{}, err
	}
	name, t, err := p.declarator(base, at.size)
	f := ptp.Field{Name: name, Type: t, Offset: at.offset - start}
	if err == nil && p.take(":") {
		f.Bit = at.bit
		f.Width, err = strconv.Atoi(p.peek())
		p.take(p.peek())
	}
	if err == nil && (!p.take(";") || name == "" && t.Kind != ptp.Struct && t.Kind != ptp.Union || f.Offset < 0) {
		err = errType
	}
	return f, err
}

func (p *typeParser) enumeration() (*ptp.Type, error) {
	name, _ := p.word()
	if !p.take("{") {
		if name == "" || p.peek() == "::" {
			return nil, errType
		}
		return named("enum " + name), nil
	}
	t := &ptp.Type{Kind: ptp.Enum, Name: name}
	next := int64(0)
	for !p.take("}") {
		constant, ok := p.word()
		if !ok {
			return nil, errType // gdb leaves out long lists, and prints sets of flags otherwise
		}
		if p.take("=") {
			v, err := strconv.ParseInt(p.peek(), 10, 64)
			if err != nil {
				return nil, errType
			}
			p.take(p.peek())
			next = v
		}
		t.Values = append(t.Values, ptp.Constant{Name: constant, Value: next})
		next++
		p.take(",")
	}
	return t, nil
}
