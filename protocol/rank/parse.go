// The text language of rank sets, as people type it.
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
// So "&" binds more than "!" and "^", these more than ","; equal ones are done
// from left to right. A "!" after an operand is a difference, a "!" before one
// the complement; the one exception is ",!", which takes away from what stands
// before the comma, so that "all,!5" and "0-7,!3&2-4" mean what they say. A
// complement in the middle of a list is written in parentheses: "0,(!5)".
//
// A name in front of braces is that of a group, or "a" or "all" for the job; the
// numbers in the braces are ranks, not places in the group.

package rank

import (
	"fmt"
	"strings"
)

// Env is what the text of a set may refer to.
type Env struct {
	// All are the ranks that there are: all, *, !x, $. Without any, every
	// number is refused.
	All Set
	// Group gives the set of @name; nil is no groups. Sets that depend on the
	// moment are asked for in the same way, with their argument in the name:
	// "stopped", "bp:3", "host:node[01-16]", "expr{x > 3}". They come before
	// any group.
	Group func(name string) (Set, bool)
	// Live gives the sets that depend on the moment and that Group does not have;
	// its error says in a few words what is wrong with the argument. nil: there
	// are none.
	Live func(name string) (Set, error)
}

const (
	// maxText bounds the text of a set, in bytes: a million ranks typed one by
	// one are longer than any person means.
	maxText = 1 << 20
	// maxDepth bounds how deep parentheses nest.
	maxDepth = 64
	// maxOperators bounds the operators in one text: each may cost a pass over
	// all ranks. Ranges in a list are free.
	maxOperators = 1000
)

// Parse reads the text language of rank sets. A set may well come out empty;
// what does not exist is an error: a rank beyond the last, an unknown group.
// Errors are one line that says where and what is wrong and what to type instead.
func Parse(text string, env Env) (Set, error) {
	p := &parser{text: text, env: env}
	if len(text) > maxText {
		return Set{}, fmt.Errorf("rank set: longer than %d bytes; name a part of it with: group NAME = SET", maxText)
	}
	s := p.set(0)
	if p.skipSpace(); p.err == nil && p.at < len(text) {
		p.unexpected("a comma or an operator (, & ! ^)")
	}
	if p.err != nil {
		return Set{}, p.err
	}
	return s, nil
}

// parser reads one text. After an error, which stays, it gives empty sets and
// finds nothing more.
type parser struct {
	text      string
	at        int // next byte
	env       Env
	operators int
	err       error
}

// fail keeps the first error; at is the place in the text.
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

// peek gives the next character that is not a blank; 0 at the end and after an
// error.
func (p *parser) peek() byte {
	if p.skipSpace(); p.err != nil || p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// accept takes the next character when it is c.
func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// operator takes the next character when it is the operator c.
func (p *parser) operator(c byte) bool {
	if !p.accept(c) {
		return false
	}
	if p.operators++; p.operators > maxOperators {
		p.fail(p.at-1, "more than %d operators; name a part with: group NAME = SET", maxOperators)
	}
	return p.err == nil
}

// set reads a list. Plain ranges are gathered and joined at once, so that a long
// list takes one pass.
func (p *parser) set(depth int) Set {
	if depth > maxDepth {
		p.fail(p.at, "parentheses nest deeper than %d", maxDepth)
	}
	var sum Set
	var plain []run
	gathered := func() Set {
		s := sum.Union(fromRuns(normalize(plain)))
		plain = plain[:0]
		return s
	}
	for first := true; first || p.accept(','); first = false {
		switch {
		case !first && p.operator('!'):
			sum = gathered().Minus(p.item(p.factor(depth), depth))
		case p.atEnd(p.peek()):
			s := p.span("-")
			if end := p.peek(); s.contiguous() && !s.IsEmpty() && (end == ',' || end == ')' || end == ']' || end == 0) {
				plain = append(plain, run{s.first, s.end})
				continue
			}
			sum = gathered().Union(p.item(s, depth))
		default:
			sum = gathered().Union(p.item(p.factor(depth), depth))
		}
	}
	return gathered()
}

// item reads what binds more than a comma, after its first factor.
func (p *parser) item(first Set, depth int) Set {
	s := p.term(first, depth)
	for {
		switch {
		case p.operator('!'):
			s = s.Minus(p.term(p.factor(depth), depth))
		case p.operator('^'):
			s = s.Xor(p.term(p.factor(depth), depth))
		default:
			return s
		}
	}
}

// term reads intersections, after the first factor.
func (p *parser) term(first Set, depth int) Set {
	for p.operator('&') {
		first = first.Intersect(p.factor(depth))
	}
	return first
}

// factor reads an operand.
func (p *parser) factor(depth int) Set {
	complement := false
	for p.operator('!') {
		complement = !complement
	}
	s := p.operand(depth)
	if complement {
		return p.env.All.Minus(s)
	}
	return s
}

func (p *parser) operand(depth int) Set {
	c := p.peek()
	switch {
	case p.err != nil:
	case p.accept('('):
		return p.enclosed(')', depth)
	case p.accept('['):
		return p.enclosed(']', depth)
	case p.accept('*'):
		return p.env.All
	case p.atEnd(c):
		return p.span("-")
	case p.accept('@'):
		return p.named()
	case isNameStart(c):
		return p.word()
	default:
		p.unexpected("a rank set, such as 0-3,7 or all or !5 or @name")
	}
	return Set{}
}

// enclosed reads a set up to the closing character.
func (p *parser) enclosed(closing byte, depth int) Set {
	s := p.set(depth + 1)
	if !p.accept(closing) {
		p.unexpected(fmt.Sprintf("%q, or a comma or an operator", string(closing)))
	}
	return s
}
