package values

import "testing"

func TestLastIn(t *testing.T) {
	for _, c := range []struct {
		expr, last, want string
		used, numbered   bool
	}{
		{expr: "$", last: "n", want: "n", used: true},
		{expr: "$ + $", last: "a + 1", want: "(a + 1) + (a + 1)", used: true},
		{expr: "$name + $_exitcode", last: "n", want: "$name + $_exitcode"},
		{expr: "$->next", last: "list->head", want: "list->head->next", used: true},
		{expr: "$1", last: "n", want: "$1", numbered: true},
		{expr: "$$2 + 1", last: "n", want: "$$2 + 1", numbered: true},
		{expr: `f("$", '$')`, last: "n", want: `f("$", '$')`},
		{expr: `f("a\"$", $)`, last: "n", want: `f("a\"$", n)`, used: true},
	} {
		got, used, numbered := lastIn(c.expr, c.last)
		if got != c.want || used != c.used || numbered != c.numbered {
			t.Errorf("%s: %s, %v, %v", c.expr, got, used, numbered)
		}
	}
}
