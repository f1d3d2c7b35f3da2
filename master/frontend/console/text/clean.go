package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
)

// output writes what ranks wrote, a line with its ranks in front. There is no
// count: the line is the program's, and it is read as such. A piece that does
// not end its line gets a newline, so that two pieces of different ranks do not
// run together.
func (w *Writer) output(b *strings.Builder, g protocol.Group) {
	header := "[" + clipped(g.Ranks) + "] "
	if w.Color {
		header = dim + header + reset
	}
	body := bytes.TrimSuffix(g.Body, []byte("\n"))
	if w.Terminal {
		body = bytes.TrimSuffix(body, []byte("\r"))
	}
	for _, line := range bytes.Split(body, []byte("\n")) {
		b.WriteString(header + w.clean(string(line)) + "\n")
	}
}

// clean is Clean where the text goes to a terminal.
func (w *Writer) clean(s string) string {
	if !w.Terminal {
		return s
	}
	return Clean(s)
}

// Clean makes text from outside harmless on a terminal: control characters, the end of
// a line included, become visible (^[), what is no text becomes \xHH, tabs stay.
func Clean(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteByte('\t')
		case r < ' ' || r == 0x7f:
			b.WriteByte('^')
			b.WriteByte(byte(r) ^ 0x40)
		case r >= 0x80 && r < 0xa0 || isDirection(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func harmless(s string) bool {
	for i := 0; i < len(s); i++ {
		if (s[i] < ' ' && s[i] != '\t') || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// isDirection tells the characters that reorder what follows them, which could
// make a line read as another one.
func isDirection(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
