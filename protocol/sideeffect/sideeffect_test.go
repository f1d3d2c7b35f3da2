package sideeffect

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		expr string
		acts bool
	}{
		{"i", false}, {"(p)->next", false}, {"a != b", false}, {"a == b", false}, {"a<=b", false}, {"a >= b", false},
		{"a[3]->b.c", false}, {"*(p + 3)@20", false}, {"*((x)+100)@100", false}, {"&(*p)[0]", false}, {"(x)[3]", false},
		{"(char *) p", false}, {"(char)(x)", false}, {"*(char (*)[8])1", false}, {"(*(char (*)[8])p)[1]", false},
		{"sizeof (a)", false}, {"sizeof(x) + 1", false}, {"_Alignof(x)", false}, {"std::map<int, int>::x", false}, {"a > (b)", false},
		{"next(a)", true}, {"v.at (3)", true}, {"a == f(b)", true}, {"mysizeof(x)", true}, {"größe(x)", true},
		{"(*f)(1)", true}, {"(*t.f) (1)", true}, {"table[2](x)", true}, {"most<int>(x)", true}, {"most<int[2]>(x)", true},
		{"a = b", true}, {"*p++", true}, {"--p", true}, {"a += 2", true}, {"i <<= 2", true}, {"i >>= 2", true},
	} {
		if got := Of(c.expr, false); got != c.acts {
			t.Errorf("%s: %v", c.expr, got)
		}
	}
	if Of("grid(3, :)", true) || !Of("grid(3) = 2", true) {
		t.Error("an index of Fortran is taken for a call, or an assignment for none")
	}
}

func TestCalls(t *testing.T) {
	if Calls("a = b") || !Calls("a = f(b)") || Calls("sizeof(x) == 2") {
		t.Error("an assignment or sizeof is taken for a call, or a call for none")
	}
}
