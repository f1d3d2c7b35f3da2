// The lexer of values.

package shape

import (
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

// lexer converts a text to a template and leaves, from left to right.
type lexer struct {
	text   string
	at     int
	out    []byte
	leaves []string
	lists  []list // open lists, innermost last
	value  bool   // a value may start here
	expand bool   // repeated elements become separate leaves
	full   bool   // a limit is exceeded
	bad    bool   // brackets do not match
}

// list is an open list.
type list struct {
	closer byte
	out    int // start of its current element in the template
	leaves int // and in the leaves
}

// run processes the whole text; it reports whether the limits hold.
func (l *lexer) run() bool {
	l.out = make([]byte, 0, len(l.text))
	l.leaves = make([]string, 0, strings.Count(l.text, ",")+1)
	l.value = true
	for l.at < len(l.text) && !l.full && !l.bad {
		l.step()
	}
	l.bad = l.bad || len(l.lists) > 0
	l.full = l.full || len(l.out) > MaxText || len(l.leaves) > MaxLeaves
	return !l.full
}

// step processes the next token.
func (l *lexer) step() {
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case c == '{' || c == '(':
		l.open(rest)
	case c == '}' || c == ')':
		l.close(c)
	case c == ',':
		l.comma(rest)
	case c == '"' || c == '\'':
		l.leaf(textLength(rest)) // 0 if it is not terminated
	case isDigit(c) || (c == '-' || c == '+' || c == '.') && len(rest) > 1 && isDigit(rest[1]):
		l.number(rest)
	case isNameStart(c) || (c == '.' || c == '-') && l.value:
		l.word(rest)
	case c == '<':
		l.angle(rest)
	case c == '[' && l.value:
		l.key(rest)
	case c == ' ' && strings.HasPrefix(rest, " <repeats "):
		l.repeats(rest)
	case strings.HasPrefix(rest, " = "):
		l.keep(3)
		l.value = true
	case strings.HasPrefix(rest, ": "):
		l.keep(2)
		l.value = true
	case c == ' ' || c == '\n' || c == '@':
		l.keep(1)
	default:
		l.keep(1)
		l.value = false
	}
}

// keep copies n bytes to the template.
func (l *lexer) keep(n int) {
	l.out = append(l.out, l.text[l.at:l.at+n]...)
	l.at += n
}

// plain copies n bytes to the template; no value starts after them.
func (l *lexer) plain(n int) {
	l.keep(n)
	l.value = false
}

// leaf makes the next n bytes a leaf; 0 is a text that is not terminated.
func (l *lexer) leaf(n int) {
	if n <= 0 {
		l.plain(1)
		return
	}
	l.leaves = append(l.leaves, l.text[l.at:l.at+n])
	l.out = append(l.out, leafMark)
	l.at += n
	l.value = false
	l.full = l.full || len(l.leaves) > MaxLeaves
}

// flags matches a set of flags as gdb prints it: "(A | B)", "(A | unknown: 0x8)".
var flags = pattern.New(`^\((?:[A-Za-z_][\w:]*|unknown: 0x[0-9a-f]+)(?: \| (?:[A-Za-z_][\w:]*|unknown: 0x[0-9a-f]+))*\)`)

// open processes the start of a list, or a type in parentheses before an address.
func (l *lexer) open(rest string) {
	c := rest[0]
	if l.value {
		if n := bracketLength(rest); n > 0 && isAddress(rest[n:]) {
			l.keep(n)
			return
		}
		if n := len(flags.FindString(rest)); n > 0 && ends(rest[n:]) {
			l.leaf(n)
			return
		}
	}
	l.keep(1)
	l.out = append(l.out, openMark)
	l.lists = append(l.lists, list{map[byte]byte{'{': '}', '(': ')'}[c], len(l.out), len(l.leaves)})
	l.value = true
	l.bad = l.bad || len(l.lists) > maxDepth
}

// isAddress reports whether an address follows the type of a pointer or of a
// function.
func isAddress(rest string) bool {
	return strings.HasPrefix(rest, " 0x") || strings.HasPrefix(rest, " @0x")
}

func (l *lexer) close(c byte) {
	n := len(l.lists) - 1
	if n < 0 || l.lists[n].closer != c {
		l.bad = true
		return
	}
	l.lists = l.lists[:n]
	l.out = append(l.out, closeMark)
	l.plain(1)
}

// comma processes the separator of two elements. After the length of a vector
// follows its capacity.
func (l *lexer) comma(rest string) {
	n := len(l.lists) - 1
	if fortran := strings.HasPrefix(rest, ", <repeats "); fortran && n >= 0 {
		l.repeats(rest)
		return
	}
	if n < 0 || strings.HasPrefix(rest, ", capacity ") {
		l.keep(1)
		l.value = true
		return
	}
	blanks := len(rest) - len(strings.TrimLeft(rest[1:], " \n")) - 1
	l.lists[n].out, l.lists[n].leaves = len(l.out), len(l.leaves)
	l.out = append(l.out, elementMark)
	l.keep(1 + blanks)
	l.value = true
}

// repeated matches gdb's count of equal elements, which includes the element
// itself. In Fortran a comma precedes it.
var repeated = pattern.New(`^(,?) <repeats ([0-9]+) times>`)

// repeats processes the count of the current element, and adds as many copies.
func (l *lexer) repeats(rest string) {
	found := repeated.FindStringSubmatch(rest)
	if found == nil || len(l.lists) == 0 {
		l.plain(1)
		return
	}
	times, err := strconv.Atoi(found[2])
	if !l.expand || err != nil {
		l.plain(len(found[0]))
		return
	}
	l.at += len(found[0])
	l.value = false
	from := l.lists[len(l.lists)-1]
	element, leaves := string(l.out[from.out:]), l.leaves[from.leaves:]
	if element == "" || element[0] != elementMark { // the first of the list
		element = string(elementMark) + ", " + element
	}
	if times-1 > MaxText/len(element) || (times-1)*len(leaves) > maxRepeated {
		l.full = true
		return
	}
	for range times - 1 {
		l.out = append(l.out, element...)
		l.leaves = append(l.leaves, leaves...)
		l.full = l.full || len(l.out) > MaxText || len(l.leaves) > MaxLeaves
	}
}

// key processes the key of a container, or an index: "["a"] = ".
func (l *lexer) key(rest string) {
	if n := bracketLength(rest); n > 0 && strings.HasPrefix(rest[n:], " = ") {
		l.keep(n)
		return
	}
	l.plain(1)
}

// angle processes the name of a base class, a message of gdb in place of a value,
// or the rest of a type.
func (l *lexer) angle(rest string) {
	n := bracketLength(rest)
	switch {
	case n == 0:
		l.plain(1)
	case l.value && ends(rest[n:]):
		l.leaf(n)
	default:
		l.plain(n)
	}
}

// number processes a number with its character, or an address with its symbol or
// text.
func (l *lexer) number(rest string) {
	n := numberLength(rest)
	switch {
	case strings.HasPrefix(rest, "0x"):
		n += pointedLength(rest[n:])
	case n < len(rest) && rest[n] == ' ':
		n += characterLength(rest[n:])
	}
	l.leaf(n)
}

// word processes a name: a leaf if it is the whole value.
func (l *lexer) word(rest string) {
	n := wordLength(rest)
	switch {
	case n == 0:
		l.plain(1)
	case l.value && ends(rest[n:]):
		l.leaf(n)
	case n < len(rest) && (rest[n] == '"' || rest[n] == '\''): // L"abc"
		if text := textLength(rest); text > 0 {
			l.leaf(text)
			return
		}
		l.plain(n)
	default:
		l.plain(n)
	}
}
