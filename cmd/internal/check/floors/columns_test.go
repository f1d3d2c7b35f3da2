// Lines are short.

package floors

import (
	"go/scanner"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the length of a line of code or comment. A tab is one column; the text of string literals is not
// counted.
const maxColumns = 120

// wide are folders with files that have longer lines still.
var wide = []string{"backend/probe/"}

func TestLinesAreShort(t *testing.T) {
	for name, text := range sources(t) {
		if isWide(name) {
			continue
		}
		for _, line := range longLines(text) {
			t.Errorf("%s:%d is longer than %d columns", name, line, maxColumns)
		}
	}
}

// TestLongLines has lines of which some are too long.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", maxColumns-1)
	for name, c := range map[string]struct {
		text string
		want int // the number of the line that is too long; 0: none
	}{
		"tab and code":     {"package p\n\nfunc f() {\n\t" + long + "\n}\n", 0},
		"two tabs":         {"package p\n\nfunc f() {\n\t\t" + long + "\n}\n", 4},
		"comment":          {"package p\n// " + long + "\n", 2},
		"string":           {"package p\n\nvar s = \"" + long + "\"\n", 0},
		"code at a string": {"package p\n\nvar s" + long + " = \"\"\n", 3},
		"raw string":       {"package p\n\nvar s = `\n" + long + "xx\n`\n", 0},
		"wide characters":  {"package p\n// " + strings.Repeat("é", maxColumns-3) + "\n", 0},
	} {
		got := longLines(c.text)
		if len(got) > 1 || len(got) == 1 && got[0] != c.want || len(got) == 0 && c.want != 0 {
			t.Errorf("%s: lines %v, want %d", name, got, c.want)
		}
	}
}

func isWide(name string) bool {
	for _, folder := range wide {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

// longLines returns the numbers of the lines that are too long.
func longLines(text string) []int {
	columns := []int{0} // of each line
	for _, line := range strings.Split(text, "\n") {
		columns = append(columns, utf8.RuneCountInString(line))
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok != token.STRING {
			continue
		}
		for i, part := range strings.Split(literal, "\n") {
			columns[file.Line(pos)+i] -= utf8.RuneCountInString(part)
		}
	}
	var long []int
	for number, n := range columns {
		if n > maxColumns {
			long = append(long, number)
		}
	}
	return long
}
