// Output of ranks, without control characters.

package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
)

// output writes output of ranks, each line after its ranks. There is no count, because the line is
// the program's own. A piece without a final newline gets one, to separate pieces of different
// ranks.
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

// clean is Clean if the text is for a terminal.
func (w *Writer) clean(s string) string {
	if !w.Terminal {
		return s
	}
	return Clean(s)
}

// Clean makes text from programs harmless on a terminal: control characters, including newline,
// become visible (^[), invalid UTF-8 becomes \xHH, tabs are preserved.
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

// isDirection reports whether a character changes the direction of the following text, which could
// make a line look like another one.
func isDirection(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
