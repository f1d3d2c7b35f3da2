// Reading and writing of escapes.

package mi

import "testing"

func TestUnescape(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", `abc`, "abc"},
		{"letters", `\a\b\e\f\n\r\t\v`, "\a\b\x1b\f\n\r\t\v"},
		{"themselves", `\\\"\'\?`, `\"'?`},
		{"octal", `\303\244`, "\u00e4"},
		{"octal, short", `\0|\1|\33`, "\x00|\x01|\x1b"},
		{"styles", `the \"\e[32;49;22mfile\e[m\" \033[1command\033[0m \e[`, "the \"file\" \x1b[1command \x1b["},
		{"octal ends after three digits", `\0017`, "\x017"},
		{"octal ends at 8", `\78`, "\x078"},
		{"octal beyond a byte keeps its low bits", `\777`, "\xff"},
		{"hexadecimal", `\x41\xfF\x9g`, "A\xff\tg"},
		{"hexadecimal ends after two digits", `\x414`, "A4"},
		{"no hexadecimal digit", `\xg`, "xg"},
		{"unknown letter", `\q`, "q"},
		{"raw bytes", "\xff\x00\u00e4", "\xff\x00\u00e4"},
		{"escape last", `ab\n`, "ab\n"},
		{"escaped quote last", `ab\"`, `ab"`},
		{"escaped backslash last", `ab\\`, `ab\`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := parseLine([]byte(`~"` + tt.text + `"`))
			if r.Class != Console || r.Text != tt.want {
				t.Errorf("%s is %v %q, want %q", tt.text, r.Class, r.Text, tt.want)
			}
		})
	}
}

func TestAppendCString(t *testing.T) {
	got := string(appendCString(nil, "a\"\\\n\t\a\v\x1b\x00\x7f\u00e4"))
	if want := `"a\"\\\n\t\a\013\e\000\177\303\244"`; got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
}
