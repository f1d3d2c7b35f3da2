package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"short", "x > 1", "x > 1"},
		{"as long as may be", strings.Repeat("x", 60), strings.Repeat("x", 60)},
		{"too long", strings.Repeat("x", 61), strings.Repeat("x", 60) + "..."},
		{"two bytes at the edge", "x" + strings.Repeat("é", 40), "x" + strings.Repeat("é", 29) + "..."},
		{"four bytes at the edge", "xyz" + strings.Repeat("😀", 20), "xyz" + strings.Repeat("😀", 14) + "..."},
		{"not UTF-8", strings.Repeat("\x80", 70), strings.Repeat("\x80", 56) + "..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Clip(c.text)
			if got != c.want || utf8.ValidString(c.text) != utf8.ValidString(got) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
