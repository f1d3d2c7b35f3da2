package console

import (
	"bytes"
	"strings"
	"testing"

	"sdm/master/language"
	"sdm/protocol/rank"
)

func TestFit(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"short", "[0] x = 1\n", "[0] x = 1\n"},
		{"as long as the screen", "0123456789\n", "0123456789\n"},
		{"in front of a blank", "0123456789 1\n", "0123456789\n  1\n"},
		{"numbers", "x = {1000, 2000, 3000}\n", "x = {1000,\n  2000,\n  3000}\n"},
		{"a long word", "= 012345678901234567890 1 2\n", "=\n  012345678901234567890 1 2\n"},
		{"members", "{a = 1, bb = 2}\n", "{a = 1,\n  bb = 2}\n"},
		{"without an end", "01234 67890", "01234\n  67890"},
		{"colours take no columns", "\x1b[36m[0-3]\x1b[0m x = 12\n", "\x1b[36m[0-3]\x1b[0m\n  x = 12\n"},
		{"letters of two bytes", "äöüß äöüß\n", "äöüß äöüß\n"},
		{"in quotes", `s = "a b c d e f g" <repeats>` + "\n", "s = \"a b c d e f g\"\n  <repeats>\n"},
		{"an escaped quote", `s = "a\" b c d e f" 1` + "\n", "s = \"a\\\" b c d e f\"\n  1\n"},
		{"the character of a blank", "c = 32 ' ', 33 '!'\n", "c = 32\n  ' ', 33\n  '!'\n"},
		{"an indentation", "    a = 100000\n", "    a = 100000\n"},
		{"a source line", "17\t    if (a && b) return;\n", "17\t    if (a && b) return;\n"},
		{"blanks at the end", "0123456789   \n", "0123456789   \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			fit(&b, c.line, 10)
			if b.String() != c.want {
				t.Errorf("got\n%q, want\n%q", b.String(), c.want)
			}
		})
	}
}

// Lines are broken for a person at a terminal only, and set width tells where.
func TestWidth(t *testing.T) {
	const text, broken = "[0] x = {1, 2, 3}\n", "[0] x = {1,\n  2, 3}\n"
	width := func(n int) *language.Command { return &language.Command{Name: language.SetWidth, Number: n} }
	for _, c := range []struct {
		name        string
		interactive bool
		screen      func() (int, int)
		set         *language.Command
		want, shown string
	}{
		{"at a prompt", true, func() (int, int) { return 24, 12 }, nil, broken, "12"},
		{"of a wide screen", true, func() (int, int) { return 24, 80 }, nil, text, "80"},
		{"set width 12", true, func() (int, int) { return 24, 80 }, width(12), broken, "12"},
		{"set width 0", true, func() (int, int) { return 24, 12 }, width(0), text, "unlimited"},
		{"of a script", false, func() (int, int) { return 24, 12 }, nil, text, "12"},
		{"in a pipe", true, nil, width(12), text, "12"},
		{"in a pipe, without a width", true, nil, nil, text, "unlimited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			con := newConsole(t.Context(), Config{Out: &out, All: rank.Range(0, 0), Interactive: c.interactive, Screen: c.screen})
			if c.set != nil {
				con.setPaging(*c.set)
			}
			con.paged(text, false)
			con.setPaging(language.Command{Name: language.ShowWidth})
			if want := c.want + "Number of characters gdb thinks are in a line is " + c.shown + ".\n"; out.String() != want {
				t.Errorf("got\n%q, want\n%q", out.String(), want)
			}
		})
	}
}
