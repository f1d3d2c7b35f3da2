// Parsing one line of GDB/MI.

package mi

import "strings"

// maxDepth bounds the nesting of tuples and lists. gdb itself stays below ten; the bound protects
// the stack from malicious text.
const maxDepth = 64

// isResultName reports whether a name is a class of result records, all of which are known. The
// classes of async records are not checked, because gdb adds new ones.
func isResultName(name string) bool {
	switch name {
	case "done", "running", "connected", "error", "exit":
		return true
	}
	return false
}

// header parses the start of a line: the token, the class, and the index of the rest. Prompts and
// lines that are not MI are recognised here.
func header(line string) (class Class, token int64, rest int) {
	token, rest, ok := leadingToken(line)
	if !ok || rest == len(line) {
		return Other, -1, 0
	}
	if i := strings.IndexByte(marks, line[rest]); i >= 0 {
		return Class(i), token, rest + 1
	}
	if rest == 0 && strings.TrimRight(line, " \r") == "(gdb)" {
		return Prompt, -1, len(line)
	}
	return Other, -1, 0
}

// leadingToken reads the digits before a mark; ok is false if there are too many.
func leadingToken(line string) (token int64, n int, ok bool) {
	const maxDigits = 18 // always fits int64
	for n < len(line) && '0' <= line[n] && line[n] <= '9' {
		token = token*10 + int64(line[n]-'0')
		n++
		if n > maxDigits {
			return -1, 0, false
		}
	}
	if n == 0 {
		return -1, 0, true
	}
	return token, n, true
}

// className returns the length of the name of a result or async record: letters, digits and
// dashes, starting with a letter. 0: there is none.
func className(s string) int {
	n := 0
	for n < len(s) && (isLower(s[n]) || n > 0 && (s[n] == '-' || isDigit(s[n]))) {
		n++
	}
	return n
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lexer reads values from s at position i. Every method that returns a bool reports whether the
// text was valid; if not, the position is undefined.
type lexer struct {
	s     string
	i     int
	depth int
	// open holds the fields of the tuples that are being read, innermost last: one buffer instead
	// of one growing slice for each.
	open []Field
}

// record reads one line, given without its newline. It never fails: a line that is not MI through
// to its end is a record of class Other.
//
// Beyond the grammar of the manual it accepts what released gdbs print: values without a name
// among results (mi2's breakpoints of several locations, +download), strings without a name in a
// tuple (script={"a","b"} of mi2 and mi3), words without quotes (=traceframe-changed,end; old
// notifications), a carriage return before the newline, a missing token.
func (l *lexer) record(line string) Record {
	other := Record{Class: Other, Token: -1, Text: line}
	class, token, rest := header(line)
	l.s, l.i, l.depth = strings.TrimSuffix(line, "\r"), rest, 0
	r := Record{Class: class, Token: token}
	ok := false
	switch class {
	case Prompt:
		ok = true
	case Other:
	case Console, Target, Log:
		r.Text, ok = l.text()
		ok = ok && token < 0
	default:
		r.Name, r.Results, ok = l.results()
		ok = ok && (class != Result || isResultName(r.Name))
	}
	if !ok {
		return other
	}
	return r
}

// text reads the string of a stream record.
func (l *lexer) text() (string, bool) {
	if l.i >= len(l.s) || l.s[l.i] != '"' {
		return "", false
	}
	s, ok := l.cstring()
	return s, ok && l.i == len(l.s)
}

// results reads NAME or NAME,FIELD,… to the end of the line.
func (l *lexer) results() (name string, fields Tuple, ok bool) {
	n := className(l.s[l.i:])
	name = l.s[l.i : l.i+n]
	l.i += n
	if n == 0 || l.i == len(l.s) {
		return name, nil, n > 0
	}
	if l.s[l.i] != ',' {
		return "", nil, false
	}
	l.i++
	fields, ok = l.fields(0)
	return name, fields, ok
}

// fields reads FIELD,FIELD,… up to and including a closing character; 0 is the end of the line. A
// result record with a comma has at least one field.
func (l *lexer) fields(closing byte) (Tuple, bool) {
	if closing != 0 && l.i < len(l.s) && l.s[l.i] == closing {
		l.i++
		return nil, true
	}
	base := len(l.open)
	defer func() { l.open = l.open[:base] }()
	for {
		f, ok := l.field()
		if !ok {
			return nil, false
		}
		l.open = append(l.open, f)
		if l.i == len(l.s) {
			if closing != 0 {
				return nil, false
			}
			break
		}
		c := l.s[l.i]
		l.i++
		if c == ',' {
			continue
		}
		if closing == 0 || c != closing {
			return nil, false
		}
		break
	}
	return append(make(Tuple, 0, len(l.open)-base), l.open[base:]...), true
}

// field reads NAME=VALUE, VALUE, or a NAME alone, which gdb uses as a flag.
func (l *lexer) field() (f Field, ok bool) {
	start := l.i
	for l.i < len(l.s) && isWord(l.s[l.i]) {
		l.i++
	}
	f.Name = l.s[start:l.i]
	if l.i < len(l.s) && l.s[l.i] == '=' {
		l.i++
	} else if f.Name != "" {
		return f, true
	}
	f.Value, ok = l.value()
	return f, ok
}

func (l *lexer) value() (v Value, ok bool) {
	if l.i == len(l.s) {
		return v, false
	}
	switch l.s[l.i] {
	case '"':
		v.Str, ok = l.cstring()
	case '{':
		v.Kind = TupleValue
		v.Fields, ok = l.nested('}')
	case '[':
		v.Kind = ListValue
		v.Fields, ok = l.nested(']')
	default:
		start := l.i
		for l.i < len(l.s) && isWord(l.s[l.i]) {
			l.i++
		}
		v.Str, ok = l.s[start:l.i], l.i > start
	}
	return v, ok
}

func (l *lexer) nested(closing byte) (Tuple, bool) {
	if l.depth == maxDepth {
		return nil, false
	}
	l.depth++
	l.i++
	t, ok := l.fields(closing)
	l.depth--
	return t, ok
}

// isWord reports whether a byte may be part of a name or of a value without quotes.
func isWord(c byte) bool {
	switch c {
	case '=', ',', '{', '}', '[', ']', '"', '\\':
		return false
	}
	return ' ' < c && c < 0x7f
}
