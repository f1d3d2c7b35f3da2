// Package shellwords splits a command line that was written as one text into its words. It is pure.
package shellwords

import (
	"errors"
	"strings"
)

// Word is one word of a line.
type Word struct {
	Text   string // without its quotes
	Quoted bool   // in whole or in part
}

// Split splits a line at blanks that are not quoted, as a POSIX shell splits a line without special characters (POSIX
// Shell Command Language, 2.2 Quoting). Characters that are special to a shell are as others.
func Split(line string) ([]Word, error) {
	var words []Word
	var word *Word
	quote := rune(0)
	escaped := false
	for _, c := range line {
		blank := c == ' ' || c == '\t' || c == '\n'
		if word == nil && quote == 0 && blank {
			continue
		}
		if word == nil {
			words = append(words, Word{})
			word = &words[len(words)-1]
		}
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", c) {
				word.Text += "\\"
			}
			word.Text, escaped = word.Text+string(c), false
		case c == '\\' && quote != '\'':
			word.Quoted, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			word.Quoted, quote = true, c
		case quote == 0 && blank:
			word = nil
		default:
			word.Text += string(c)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quotation does not end")
	}
	return words, nil
}
