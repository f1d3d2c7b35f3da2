package gdbtext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestShortened(t *testing.T) {
	for _, c := range []struct {
		name, value string
		most        int
		text        string
		shown       int
	}{
		{"short", "{1, 2, 3}", 9, "{1, 2, 3}", 3},
		{"array", "{1, 2, 3, 4, 5}", 13, "{1, 2, 3...}", 3},
		{"that was cut", "{1, 2, 3, 4, 5...}", 14, "{1, 2, 3...}", 3},
		{"repeated", "{1 <repeats 12 times>, 2, 3, 4, 5, 6, 7, 8}", 30, "{1 <repeats 12 times>, 2...}", 13},
		{"structures", "{{x = 1, y = 2}, {x = 3, y = 4}, {x = 5, y = 6}}", 40, "{{x = 1, y = 2}, {x = 3, y = 4}...}", 2},
		{"container", "std::map with 3 elements = {[1] = 2, [3] = 4, [5] = 6}", 45, "std::map with 3 elements = {[1] = 2...}", 1},
		{"Fortran", "(1, 2, 3, 4, 5, 6)", 15, "(1, 2, 3, ...)", 3},
		{"a large element", "{{x = 1, y = 2}, {x = 3, y = 4}}", 10, "{{x = 1, y...", 0},
		{"text", "\"grüße und so weiter\"", 4, "\"gr...", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text, shown := Truncate(c.value, c.most); text != c.text || shown != c.shown {
				t.Errorf("got %q, %d", text, shown)
			}
		})
	}
}

// A long member of a structure is shown as far as there is room, and not left out.
func TestShortenedMember(t *testing.T) {
	text, _ := Truncate("{n = 4, v = {"+strings.Repeat("100, ", 99)+"100}}", 250)
	want := "{n = 4, v = {" + strings.TrimSuffix(strings.Repeat("100, ", 45), ", ") + "...}...}"
	if text != want || !IsTruncated(text) {
		t.Errorf("got %q", text)
	}
}

func FuzzShortened(f *testing.F) {
	f.Add("{{1, 2} <repeats 7 times>, \"a{b\", (3, 4)}", 10)
	f.Add("(((1, 2) (3, 4)) <repeats 48 times> ...)", 12)
	f.Add("grüße", 3)
	f.Fuzz(func(t *testing.T, value string, most int) {
		most = min(max(most, 0), 100)
		text, shown := Truncate(value, most)
		if len(text) > max(most, len("{, ...)"))+len("...") && len(text) > most+len("...") || shown < 0 {
			t.Errorf("%q in %d bytes: %q, %d elements", value, most, text, shown)
		}
		if utf8.ValidString(value) && !utf8.ValidString(text) {
			t.Errorf("%q in %d bytes: a character is cut in %q", value, most, text)
		}
	})
}

func TestWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		value, text string
		cut         int
	}{
		{`"abc"`, `"abc"`, 0},
		{`"ab", <incomplete sequence \303>`, `"ab"`, 1},
		{`'x' <repeats 12 times>, <incomplete sequence \342\202>`, `'x' <repeats 12 times>`, 2},
		{`<incomplete sequence \303>`, `<incomplete sequence \303>`, 0},
		{`"a <incomplete sequence \303>"`, `"a <incomplete sequence \303>"`, 0},
	} {
		if text, cut := WholeCharacters(c.value); text != c.text || cut != c.cut {
			t.Errorf("%s: got %s, %d", c.value, text, cut)
		}
	}
}

func TestZeroIn(t *testing.T) {
	for _, c := range []struct {
		bytes      string
		size, want int
	}{
		{"abc\x00d", 1, 3},
		{"abc", 1, 3},
		{"", 1, 0},
		{"a\x00\x00b\x00\x00", 2, 4}, // not the two zeros of two characters
		{strings.Repeat("a\x00\x00\x00", 3) + "\x00\x00\x00\x00", 4, 12},
		{"a\x00\x00\x00\x00\x00", 4, 6}, // the last character is not whole
	} {
		if got := IndexZero([]byte(c.bytes), c.size); got != c.want {
			t.Errorf("%q: got %d, want %d", c.bytes, got, c.want)
		}
	}
}
