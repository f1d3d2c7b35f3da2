// The words and signs of a type, as gdb prints it.

package ptp

import (
	"regexp"
	"strconv"
	"strings"
)

// isQualifier are the qualifiers of types, as gdb writes them for C and C++.
var isQualifier = map[string]bool{"const": true, "volatile": true, "restrict": true, "__restrict__": true, "_Atomic": true}

// place is the location of a member, from the comment before it.
type place struct{ offset, bit, size int }

// token is a word, a sign, or the place of the following member.
type token struct {
	text  string
	space bool // blanks are before it
	place *place
}

var (
	placeComment = regexp.MustCompile(`^\s*/\*\s*(?:(\d+)(?::\s*(\d+))?\s*\|)?\s*(\d+)\s*\*/`)
	comment      = regexp.MustCompile(`/\*[^*]*\*/`)
	lexemes      = regexp.MustCompile(`[A-Za-z_$][A-Za-z_0-9$]*|-?\d+|::|\S`)
)

func tokenize(text string) []token {
	var out []token
	for line := range strings.Lines(text) {
		line, _ = strings.CutPrefix(line, "type = ")
		if m := placeComment.FindStringSubmatch(line); m != nil {
			pl := &place{offset: -1} // a member of a union begins with it
			if m[1] != "" {
				pl.offset, _ = strconv.Atoi(m[1])
			}
			pl.bit, _ = strconv.Atoi(m[2])
			pl.size, _ = strconv.Atoi(m[3])
			out = append(out, token{place: pl})
		}
		line = comment.ReplaceAllString(line, " ")
		line, _ = strings.CutPrefix(strings.TrimSpace(line), "type = ")
		for _, at := range lexemes.FindAllStringIndex(line, -1) {
			out = append(out, token{text: line[at[0]:at[1]], space: at[0] > 0 && line[at[0]-1] == ' '})
		}
	}
	return out
}

// typeParser reads tokens from the front.
type typeParser struct {
	tokens  []token
	resolve resolver
	depth   int
	stale   int // see inner
}

// maxNested bounds structures within structures.
const maxNested = 32

func (p *typeParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0].text
}

func (p *typeParser) take(text string) bool {
	if p.peek() != text || text == "" {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *typeParser) word() (string, bool) {
	w := p.peek()
	if !isWord(w) {
		return "", false
	}
	p.tokens = p.tokens[1:]
	return w, true
}

func isWord(w string) bool {
	if w == "" {
		return false
	}
	c := w[0]
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (p *typeParser) qualifiers() {
	for isQualifier[p.peek()] {
		p.tokens = p.tokens[1:]
	}
}

// bracketed takes the text from an opening bracket up to its end, or all that is left.
func (p *typeParser) bracketed(from, to string) string {
	var b strings.Builder
	open, round := 0, 0
	for i, t := range p.tokens {
		if t.space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		switch {
		case t.text == from && round == 0:
			open++
		case t.text == to && round == 0:
			open--
		case t.text == "(": // (a > b) as the argument of a template
			round++
		case t.text == ")":
			round--
		}
		if open == 0 {
			p.tokens = p.tokens[i+1:]
			return b.String()
		}
	}
	p.tokens = nil
	return b.String()
}

// upto divides the tokens at a closing sign, which both parts are without; brackets before it are closed.
func (p *typeParser) upto(sign string) (before, after []token) {
	open := 0
	for i, t := range p.tokens {
		if open == 0 && t.text == sign {
			return p.tokens[:i], p.tokens[i+1:]
		}
		switch t.text {
		case "{", "(", "[":
			open++
		case "}", ")", "]":
			open--
		}
	}
	return p.tokens, nil
}
