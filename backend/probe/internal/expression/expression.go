// Package expression reads expressions that name a place in the memory of a program, as a user writes them in C, C++
// or Fortran: "step", "p->grid.iter[2]", "Domain::cycle", "mod::s%step(3)". It is pure text: what the names mean is
// known to others.
package expression

import (
	"strconv"
	"strings"
)

// Op is what an expression does with the ones within it.
type Op uint8

const (
	Variable   Op = iota // the variable Name
	Number               // the integer Value
	Member               // the component Field of Of, or of what Of points to: ".", "->" and "%" are the same
	Element              // the element Indices of Of: "[1][2]" are two, "(1,2)" is one with two indices
	Target               // what Of points to
	Sum                  // Of + Other
	Difference           // Of - Other
	Product              // Of * Other
)

// Expr is an expression. It is immutable.
type Expr struct {
	Op        Op
	Name      Name
	Value     int64
	Field     string
	Of, Other *Expr
	Indices   []*Expr
	text      string
}

// String returns the expression as it was written, without blanks around it.
func (e *Expr) String() string { return e.text }

// Name is the name of a variable with what is around it.
type Name struct {
	// File is the source file of a static variable, as in 'solver.c'::step; "": any.
	File string
	// Parts are namespaces, classes, modules or a function, and at last the variable. Arguments of templates are parts of
	// the names, without blanks.
	Parts []string
	// Whole: the name began with "::", so that nothing is around the first part.
	Whole bool
}

// String returns the name as it is written in an expression.
func (n Name) String() string {
	s := strings.Join(n.Parts, "::")
	switch {
	case n.File != "":
		return "'" + n.File + "'::" + s
	case n.Whole:
		return "::" + s
	}
	return s
}

// Bounds of what is read.
const (
	maxText   = 1024 // bytes
	maxNested = 32   // expressions in one another
)

// syntaxError says why a text is no expression.
type syntaxError struct{ text, why string }

func (e *syntaxError) Error() string { return strconv.Quote(e.text) + ": " + e.why }

// Parse reads an expression. An error is an *syntaxError.
func Parse(text string) (e *Expr, err error) {
	p := &parser{text: strings.TrimSpace(text)}
	if len(p.text) > maxText {
		return nil, &syntaxError{p.text[:32] + "...", "more than " + strconv.Itoa(maxText) + " bytes"}
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *syntaxError:
			e, err = nil, r
		default:
			panic(r)
		}
	}()
	e = p.sum()
	if p.skip(); p.at < len(p.text) {
		p.fail(strconv.Quote(p.text[p.at:]) + " is not understood: " + syntax)
	}
	if !e.hasVariable() {
		p.fail("a number never changes: " + syntax)
	}
	return e, nil
}

// hasVariable reports whether the value of an expression begins with a variable.
func (e *Expr) hasVariable() bool {
	return e != nil && (e.Op == Variable || e.Of.hasVariable() || e.Other.hasVariable())
}

const syntax = "write a variable, such as step, p->grid.iter[2], *p, Class::count, mod::s%step(3)"

// parser reads a text from left to right. It panics with *syntaxError.
type parser struct {
	text   string
	at     int
	nested int
}

func (p *parser) fail(why string) { panic(&syntaxError{p.text, why}) }

func (p *parser) skip() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take reads a word or sign if it is next.
func (p *parser) take(sign string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.at:], sign) {
		return false
	}
	p.at += len(sign)
	return true
}

// made returns an expression whose text began at a place.
func (p *parser) made(from int, e Expr) *Expr {
	e.text = strings.TrimSpace(p.text[from:p.at])
	return &e
}

// within reads with f what is nested once more.
func (p *parser) within(f func() *Expr) *Expr {
	if p.nested++; p.nested > maxNested {
		p.fail("nested too deeply")
	}
	e := f()
	p.nested--
	return e
}

func (p *parser) sum() *Expr {
	p.skip()
	from := p.at
	e := p.product()
	for terms := 0; ; terms++ {
		op := Sum
		switch {
		case terms == maxNested:
			p.fail("too long")
		case strings.HasPrefix(p.text[p.at:], "->"):
			return e
		case p.take("+"):
		case p.take("-"):
			op = Difference
		default:
			return e
		}
		other := p.product()
		e = p.made(from, Expr{Op: op, Of: e, Other: other})
	}
}

func (p *parser) product() *Expr {
	p.skip()
	from := p.at
	e := p.unary()
	for factors := 0; p.take("*"); factors++ {
		if factors == maxNested {
			p.fail("too long")
		}
		other := p.unary()
		e = p.made(from, Expr{Op: Product, Of: e, Other: other})
	}
	return e
}

func (p *parser) unary() *Expr {
	p.skip()
	from := p.at
	switch {
	case p.take("*"):
		of := p.within(p.unary)
		return p.made(from, Expr{Op: Target, Of: of})
	case p.take("-"):
		of := p.within(p.unary)
		return p.made(from, Expr{Op: Difference, Of: &Expr{Op: Number, text: "0"}, Other: of})
	case p.take("&"):
		p.fail("the address of a variable never changes: leave out &")
	}
	return p.postfix()
}

func (p *parser) postfix() *Expr {
	p.skip()
	from := p.at
	e := p.primary()
	for range maxText {
		sign := ""
		for _, s := range []string{"->", ".", "%", "[", "("} {
			if p.take(s) {
				sign = s
				break
			}
		}
		switch sign {
		case "":
			return e
		case "[":
			index := p.indices("]")
			e = p.made(from, Expr{Op: Element, Of: e, Indices: index})
		case "(":
			index := p.indices(")")
			e = p.made(from, Expr{Op: Element, Of: e, Indices: index})
		default:
			if p.skip(); !p.isName() {
				p.fail("the name of a component must follow " + sign)
			}
			field := p.word()
			e = p.made(from, Expr{Op: Member, Of: e, Field: field})
		}
	}
	return e
}

// maxIndices bounds the indices in one pair of parentheses: Fortran has at most 15 dimensions.
const maxIndices = 15

func (p *parser) indices(end string) (all []*Expr) {
	for {
		if p.take(":") || p.take(end) {
			p.fail("an index is missing; give one element, or the name alone for the whole array")
		}
		all = append(all, p.within(p.sum))
		switch {
		case len(all) > maxIndices:
			p.fail("too many indices")
		case p.take(end):
			return all
		case !p.take(","):
			if p.take(":") {
				p.fail("parts of arrays cannot be named: give one element, or the name alone for the whole array")
			}
			p.fail(end + " is missing")
		}
	}
}

// anonymous is how gdb writes a namespace without a name.
const anonymous = "(anonymous namespace)"

func (p *parser) primary() *Expr {
	p.skip()
	from := p.at
	if !strings.HasPrefix(p.text[p.at:], anonymous) && p.take("(") {
		e := p.within(p.sum)
		if !p.take(")") {
			p.fail(") is missing")
		}
		return p.made(from, *e)
	}
	if p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		return p.number()
	}
	name := p.name()
	return p.made(from, Expr{Op: Variable, Name: name})
}

func (p *parser) number() *Expr {
	from := p.at
	for p.at < len(p.text) && isLetter(p.text[p.at]) {
		p.at++
	}
	v, err := strconv.ParseInt(p.text[from:p.at], 0, 64)
	if err != nil {
		p.fail(strconv.Quote(p.text[from:p.at]) + " is no integer")
	}
	return p.made(from, Expr{Op: Number, Value: v})
}

func (p *parser) name() (n Name) {
	if p.take("'") {
		file, _, closed := strings.Cut(p.text[p.at:], "'")
		if p.at += len(file) + 1; !closed || file == "" || !p.take("::") {
			p.fail("a source file is written 'solver.c'::step")
		}
		n.File = file
	} else {
		n.Whole = p.take("::")
	}
	for {
		switch p.skip(); {
		case p.take(anonymous):
		case p.isName():
			n.Parts = append(n.Parts, p.word())
		default:
			p.fail("a name is missing: " + syntax)
		}
		if !p.take("::") {
			break
		}
	}
	if len(n.Parts) == 0 {
		p.fail("a name is missing: " + syntax)
	}
	return n
}

func isLetter(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isName reports whether a name is next.
func (p *parser) isName() bool {
	return p.at < len(p.text) && isLetter(p.text[p.at]) && (p.text[p.at] < '0' || p.text[p.at] > '9')
}

// word reads a name, with the arguments of a template.
func (p *parser) word() string {
	from := p.at
	for p.at < len(p.text) && isLetter(p.text[p.at]) {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '<' {
		for open := 0; ; p.at++ {
			if p.at == len(p.text) {
				p.fail("> is missing")
			}
			if c := p.text[p.at]; c == '<' {
				open++
			} else if c == '>' {
				open--
			}
			if open == 0 {
				break
			}
		}
		p.at++
	}
	return Plain(p.text[from:p.at])
}

// Plain returns a name without blanks, so that names of templates can be compared.
func Plain(name string) string { return strings.ReplaceAll(name, " ", "") }
