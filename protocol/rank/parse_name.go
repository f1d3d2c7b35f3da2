// Names in the language of rank sets: groups, dynamic sets, the job.

package rank

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// liveSets are the names of the dynamic sets. An argument follows a colon or is in
// braces.
var liveSets = []string{"stopped", "running", "exited", "lost", "signalled", "bp", "at", "fn", "host", "expr"}

// liveWithColon are those whose argument follows a colon.
var liveWithColon = []string{"bp", "at", "fn", "host"}

// CheckName validates the name of a group.
func CheckName(name string) error {
	switch {
	case name == "" || !isNameStart(name[0]) || nameLength(name) != len(name):
		return fmt.Errorf("%q cannot be a name; use letters, digits, - and _, with a letter first", clip(name))
	case name == "all" || name == "a" || slices.Contains(liveSets, name):
		return fmt.Errorf("%q has a meaning of its own; choose another name", name)
	}
	return nil
}

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

// nameLength returns the length in bytes of the name at the front of the text.
func nameLength(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool {
		return r > 'z' || !isNameStart(byte(r)) && !('0' <= r && r <= '9') && r != '-'
	})
	if n < 0 {
		return len(text)
	}
	return n
}

// name consumes a name, which may be empty.
func (p *parser) name() string {
	n := nameLength(p.text[p.at:])
	p.at += n
	return p.text[p.at-n : p.at]
}

// word parses an operand that begins with a letter: all, or a name with braces.
func (p *parser) word() Expr {
	at := p.at
	name := p.name()
	switch {
	case p.peek() == '{':
		return p.spans(p.lookUp(at, name, true))
	case name == "all":
		return p.all()
	}
	p.fail(at, "%q is not a rank set; type all, ranks as in 0-3,7, or @%s for a group", clip(name), clip(name))
	return Expr{}
}

// named parses what follows "@".
func (p *parser) named() Expr {
	at := p.at
	if p.at == len(p.text) || !isNameStart(p.text[p.at]) {
		p.unexpected("the name of a group after @, as in @name")
		return Expr{}
	}
	name := p.name()
	next := byte(0)
	if p.at < len(p.text) {
		next = p.text[p.at]
	}
	switch {
	case next == ':' && slices.Contains(liveWithColon, name):
		p.at++
		name += ":" + p.argument()
	case next == '{' && name == "expr":
		name += p.braces()
	case next == '{':
		return p.spans(p.lookUp(at, name, false))
	}
	return p.lookUp(at, name, false)
}

// argument consumes the argument after the colon of a dynamic set: up to a blank, a
// comma, an operator or a closing bracket, but not within brackets, so that
// "host:node[01-16,20]" and "fn:f(int, int)" are one argument.
func (p *parser) argument() string {
	start, depth := p.at, 0
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '(' || c == '[':
			depth++
		case depth > 0 && (c == ')' || c == ']'):
			depth--
		case depth == 0 && strings.IndexByte(" \t,&!^)]", c) >= 0:
			return p.text[start:p.at]
		}
	}
	return p.text[start:p.at]
}

// braces consumes "{...}", with nested pairs of braces.
func (p *parser) braces() string {
	start, depth := p.at, 0
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				p.at++
				return p.text[start:p.at]
			}
		}
	}
	p.unexpected("\"}\"")
	return ""
}

// lookUp returns the set with a name. If job is true, "a" and "all" are the whole
// job, unless there is a group of that name.
func (p *parser) lookUp(at int, name string, job bool) Expr {
	if p.err != nil {
		return Expr{}
	}
	if p.env.Group != nil {
		if s, ok := p.env.Group(name); ok {
			return Expr{set: s}
		}
	}
	live, _, _ := strings.Cut(name, ":")
	live, _, _ = strings.Cut(live, "{")
	switch {
	case job && (name == "a" || name == "all"):
		return p.all()
	case slices.Contains(liveSets, live) && p.env.Live != nil:
		s, err := p.env.Live(name)
		switch {
		case err == ErrOpen:
			if p.operators++; p.operators > maxOperators {
				p.fail(at, "more than %d operators and sets that depend on the ranks", maxOperators)
			}
			return Expr{op: '@', name: name}
		case err != nil:
			p.fail(at, "@%s: %v", clip(name), err)
		}
		return Expr{set: s}
	case slices.Contains(liveSets, live):
		p.fail(at, "live set @%s means nothing here; type the ranks, as in 0-3,7", clip(name))
	default:
		p.fail(at, "there is no group @%s; make it with: group %s = SET", clip(name), clip(name))
	}
	return Expr{}
}

// spans parses "{0..3,7}" and returns those ranks of the set.
func (p *parser) spans(of Expr) Expr {
	if !p.accept('{') {
		return Expr{}
	}
	var list []run
	var others Set
	for more := true; more; more = p.accept(',') {
		if s := p.span(".."); s.contiguous() && !s.IsEmpty() {
			list = append(list, run{s.first, s.end})
		} else if p.operators++; p.operators <= maxOperators {
			others = others.Union(s)
		} else {
			p.fail(p.at, "more than %d ranges with steps", maxOperators)
		}
	}
	if !p.accept('}') {
		p.unexpected("\"}\" or a comma, as in a{0..3,7}")
	}
	return of.with('&', Expr{set: others.Union(fromRuns(normalize(list)))})
}

// firstRune returns the first character of a text that is not empty.
func firstRune(text string) (rune, int) { return utf8.DecodeRuneInString(text) }
