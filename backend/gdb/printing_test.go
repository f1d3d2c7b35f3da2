package gdb

import (
	"testing"

	"sdm/protocol"
)

func TestPrintingOf(t *testing.T) {
	for _, c := range []struct{ format, expr, of, line string }{
		{"", " n ", "n", "print n"},
		{"x", "n", "n", "print /x n"},
		{"", "/x n", "n", "print /x n"},
		{"", "-pretty -- n", "n", "print -pretty -- n"},
		{"", "-elements 5 -pretty -- /d a[3]", "a[3]", "print -elements 5 -pretty -- /d a[3]"},
		{"", "-n", "-n", "print -n"},
		{"", "n -- m", "n -- m", "print n -- m"},
	} {
		w := printingOf(protocol.Args{Expr: c.expr, Format: c.format})
		if w.expr != c.of || w.line(w.expr) != c.line {
			t.Errorf("%s %s: %q by %q", c.format, c.expr, w.expr, w.line(w.expr))
		}
	}
	w := printingOf(protocol.Args{Expr: "n", Format: "x"})
	if got := w.line("n[200]@9", "-elements 9"); got != "print -elements 9 -- /x n[200]@9" {
		t.Error(got)
	}
}

func TestActs(t *testing.T) {
	for _, c := range []struct {
		expr string
		acts bool
	}{
		{"a[3]->b.c", false}, {"*(p + 3)@20", false}, {"(char *) p", false}, {"sizeof (a)", false}, {"a == b", false}, {"*(char (*)[8])1", false},
		{"a <= b", false}, {"&(*p)[0]", false}, {"std::map<int, int>::x", false},
		{"next(a)", true}, {"v.at (3)", true}, {"a = b", true}, {"*p++", true}, {"--p", true}, {"a += 2", true},
	} {
		if got := acts(c.expr, false); got != c.acts {
			t.Errorf("%s: %v", c.expr, got)
		}
	}
	if acts("grid(3, :)", true) || !acts("grid(3) = 2", true) {
		t.Error("an index of Fortran is taken for a call, or an assignment for none")
	}
}

func TestTyped(t *testing.T) {
	show, compare := &command{}, &command{args: protocol.Args{Compare: true}}
	for value, want := range map[string][2]bool{
		"@0x7ffe": {true, true}, "0x7ffe <g>": {true, false}, "": {true, false}, `0x7ffe "text"`: {false, false}, "5": {false, false}, "{p = 0x1}": {false, false},
	} {
		if got := [2]bool{show.typed(value), compare.typed(value)}; got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if head := referenceHead("(const size_t &) @0x555555576ee8: 5"); head != "(const size_t &) @0x555555576ee8: " || referenceHead(`"@0x1: 2"`) != "" {
		t.Errorf("head is %q", head)
	}
}
