// Words of a command line that was written as one text.

package dap

import (
	"errors"
	"strings"
)

// split splits a line into words as a shell does: blanks separate them, unless they are in single or double quotes or
// behind a backslash. Nothing else has a meaning.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			in, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case escaped:
		return nil, errors.New("nothing follows the last backslash")
	case in:
		words = append(words, word.String())
	}
	return words, nil
}
