// Package whole puts the pieces of an array that is distributed over the ranks together: where each element belongs,
// what is missing, what is there twice, and what all elements are.
//
// It is pure.
package whole

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// Offset is the place of an element in the whole array, as an expression of $i, the number of the element in its
// piece, and of values that each rank has. Without $i it is the place of the first element of a block.
//
//	begin                                  a block of each rank
//	($i / nb * ranks + rank) * nb + $i % nb    blocks of nb elements, dealt out in turn
//	(y0 + $i / nx) * width + x0 + $i % nx  a rectangle of a grid
type Offset struct {
	text    string
	names   []string
	root    *node
	element bool // it depends on $i
}

// node is an operation, a number, a name or $i.
type node struct {
	op          byte // '+', '-', '*', '/', '%', 'n' (number), 'v' (value of a name), 'i'
	left, right *node
	number      int64 // or the index of the name
}

const (
	maxOffset = 4096 // bytes of an expression
	maxNames  = 32   // names in it
	maxDepth  = 100  // of parentheses and signs
)

// element is the word for the number of an element in its piece.
const element = "$i"

// ParseOffset reads an expression of + - * / % and parentheses; / and % are those of C. The operands are numbers, $i,
// and names with members and indices, which the ranks evaluate.
func ParseOffset(text string) (*Offset, error) {
	if len(text) > maxOffset {
		return nil, fmt.Errorf("an offset has at most %d bytes", maxOffset)
	}
	p := parser{text: text, o: &Offset{text: text}}
	root, err := p.sum(0)
	if err == nil && p.at < len(text) {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	p.o.root = root
	return p.o, nil
}

// String returns the expression.
func (o *Offset) String() string { return o.text }

// Names returns the operands that the ranks evaluate.
func (o *Offset) Names() []string { return o.names }

// At returns the place of element i of a piece, given the values of the names. false: it is not a number, since it
// divides by zero or is beyond all arrays.
func (o *Offset) At(values []int64, i int64) (int64, bool) {
	n, ok := o.root.value(values, i)
	if !o.element {
		n += i
	}
	return n, ok && n < maxPlace && n > -maxPlace
}

// maxPlace bounds places, and what is computed for them.
const maxPlace = 1 << 60

func (n *node) value(values []int64, i int64) (int64, bool) {
	switch n.op {
	case 'n':
		return n.number, true
	case 'v':
		return values[n.number], values[n.number] < maxPlace && values[n.number] > -maxPlace
	case 'i':
		return i, true
	}
	a, ok := n.left.value(values, i)
	b, ok2 := n.right.value(values, i)
	if !ok || !ok2 {
		return 0, false
	}
	switch n.op {
	case '+':
		a += b
	case '-':
		a -= b
	case '*':
		if math.Abs(float64(a))*math.Abs(float64(b)) > maxPlace {
			return 0, false
		}
		a *= b
	default:
		if b == 0 {
			return 0, false
		}
		if n.op == '/' {
			a /= b
		} else {
			a %= b
		}
	}
	return a, a <= maxPlace && a >= -maxPlace
}

// parser reads an offset.
type parser struct {
	text string
	at   int
	o    *Offset
}

func (p *parser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *parser) unexpected() error {
	if p.at >= len(p.text) {
		return fmt.Errorf("the offset %q ends too early", protocol.Clip(p.text))
	}
	return fmt.Errorf("the offset has %q where an operator of + - * / %% is expected", protocol.Clip(p.text[p.at:]))
}

// take reads one of some operators; 0 if there is none.
func (p *parser) take(operators string) byte {
	p.blanks()
	if p.at < len(p.text) && strings.IndexByte(operators, p.text[p.at]) >= 0 {
		p.at++
		return p.text[p.at-1]
	}
	return 0
}

func (p *parser) sum(depth int) (*node, error) { return p.binary("+-", depth, p.product) }

func (p *parser) product(depth int) (*node, error) { return p.binary("*/%", depth, p.operand) }

func (p *parser) binary(operators string, depth int, next func(int) (*node, error)) (*node, error) {
	left, err := next(depth)
	for err == nil {
		op := p.take(operators)
		if op == 0 {
			return left, nil
		}
		var right *node
		right, err = next(depth)
		left = &node{op: op, left: left, right: right}
	}
	return nil, err
}

func (p *parser) operand(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the offset has more than %d parentheses in one another", maxDepth)
	}
	switch op := p.take("(-+"); op {
	case '(':
		n, err := p.sum(depth + 1)
		if err == nil && p.take(")") == 0 {
			err = p.unexpected()
		}
		return n, err
	case '-':
		n, err := p.operand(depth + 1)
		return &node{op: '-', left: &node{op: 'n'}, right: n}, err
	case '+':
		return p.operand(depth + 1)
	}
	start := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	if digits := p.text[start:p.at]; digits != "" {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > maxPlace {
			return nil, fmt.Errorf("the offset has the number %s, which no array needs", protocol.Clip(digits))
		}
		return &node{op: 'n', number: n}, nil
	}
	return p.name()
}

// name reads what the ranks evaluate: *p, u.begin, t[2]->low, m::first.
func (p *parser) name() (*node, error) {
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] == '*' || p.text[p.at] == '&') {
		p.at++
	}
	word := p.at
	for p.at < len(p.text) && isLetter(p.text[p.at]) {
		p.at++
	}
	if word == p.at {
		return nil, fmt.Errorf("the offset has %q where a number, a name or $i is expected", protocol.Clip(p.text[start:]))
	}
	if p.text[start:p.at] == element {
		p.o.element = true
		return &node{op: 'i'}, nil
	}
	for more := true; more; {
		var err error
		if more, err = p.part(); err != nil {
			return nil, err
		}
	}
	name := p.text[start:p.at]
	if strings.Contains(name, element) {
		return nil, fmt.Errorf("in the offset, %s cannot depend on $i: the ranks evaluate names once", protocol.Clip(name))
	}
	i := slices.Index(p.o.names, name)
	if i < 0 {
		if i = len(p.o.names); i == maxNames {
			return nil, fmt.Errorf("the offset has more than %d names", maxNames)
		}
		p.o.names = append(p.o.names, name)
	}
	return &node{op: 'v', number: int64(i)}, nil
}

// part reads what may follow a name: a member, an index.
func (p *parser) part() (more bool, err error) {
	rest := p.text[p.at:]
	for _, join := range []string{"->", "::", "."} {
		if strings.HasPrefix(rest, join) && len(rest) > len(join) && isLetter(rest[len(join)]) {
			p.at += len(join)
			for p.at < len(p.text) && isLetter(p.text[p.at]) {
				p.at++
			}
			return true, nil
		}
	}
	if rest == "" || rest[0] != '[' && rest[0] != '(' {
		return false, nil
	}
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '[', '(':
			depth++
		case ']', ')':
			if depth--; depth == 0 {
				p.at += i + 1
				return true, nil
			}
		}
	}
	return false, fmt.Errorf("the offset has an open %q", rest[:1])
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b == '$' || b >= 0x80 || isDigit(b)
}
