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

// errType is the error for types that are not supported: classes with bases, those of C++'s library, which
// gdb prints for people, vectors. Values of such types are sent as text.
var errType = errors.New("the type is not supported")

// resolver returns the type of a name within another type; size is in bytes.
type resolver func(name string, size int) (*ptp.Type, error)

// parseType reads the output of ptype/or for a type of C, or for one of C++ that is plain data; size is that
// of the type, in bytes.
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
	if err == nil && (len(p.tokens) > 0 || strings.HasSuffix(strings.TrimSpace(text), "&")) { // size is that of the target
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
// One to a member of a class (int C::*) is none: it is an offset.
func isPointer(text string) bool {
	words := strings.Fields(text)
	for len(words) > 0 && isQualifier[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && strings.HasSuffix(words[len(words)-1], "*") && !strings.HasSuffix(words[len(words)-1], "::*")
}

// isQualifier are the qualifiers of types, as gdb writes them for C and C++.
var isQualifier = map[string]bool{"const": true, "volatile": true, "restrict": true, "__restrict__": true, "_Atomic": true}

// place is the location of a member, from the comment before it.
type place struct{ offset, bit, size int }

// token is a word, a sign, or the place of the following member.
type token struct {
	text  string
	space bool // blanks are before it
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
		for _, at := range lexemes.FindAllStringIndex(line, -1) {
			out = append(out, token{text: line[at[0]:at[1]], space: at[0] > 0 && line[at[0]-1] == ' '})
		}
	}
	return out
}

// typeParser reads tokens from the front.
type typeParser struct {
	tokens  []token
	resolve resolver
	depth   int
	stale   int // see inner
}

// maxNested bounds structures within structures.
const maxNested = 32

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
	if !isWord(w) {
		return "", false
	}
	p.tokens = p.tokens[1:]
	return w, true
}

func isWord(w string) bool {
	if w == "" {
		return false
	}
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

// named returns a type that has only its name so far.
func named(name string) *ptp.Type { return &ptp.Type{Name: name} }

// scalarWords are the words of C's arithmetic types.
var scalarWords = map[string]bool{
	"char": true, "short": true, "int": true, "long": true, "signed": true, "unsigned": true,
	"float": true, "double": true, "_Bool": true, "bool": true, "void": true, "__int128": true,
}

func (p *typeParser) scalar(first string) (*ptp.Type, error) {
	if !scalarWords[first] {
		if first == "complex" {
			w, _ := p.word()
			return p.complex(w)
		}
		name, err := p.qualified(first)
		p.qualifiers()
		return named(name), err
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
	return &ptp.Type{Kind: ptp.Struct, Name: complexName,
		Fields: []ptp.Field{{Name: "re", Type: part}, {Name: "im", Type: part}}}, nil
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

// qualified reads the rest of a name of C++: namespaces and arguments of templates, as gdb writes them.
func (p *typeParser) qualified(name string) (string, error) {
	for {
		switch {
		case name == "" && p.peek() == "(" || p.peek() == "::":
			if p.take("::") {
				name += "::"
			}
			if p.peek() == "(" { // anonymous namespace
				name += p.bracketed("(", ")")
				continue
			}
			w, ok := p.word()
			if !ok {
				return "", errType
			}
			name += w
		case p.peek() == "<" && name != "":
			name += p.bracketed("<", ">")
		default:
			if isOfLibrary(name) {
				return "", errType
			}
			return name, nil
		}
	}
}

// isOfLibrary reports whether a type is one of C++'s library.
func isOfLibrary(name string) bool { return strings.HasPrefix(name, "std::") }

// bracketed takes the text from an opening bracket up to its end, or all that is left.
func (p *typeParser) bracketed(from, to string) string {
	var b strings.Builder
	open, round := 0, 0
	for i, t := range p.tokens {
		if t.space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		switch {
		case t.text == from && round == 0:
			open++
		case t.text == to && round == 0:
			open--
		case t.text == "(": // (a > b) as the argument of a template
			round++
		case t.text == ")":
			round--
		}
		if open == 0 {
			p.tokens = p.tokens[i+1:]
			return b.String()
		}
	}
	p.tokens = nil
	return b.String()
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
// that of the member. For elements of an array, and for what a pointer points to, gdb (10 to 18) adds the
// offset of the last member before that is a structure, 0 if there is none.
func (p *typeParser) inner(at int) int {
	_, after := p.upto("}")
	if _, _, _, more := p.member(after); more && p.depth > 1 {
		return p.stale
	}
	return at
}

// upto divides the tokens at a closing sign, which both parts are without; brackets before it are closed.
func (p *typeParser) upto(sign string) (before, after []token) {
	open := 0
	for i, t := range p.tokens {
		if open == 0 && t.text == sign {
			return p.tokens[:i], p.tokens[i+1:]
		}
		switch t.text {
		case "{", "(", "[":
			open++
		case "}", ")", "]":
			open--
		}
	}
	return p.tokens, nil
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

func (p *typeParser) enumeration() (*ptp.Type, error) {
	if !p.take("class") {
		p.take("struct")
	}
	name, ok := p.word()
	if ok || p.peek() == "(" {
		var err error
		if name, err = p.qualified(name); err != nil {
			return nil, err
		}
	}
	for p.peek() == ":" || scalarWords[p.peek()] { // the type of its values
		p.tokens = p.tokens[1:]
	}
	if !p.take("{") {
		if name == "" {
			return nil, errType
		}
		return named("enum " + name), nil
	}
	t := &ptp.Type{Kind: ptp.Enum, Name: name}
	next := int64(0)
	for !p.take("}") {
		first, _ := p.word()
		constant, err := p.qualified(first)
		if err != nil || constant == "" {
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
