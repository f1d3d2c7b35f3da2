package protocol

import "testing"

func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `a, b`: `a, b`, `f("a, b", ',')`: `f(, )`, `"a\"b" c`: ` c`, `'\'' "'" d`: `  d`, `a\"b"c`: `a\c`, `a "b`: `a `, `"a\`: ``,
	} {
		got := ""
		for i, b := range Unquoted(text) {
			if text[i] != b {
				t.Errorf("%s: %q at %d", text, b, i)
			}
			got += string(b)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for i := range Unquoted("ab") { // the loop can be left early
		if i == 0 {
			break
		}
		t.Error("it goes on")
	}
}
