// Random expressions over the variables of a program.

package oracle

import (
	"fmt"
	"strings"
)

// expr draws an expression of any type, mostly one that is valid where the session is assumed to
// be.
func (g *gen) expr() string {
	switch g.r.IntN(12) {
	case 0:
		return g.arithmetic()
	case 1:
		return g.wrong()
	case 2:
		return g.odd()
	case 3:
		return "sizeof(" + g.value() + ")"
	case 4:
		if c := g.call(); c != "" {
			return c
		}
	}
	return g.value()
}

// value draws a variable or a part of one.
func (g *gen) value() string {
	v, ok := g.variable()
	if !ok {
		return "1"
	}
	return g.part(v.Name, v.Type, 3)
}

// part extends an expression by members, elements and pointers, at most depth times.
func (g *gen) part(text string, t *Type, depth int) string {
	if t == nil || depth == 0 || g.r.IntN(4) == 0 {
		return text
	}
	switch t.Shape {
	case Structure:
		if len(t.Fields) > 0 {
			f := t.Fields[g.r.IntN(len(t.Fields))]
			return g.part(text+g.member()+f.Name, f.Type, depth-1)
		}
	case Array:
		switch {
		case g.r.IntN(4) == 0 && !g.fortran():
			return fmt.Sprintf("%s[%d]@%d", text, g.r.IntN(max(t.Count/2, 1)), 1+g.r.IntN(6))
		case g.fortran():
			return g.part(fmt.Sprintf("%s(%d)", text, 1+g.r.IntN(max(t.Count, 2))), t.Elem, depth-1)
		}
		return g.part(fmt.Sprintf("%s[%d]", text, g.index(t.Count)), t.Elem, depth-1)
	case Pointer:
		return g.dereference(text, t, depth)
	case Integer, Enumeration, Boolean, Floating:
		return g.decorated(text)
	}
	return text
}

// index draws an index of an array with count elements, mostly a valid one.
func (g *gen) index(count int) int {
	if g.r.IntN(12) == 0 {
		return -1
	}
	return g.r.IntN(max(count, 2))
}

// member returns the operator before the name of a member.
func (g *gen) member() string {
	if g.fortran() {
		return "%"
	}
	return "."
}

// dereference extends a pointer expression.
func (g *gen) dereference(text string, t *Type, depth int) string {
	if t.Elem == nil || g.fortran() {
		return text
	}
	switch g.r.IntN(4) {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("*%s@%d", text, 1+g.r.IntN(5))
	case 2:
		if t.Elem.Shape == Structure && len(t.Elem.Fields) > 0 {
			f := t.Elem.Fields[g.r.IntN(len(t.Elem.Fields))]
			return g.part(text+"->"+f.Name, f.Type, depth-1)
		}
	}
	return "*" + text
}

// decorated draws the address of a scalar, a cast of it, or mostly the scalar itself.
func (g *gen) decorated(text string) string {
	switch {
	case g.fortran():
		return text
	case g.r.IntN(8) == 0:
		return "&" + text
	case g.r.IntN(8) == 0:
		return "(" + g.one("char", "short", "long", "double", "unsigned char") + ")" + text
	}
	return text
}

// number draws an expression that is a number.
func (g *gen) number() string {
	for range 8 {
		v, ok := g.variable()
		if ok && v.Type != nil && (v.Type.Shape == Integer || v.Type.Shape == Floating) {
			return v.Name
		}
	}
	return fmt.Sprint(g.r.IntN(5))
}

// arithmetic draws an operation on two numbers.
func (g *gen) arithmetic() string {
	return g.number() + " " + g.one("+", "-", "*", "/") + " " + g.one(g.number(), fmt.Sprint(g.r.IntN(4)))
}

// condition draws a condition of a breakpoint.
func (g *gen) condition() string {
	if g.fortran() {
		return g.number() + " " + g.one("==", ">", "<", ".ge.", "/=") + " " + fmt.Sprint(g.r.IntN(5))
	}
	c := g.number() + " " + g.one("==", ">", "<", ">=", "!=") + " " + fmt.Sprint(g.r.IntN(5))
	switch g.r.IntN(8) {
	case 0:
		return c + " && " + g.number() + " != 1"
	case 1:
		return g.wrong()
	}
	return c
}

// wrong draws an expression that gdb refuses.
func (g *gen) wrong() string {
	return g.one("nosuch", "nosuch.member", g.value()+".nosuch", "*1", "(struct nosuch)1", "1 +", "nosuch(1)", g.value()+")", "1/0", "$nosuch", "\"abc")
}

// odd draws a rare expression.
func (g *gen) odd() string {
	return g.one("$pc", "$sp", "$rip", "$eflags", "$_exitcode", "$_siginfo", "'a'", "1.5", "1 == 1", "\"text\"", "{1, 2}", "sizeof(int)", "(long)&"+g.value(), "$rax & 0", "-5 % 3", "0x7fffffff + 1", "10/3.0", "main", "&main",
		"$v", "$w", "$_thread", "$_streq(\"a\", \"a\")", "$_strlen(\"abc\")", "$nosuch + 1", "$v = 3", "$_isvoid($nosuch)", "@entry")
}

// call draws a call of one of the program's functions; "" if none takes only numbers.
func (g *gen) call() string {
	for range 6 {
		f := g.function()
		if f == nil || f.Name == "main" || g.program.uncalled(f.Name) {
			continue
		}
		args, ok := g.arguments(f)
		if ok {
			return f.Name + "(" + strings.Join(args, ", ") + ")"
		}
	}
	return ""
}

// arguments draws arguments of a function. ok is false if one of them is not a number, or if the
// program is in Fortran.
func (g *gen) arguments(f *Function) (args []string, ok bool) {
	for _, p := range f.Params {
		if p.Type == nil || p.Type.Shape != Integer && p.Type.Shape != Floating {
			return nil, false
		}
		args = append(args, fmt.Sprint(g.r.IntN(5)))
	}
	return args, !g.fortran()
}
