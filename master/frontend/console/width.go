// Lines of answers that are longer than the screen is wide.

package console

import (
	"strings"
	"unicode/utf8"
)

// continued begins the rest of a line that is broken.
const continued = "  "

// fitted breaks the long lines of a text for a person at a terminal: at blanks, as gdb does, where the terminal would
// break them within a number or a word. A text for anybody else stays as it is.
func (s *screen) fitted(text string) string {
	columns := s.pager.width
	if s.cfg.Screen == nil || !s.cfg.Interactive || columns < 0 {
		return text
	}
	if columns == 0 {
		_, columns = s.cfg.Screen()
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		fit(&b, line, columns)
	}
	return b.String()
}

// fit writes a line so that its words end within the columns of the screen; the terminal breaks a longer one. A line
// with a tab is one of a source or of instructions, and stays as it is.
func fit(b *strings.Builder, line string, columns int) {
	if len(line) <= columns || strings.Contains(line, "\t") {
		b.WriteString(line)
		return
	}
	column := 0
	for line, n := line, 0; line != ""; line = line[n:] {
		n = wordEnd(line)
		word := line[:n]
		width := screenWidth(word)
		if bare := strings.TrimLeft(word, " "); column > 0 && column+width > columns && strings.TrimSpace(bare) != "" {
			width -= len(word) - len(bare)
			word, column = bare, len(continued)
			b.WriteString("\n" + continued)
		}
		b.WriteString(word)
		if column += width; column > columns {
			column = (column-1)%columns + 1
		}
	}
}

// wordEnd returns where the first word of a line ends, with the blanks in front of it. Blanks in quotes are parts of a
// value and belong to a word, and so do those in a = 1: a member stays with the beginning of its value.
func wordEnd(line string) int {
	begun, quoted := false, false
	for n := 0; n < len(line); n++ {
		switch c := line[n]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			n++
		case c == ' ' && begun && !quoted && !isBound(line, n):
			return n
		}
		begun = begun || line[min(n, len(line)-1)] != ' '
	}
	return len(line)
}

// isBound reports whether a blank in a line is one of a = 1 or the character ' '.
func isBound(line string, n int) bool {
	return strings.HasPrefix(line[n-1:], "' '") || strings.HasPrefix(line[n:], " = ") || strings.HasSuffix(line[:n], " =")
}

// screenWidth returns how many columns a part of a line takes.
func screenWidth(s string) int {
	width := 0
	for n := 0; n < len(s) && s[n] != '\n'; {
		if size := colour(s[n:]); size > 0 {
			n += size
			continue
		}
		_, size := utf8.DecodeRuneInString(s[n:])
		n, width = n+size, width+1
	}
	return width
}

// colour returns the length of the sequence for a colour with which a text begins; 0: it begins with none.
func colour(s string) int {
	if s[0] != '\x1b' {
		return 0
	}
	if end := strings.IndexByte(s, 'm'); end > 0 && end < 8 {
		return end + 1
	}
	return 0
}
