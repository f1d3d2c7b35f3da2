// Groups as text, for transcripts and messages of failing tests.

package protocol

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// String formats the group as one line that depends on its content only:
//
//	stopped [0-2,4-7] {"reason":"breakpoint-hit"} args.n=1[0-2]|5[4-7]
func (g Group) String() string {
	var b strings.Builder
	b.WriteString(g.Kind.String())
	if g.Kind == KindStderr {
		b.WriteString(" stderr")
	}
	b.WriteString(" [" + g.Ranks.String() + "]")
	if len(g.Body) > 0 {
		b.WriteString(" " + BodyText(g.Body))
	}
	for _, c := range g.Columns {
		b.WriteString(" " + c.String())
	}
	if g.Stack != nil {
		b.WriteString(" " + g.Stack.String())
	}
	if g.Waits != nil {
		b.WriteString(" " + g.Waits.String())
	}
	return b.String()
}

// maxText is the number of bytes of a body in a transcript.
const maxText = 256

// BodyText formats a body for a transcript: JSON as it is, other bytes quoted, long
// bodies truncated.
func BodyText(body []byte) string {
	text := string(body[:min(len(body), maxText)])
	if len(body) == 0 || body[0] != '{' || !printable(text) {
		text = strconv.Quote(text)
	}
	if len(body) > maxText {
		text += "...(" + strconv.Itoa(len(body)) + " bytes)"
	}
	return text
}

func printable(text string) bool {
	return utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
