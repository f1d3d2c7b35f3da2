// The language of rank sets, as users type it.
//
//	set    = item { "," item | ",!" item }    union; ",!" takes away
//	item   = term { "!" term | "^" term }     difference, symmetric difference
//	term   = factor { "&" factor }            intersection
//	factor = "!" factor                       all ranks but these
//	       | "(" set ")" | "[" set "]"
//	       | range | "all" | "*"
//	       | "@" name | name "{" spans "}"
//	range  = end [ "-" end [ ":" step ] ]
//	spans  = span { "," span }, span = range, or end ".." end [ ":" step ]
//	end    = number | "$"                     "$" is the last rank
//
// So "&" has the highest precedence, then "!" and "^", then ","; operators of equal
// precedence are evaluated from left to right. "!" after an operand is a
// difference, "!" before one is the complement, with one exception: ",!" removes
// ranks from everything before the comma, so that "all,!5" and "0-7,!3&2-4" have
// the expected meaning. A complement within a list must be written in parentheses:
// "0,(!5)".
//
// A name before braces means a named set, or "a" or "all" for the job; the numbers in braces are
// ranks, not positions in the set.

package rank

import (
	"fmt"
	"strings"
)

// Env is the environment in which a set is evaluated.
type Env struct {
	// All are the ranks that exist: all, *, !x, $. If it is empty, every number is
	// refused.
	All Set
	// Group returns the set @name; nil means that there are no groups. Dynamic sets
	// are requested in the same way, with their argument in the name: "stopped",
	// "bp:3", "host:node[01-16]", "expr{x > 3}". Their names take precedence over
	// groups.
	Group func(name string) (Set, bool)
	// Live returns the dynamic sets that Group does not have; its error describes
	// in a few words what is wrong with the argument; it is ErrOpen if the set is
	// not known yet. nil means that there are none.
	Live func(name string) (Set, error)
}

const (
	// maxText bounds the text of a set, in bytes. A million ranks typed one by one
	// are a mistake.
	maxText = 1 << 20
	// maxDepth bounds the nesting of parentheses.
	maxDepth = 64
	// maxOperators bounds the operators in one text: each may cost a pass over all
	// ranks. Ranges in a list do not count.
	maxOperators = 1000
)

// Parse evaluates the text of a rank set. The result may be empty. A rank beyond
// the last or an unknown group is an error. Errors are one line with the position,
// the mistake and what to type instead.
func Parse(text string, env Env) (Set, error) {
	x, err := ParseExpr(text, env)
	return x.Eval(nil), err
}

// ParseExpr is Parse for a set that may contain sets that are not known yet.
func ParseExpr(text string, env Env) (Expr, error) {
	p := &parser{text: text, env: env}
	if len(text) > maxText {
		return Expr{}, fmt.Errorf("rank set: longer than %d bytes; name a part of it with: group NAME = SET", maxText)
	}
	s := p.set(0)
	if p.skipSpace(); p.err == nil && p.at < len(text) {
		p.unexpected("a comma or an operator (, & ! ^)")
	}
	if p.err != nil {
		return Expr{}, p.err
	}
	return s, nil
}

// parser parses one text. After the first error, which is kept, it returns empty
// sets.
type parser struct {
	text      string
	at        int // next byte
	env       Env
	operators int
	err       error
}

// fail records the first error; at is the position in the text.
func (p *parser) fail(at int, format string, args ...any) {
	if p.err != nil {
		return
	}
	start := max(0, at-40)
	p.err = fmt.Errorf("rank set %q, at %d: %s", clip(p.text[start:]), at+1, fmt.Sprintf(format, args...))
}

// unexpected fails at the next character.
func (p *parser) unexpected(expected string) {
	found := "the end"
	if p.at < len(p.text) {
		_, size := firstRune(p.text[p.at:])
		found = fmt.Sprintf("%q", p.text[p.at:p.at+size])
	}
	p.fail(p.at, "expected %s, found %s", expected, found)
}

func (p *parser) skipSpace() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next character that is not a blank; 0 at the end and after an
// error.
func (p *parser) peek() byte {
	if p.skipSpace(); p.err != nil || p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// accept consumes the next character if it is c.
func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// operator consumes the next character if it is the operator c.
func (p *parser) operator(c byte) bool {
	if !p.accept(c) {
		return false
	}
	if p.operators++; p.operators > maxOperators {
		p.fail(p.at-1, "more than %d operators; name a part with: group NAME = SET", maxOperators)
	}
	return p.err == nil
}

// set parses a list. Plain ranges are collected and joined at once, so that a long
// list takes one pass.
func (p *parser) set(depth int) Expr {
	if depth > maxDepth {
		p.fail(p.at, "parentheses nest deeper than %d", maxDepth)
	}
	var sum Expr
	var plain []run
	joined := func() Expr {
		s := sum.with(',', Expr{set: fromRuns(normalize(plain))})
		plain = plain[:0]
		return s
	}
	for first := true; first || p.accept(','); first = false {
		switch {
		case !first && p.operator('!'):
			sum = joined().with('!', p.item(p.factor(depth), depth))
		case p.atEnd(p.peek()):
			s := p.span("-")
			if end := p.peek(); s.contiguous() && !s.IsEmpty() && (end == ',' || end == ')' || end == ']' || end == 0) {
				plain = append(plain, run{s.first, s.end})
				continue
			}
			sum = joined().with(',', p.item(Expr{set: s}, depth))
		default:
			sum = joined().with(',', p.item(p.factor(depth), depth))
		}
	}
	return joined()
}

// item parses differences after a first operand.
func (p *parser) item(first Expr, depth int) Expr {
	s := p.term(first, depth)
	for {
		switch {
		case p.operator('!'):
			s = s.with('!', p.term(p.factor(depth), depth))
		case p.operator('^'):
			s = s.with('^', p.term(p.factor(depth), depth))
		default:
			return s
		}
	}
}

// term parses intersections after a first operand.
func (p *parser) term(first Expr, depth int) Expr {
	for p.operator('&') {
		first = first.with('&', p.factor(depth))
	}
	return first
}

// factor parses an operand with its complements.
func (p *parser) factor(depth int) Expr {
	complement := false
	for p.operator('!') {
		complement = !complement
	}
	s := p.operand(depth)
	if complement {
		return p.all().with('!', s)
	}
	return s
}

func (p *parser) operand(depth int) Expr {
	c := p.peek()
	switch {
	case p.err != nil:
	case p.accept('('):
		return p.enclosed(')', depth)
	case p.accept('['):
		return p.enclosed(']', depth)
	case p.accept('*'):
		return p.all()
	case p.atEnd(c):
		return Expr{set: p.span("-")}
	case p.accept('@'):
		return p.named()
	case isNameStart(c):
		return p.word()
	default:
		p.unexpected("a rank set, such as 0-3,7 or all or !5 or @name")
	}
	return Expr{}
}

// all returns the ranks that exist.
func (p *parser) all() Expr { return Expr{set: p.env.All} }

// enclosed parses a set up to the closing character.
func (p *parser) enclosed(closing byte, depth int) Expr {
	s := p.set(depth + 1)
	if !p.accept(closing) {
		p.unexpected(fmt.Sprintf("%q, or a comma or an operator", string(closing)))
	}
	return s
}
