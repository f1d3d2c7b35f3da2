// Expressions with sets that are not known yet.

package rank

import (
	"errors"
	"slices"
)

// Expr is the text of a rank set, parsed. It may contain sets that are not known yet.
type Expr struct {
	set  Set    // if op is 0
	op   byte   // 0, an operator, or '@' for a set that is not known yet
	a, b *Expr  // operands
	name string // of the set
}

// ErrOpen is returned by Env.Live for a set that is not known yet.
var ErrOpen = errors.New("not known yet")

// Open returns the names of the sets that are not known yet, each once.
func (x Expr) Open() []string {
	switch x.op {
	case 0:
		return nil
	case '@':
		return []string{x.name}
	}
	names := x.a.Open()
	for _, n := range x.b.Open() {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Eval returns the set; known are those that were not known. A name without a set is empty.
func (x Expr) Eval(known map[string]Set) Set {
	switch x.op {
	case 0:
		return x.set
	case '@':
		return known[x.name]
	}
	return combined(x.op, x.a.Eval(known), x.b.Eval(known))
}

// with combines two expressions; if both are known, so is the result.
func (x Expr) with(op byte, y Expr) Expr {
	switch {
	case x.op == 0 && y.op == 0:
		return Expr{set: combined(op, x.set, y.set)}
	case op == ',' && x.isEmpty():
		return y
	case op == ',' && y.isEmpty():
		return x
	}
	return Expr{op: op, a: &x, b: &y}
}

func (x Expr) isEmpty() bool { return x.op == 0 && x.set.IsEmpty() }

func combined(op byte, a, b Set) Set {
	switch op {
	case ',':
		return a.Union(b)
	case '!':
		return a.Minus(b)
	case '^':
		return a.Xor(b)
	}
	return a.Intersect(b) // '&'
}
