// Expressions in gdb's syntax: integers, names, arithmetic, comparison, structures.

package sim

import (
	"strings"

	"sdm/protocol"
)

// maxExprDepth bounds the nesting of parentheses and signs.
const maxExprDepth = 100

// divisionByZero is gdb's message.
const divisionByZero = "Division by zero"

// evaluate computes an expression.
func evaluate(text string, s scope) (value, *protocol.Fault) {
	e := expr{text: text, scope: s}
	v, bad := e.binary(0)
	if bad != nil {
		return v, bad
	}
	if e.blanks(); e.i < len(e.text) {
		return v, e.syntax()
	}
	return v, nil
}

// expr reads text from position i.
type expr struct {
	text  string
	i     int
	depth int
	scope scope
}

// operators are in order of rising precedence; a longer operator comes before its prefixes.
var operators = [][]string{{"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

func (e *expr) blanks() {
	for e.i < len(e.text) && (e.text[e.i] == ' ' || e.text[e.i] == '\t') {
		e.i++
	}
}

func (e *expr) syntax() *protocol.Fault {
	return gdbSays("A syntax error in expression, near `%s'.", e.text[e.i:])
}

// take reads one of the words; it returns "" if none is there.
func (e *expr) take(words ...string) string {
	e.blanks()
	for _, w := range words {
		if strings.HasPrefix(e.text[e.i:], w) {
			e.i += len(w)
			return w
		}
	}
	return ""
}

// binary reads an expression of operators of the given precedence and above.
func (e *expr) binary(level int) (value, *protocol.Fault) {
	if level == len(operators) {
		return e.unary()
	}
	left, bad := e.binary(level + 1)
	for bad == nil {
		op := e.take(operators[level]...)
		if op == "" {
			return left, nil
		}
		var right value
		if right, bad = e.binary(level + 1); bad == nil {
			left, bad = apply(op, left, right)
		}
	}
	return value{}, bad
}

func apply(op string, a, b value) (value, *protocol.Fault) {
	if a.opaque || b.opaque {
		return value{}, gdbSays("Argument to arithmetic operation not a number or boolean.")
	}
	x, y := a.number, b.number
	if y == 0 && (op == "/" || op == "%") {
		return value{}, gdbSays(divisionByZero)
	}
	switch op {
	case "+":
		return number(x + y), nil
	case "-":
		return number(x - y), nil
	case "*":
		return number(x * y), nil
	case "/":
		return number(x / y), nil
	case "%":
		return number(x % y), nil
	}
	if holds(op, x, y) {
		return number(1), nil
	}
	return number(0), nil
}

func holds(op string, x, y int64) bool {
	switch op {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case ">=":
		return x >= y
	case "&&":
		return x != 0 && y != 0
	case "||":
		return x != 0 || y != 0
	}
	panic("sim: operator " + op)
}

func (e *expr) unary() (value, *protocol.Fault) {
	if e.depth++; e.depth > maxExprDepth {
		return value{}, gdbSays("expression is nested too deeply")
	}
	defer func() { e.depth-- }()
	switch e.take("-", "!", "(", "{") {
	case "{":
		return e.aggregate()
	case "-":
		v, bad := e.unary()
		if bad != nil {
			return v, bad
		}
		return apply("-", number(0), v)
	case "!":
		v, bad := e.unary()
		if bad != nil {
			return v, bad
		}
		return apply("==", v, number(0))
	case "(":
		v, bad := e.binary(0)
		if bad == nil && e.take(")") == "" {
			bad = e.syntax()
		}
		return v, bad
	}
	return e.operand()
}

// operand reads a number, a string, a name or an element of an array.
func (e *expr) operand() (value, *protocol.Fault) {
	start := e.i
	if e.i < len(e.text) && e.text[e.i] == '"' {
		if end := strings.IndexByte(e.text[e.i+1:], '"'); end >= 0 {
			e.i += end + 2
			return value{text: e.text[start:e.i], opaque: true}, nil
		}
		return value{}, e.syntax()
	}
	for e.i < len(e.text) && isNameByte(e.text[e.i]) {
		e.i++
	}
	word := e.text[start:e.i]
	switch {
	case word == "":
		return value{}, e.syntax()
	case '0' <= word[0] && word[0] <= '9':
		return constant(word)
	}
	if a, ok := e.scope.arrayNamed(word); ok && e.take("[") != "" {
		at, bad := e.binary(0)
		if bad == nil && e.take("]") == "" {
			bad = e.syntax()
		}
		if bad != nil {
			return value{}, bad
		}
		return e.scope.element(a, at.number)
	}
	v, ok := e.scope.member(word)
	if !ok {
		return v, gdbSays("No symbol \"%s\" in current context.", word)
	}
	return v, nil
}

// aggregate reads "{x = EXPR, y = EXPR}" or "{EXPR, EXPR}" after the opening brace.
func (e *expr) aggregate() (value, *protocol.Fault) {
	if e.depth++; e.depth > maxExprDepth {
		return value{}, gdbSays("expression is nested too deeply")
	}
	defer func() { e.depth-- }()
	out := value{opaque: true}
	for {
		m := member{name: e.memberName()}
		var bad *protocol.Fault
		if m.value, bad = e.binary(0); bad != nil {
			return value{}, bad
		}
		out.members = append(out.members, m)
		switch e.take(",", "}") {
		case "":
			return value{}, e.syntax()
		case "}":
			out.text = textOf(out.members)
			return out, nil
		}
	}
}

// memberName reads "x = ", if it is there.
func (e *expr) memberName() string {
	e.blanks()
	start := e.i
	for e.i < len(e.text) && isNameByte(e.text[e.i]) {
		e.i++
	}
	name := e.text[start:e.i]
	if !isName(name) || e.take("==") != "" || e.take("=") == "" {
		e.i = start
		return ""
	}
	return name
}
