package gdbtext

import "testing"

func TestOperand(t *testing.T) {
	for expr, want := range map[string]string{"x": "x", "3 +": "3 +", "-x": "-x", "sizeof (a)": "sizeof (a)", "--all": " --all", "--x": " --x"} {
		if got := Operand(expr); got != want {
			t.Errorf("%q: %q", expr, got)
		}
	}
}
