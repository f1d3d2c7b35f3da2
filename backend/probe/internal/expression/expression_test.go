package expression

import (
	"fmt"
	"strings"
	"testing"
)

// tree writes an expression with all parentheses.
func tree(e *Expr) string {
	switch e.Op {
	case Variable:
		return e.Name.String()
	case Number:
		return fmt.Sprint(e.Value)
	case Member:
		return tree(e.Of) + "." + e.Field
	case Target:
		return "(*" + tree(e.Of) + ")"
	case Element:
		var all []string
		for _, x := range e.Indices {
			all = append(all, tree(x))
		}
		return tree(e.Of) + "[" + strings.Join(all, ",") + "]"
	}
	return "(" + tree(e.Of) + map[Op]string{Sum: "+", Difference: "-", Product: "*"}[e.Op] + tree(e.Other) + ")"
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"step":                        "step",
		" s . step ":                  "s.step",
		"p->step":                     "p.step",
		"a[3]":                        "a[3]",
		"p->grid.iter[2]":             "p.grid.iter[2]",
		"*p":                          "(*p)",
		"**p->q":                      "(*(*p.q))",
		"(*p).x":                      "(*p).x",
		"Domain::cycle":               "Domain::cycle",
		"::step":                      "::step",
		"(anonymous namespace)::step": "step",
		"a::(anonymous namespace)::b": "a::b",
		"Box<int, Pair<a, b> >::n":    "Box<int,Pair<a,b>>::n",
		"mod::s%a(2, -1)%x":           "mod::s.a[2,(0-1)].x",
		"'solver.c'::step":            "'solver.c'::step",
		"a[i][j-1]":                   "a[i][(j-1)]",
		"a[b[2]+0x10]":                "a[(b[2]+16)]",
		"1000*outer + inner":          "((1000*outer)+inner)",
		"a-b->c":                      "(a-b.c)",
		"a - *p":                      "(a-(*p))",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got := tree(e); got != want || e.String() != strings.TrimSpace(text) {
			t.Errorf("%q is %s (%q), want %s", text, got, e, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "a name is missing",
		"p->":                    "must follow ->",
		"s.2":                    "must follow .",
		"a[":                     "a name is missing",
		"a[]":                    "an index is missing",
		"a(1:2)":                 "parts of arrays",
		"a(:)":                   "an index is missing",
		"a[1":                    "] is missing",
		"(a":                     ") is missing",
		"a/b":                    `"/b" is not understood`,
		"&a":                     "leave out &",
		"3":                      "never changes",
		"3*4":                    "never changes",
		"-3+(4)":                 "never changes",
		"*3":                     "never changes",
		"a[9999999999999999999]": "is no integer",
		"B<int":                  "> is missing",
		"'a.c'step":              "'solver.c'::step",
		"''::step":               "'solver.c'::step",
		"(anonymous namespace)":  "a name is missing",
		"a::":                    "a name is missing",
		"f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)": "too many indices",
		strings.Repeat("(", 100) + "a":                             "nested too deeply",
		strings.Repeat("*", 100) + "a":                             "nested too deeply",
		strings.Repeat("a", 2000):                                  "more than 1024 bytes",
		strings.Repeat("a+", 200) + "a":                            "too long",
	} {
		if e, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", text, e, err, want)
		}
	}
}

// FuzzParse checks that what is read can be read again from its own text, and that nothing is nested deeply.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"p->grid.iter[2]", "mod::s%a(2,-1)%x", "B<A<int> >::n", "'a.c'::x", "(*p).q", "a*b+c-1", "::x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(e.String())
		if err != nil || tree(again) != tree(e) {
			t.Errorf("%q is %s, and again %v, %v", text, tree(e), again, err)
		}
		if depth(e) > 5*maxText {
			t.Errorf("%q has depth %d", text, depth(e))
		}
	})
}

func depth(e *Expr) int {
	if e == nil {
		return 0
	}
	most := max(depth(e.Of), depth(e.Other))
	for _, x := range e.Indices {
		most = max(most, depth(x))
	}
	return 1 + most
}
