// Text without control characters.
//
// Names, paths, values and verdicts have none wherever they are written. Output of ranks has none on
// a terminal, and is exact in pipes and files.

package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// output writes output of ranks, each line after its ranks. There is no count, because the line is
// the program's own. A piece without a final newline gets one, to separate pieces of different
// ranks.
func (w *Writer) output(b *strings.Builder, g protocol.Group, from string) {
	header := "[" + clipped(g.Ranks) + "] "
	if from != "" { // a starter's, of no rank
		header = ""
	}
	if w.Color && header != "" {
		header = dim + header + reset
	}
	body := bytes.TrimSuffix(g.Body, []byte("\n"))
	if w.Terminal {
		body = bytes.TrimSuffix(body, []byte("\r"))
	}
	for _, line := range bytes.Split(body, []byte("\n")) {
		text := string(line)
		if w.Terminal {
			text = Clean(text)
		}
		b.WriteString(header + text + "\n")
	}
}

// names are the fields of answers and events that have a name or a path, which is part of a line.
var names = []string{"func", "file", "fullname", "args", "from", "library", "program", "host", "hosts", "location", "places", "name", "names", "path", "label", "of"}

// inLine returns a group whose names have no control characters, newlines included: a name comes from a
// program or a file that anybody may have made, and must not begin a line that looks like ours.
func inLine(g protocol.Group) protocol.Group {
	if !g.Kind.IsOutput() && bytes.IndexByte(g.Body, '\\') >= 0 { // JSON has no control character as it is
		var body any
		d := json.NewDecoder(bytes.NewReader(g.Body))
		d.UseNumber()
		if d.Decode(&body) == nil {
			g.Body = canonical.JSON(cleanNames(body, false))
		}
	}
	return g
}

// cleanNames cleans the names in a value of JSON; named tells that it is one.
func cleanNames(v any, named bool) any {
	switch v := v.(type) {
	case string:
		if named {
			return Clean(v)
		}
	case []any:
		for i := range v {
			v[i] = cleanNames(v[i], named)
		}
	case map[string]any:
		for key := range v {
			v[key] = cleanNames(v[key], slices.Contains(names, key))
		}
	}
	return v
}

// Clean makes a text harmless that comes from programs, or from files: control characters, including newline,
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
		case r >= 0x80 && r < 0xa0 || protocol.ChangesDirection(r):
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
