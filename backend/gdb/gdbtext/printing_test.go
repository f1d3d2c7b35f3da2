package gdbtext

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
		w := ParsePrinting(protocol.Args{Expr: c.expr, Format: c.format})
		if w.Expr != c.of || w.Line(w.Expr) != c.line {
			t.Errorf("%s %s: %q by %q", c.format, c.expr, w.Expr, w.Line(w.Expr))
		}
	}
	w := ParsePrinting(protocol.Args{Expr: "n", Format: "x"})
	if got := w.Line("n[200]@9", "-elements 9"); got != "print -elements 9 -- /x n[200]@9" {
		t.Error(got)
	}
}
