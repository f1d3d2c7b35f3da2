package sim

import (
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	p := newProgram(1)
	inHelper := scope{rank: 3, size: 8, program: p, pos: p.at(8)}
	inCompute := scope{rank: 3, size: 8, program: p, pos: p.at(15)}
	caller := scope{rank: 3, size: 8, program: p, pos: p.at(8), level: 2}
	inMain := scope{rank: 3, size: 8, program: p, pos: p.at(22)}
	tests := []struct {
		text string
		in   scope
		want string // value, or gdb's error
	}{
		{"42", inHelper, "42"},
		{"0x10", inHelper, "16"},
		{"1.5", inHelper, "1.5"},
		{`"text"`, inHelper, `"text"`},
		{"x", inHelper, "3"},
		{"twice", inHelper, "6"},
		{"n", inHelper, `No symbol "n" in current context.`},
		{"sum", inCompute, "7"},
		{"x", caller, "0"},
		{"x", inMain, "7"},
		{"rank * 2 + size", inMain, "14"},
		{"size - rank - 1", inMain, "4"},
		{"(size - rank) / 2 % 3", inMain, "2"},
		{" - - rank ", inMain, "3"},
		{"!rank", inMain, "0"},
		{"rank == 3 && size != 9 || 1 / 0", inMain, "Division by zero"},
		{"rank >= 3 && rank <= 3 && rank < 4 && rank > 2", inMain, "1"},
		{"rank < 3 || 0", inMain, "0"},
		{"name", inMain, `0x555555556004 "worker"`},
		{"name + 1", inMain, "Argument to arithmetic operation not a number or boolean."},
		{"!name", inMain, "Argument to arithmetic operation not a number or boolean."},
		{"-name", inMain, "Argument to arithmetic operation not a number or boolean."},
		{"5 % 0", inMain, "Division by zero"},
		{"", inMain, "A syntax error in expression, near `'."},
		{"1 +", inMain, "A syntax error in expression, near `'."},
		{"(1", inMain, "A syntax error in expression, near `'."},
		{"1 2", inMain, "A syntax error in expression, near `2'."},
		{"@", inMain, "A syntax error in expression, near `@'."},
		{`"open`, inMain, "A syntax error in expression, near `\"open'."},
		{"12ab", inMain, `Invalid number "12ab".`},
		{"nothing", inMain, `No symbol "nothing" in current context.`},
		{"{x = rank, in = {1, rank == 3}}", inMain, "{x = 3, in = {1, 1}}"},
		{"{x}", inMain, "{7}"},
		{"{}", inMain, "A syntax error in expression, near `}'."},
		{"{x = 1", inMain, "A syntax error in expression, near `'."},
		{"{x = 1} + 1", inMain, "Argument to arithmetic operation not a number or boolean."},
		{strings.Repeat("{", 1000), inMain, "expression is nested too deeply"},
		{strings.Repeat("(", 1000), inMain, "expression is nested too deeply"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			v, bad := evaluate(tt.text, tt.in)
			got := v.String()
			if bad != nil {
				got = bad.Message
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{"(x + 2) * -3 >= size", `"a" == 'b'`, "1/0", "!!x||y&&z"} {
		f.Add(text)
	}
	p := newProgram(2)
	f.Fuzz(func(t *testing.T, text string) {
		v, bad := evaluate(text, scope{rank: 1, size: 2, program: p, pos: p.of(fnPhase)})
		if bad != nil && bad.Message == "" {
			t.Errorf("%q is refused without a word", text)
		}
		if bad == nil && v.String() == "" {
			t.Errorf("%q is nothing", text)
		}
	})
}
