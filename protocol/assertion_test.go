package protocol

import (
	"slices"
	"testing"
)

func TestOperands(t *testing.T) {
	for expr, want := range map[string][]string{
		"n > 0":                                  {"n"},
		"0 <= i && i < n":                        {"i", "n"},
		"a[i < 3] == p->x || !(q.y != 2)":        {"a[i < 3]", "p->x", "q.y"},
		"!done":                                  {"done"},
		"x":                                      {"x"},
		"(n)":                                    {"n"},
		"(u(i,j) .le. limit) .AND. .not. ( ok )": {"u(i,j)", "limit", "ok"},
		"n /= 3":                                 {"n"},
		"a << 2 > b >> 1":                        {"a << 2", "b >> 1"},
		"strcmp(name, \"a < b\") == 0":           {"strcmp(name, \"a < b\")"},
		"c != ' ' && c != '\\''":                 {"c"},
		"a == b && c == d && e == f":             {"a", "b", "c", "d"},
		"1 == 2":                                 nil,
		"":                                       nil,
		"a) > (b":                                {"a) > (b"},
	} {
		if got := Operands(expr); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", expr, got, want)
		}
	}
}

func TestOutcome(t *testing.T) {
	for value, want := range map[string]string{
		"1": Fails, "true": Fails, ".TRUE.": Fails, "0": Holds, "false": Holds, ".FALSE.": Holds,
		"{1, 0}": "it is neither true nor false: {1, 0}",
	} {
		if got := Outcome(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestStrideOf(t *testing.T) {
	for _, c := range []struct{ elements, most, want int }{{10, 10, 1}, {11, 10, 2}, {1000, 10, 128}, {5, 0, 8}, {1, 1, 1}} {
		if got := StrideOf(c.elements, c.most); got != c.want {
			t.Errorf("%d elements, at most %d: %d, want %d", c.elements, c.most, got, c.want)
		}
	}
}

func FuzzOperands(f *testing.F) {
	f.Add("a < b && (c == ')' || d)")
	f.Fuzz(func(t *testing.T, expr string) {
		if n := len(Operands(expr)); n > maxOperands {
			t.Errorf("%d operands", n)
		}
	})
}
