// Output of "list" and "info line".

package gdbtext

import (
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

// Excerpt is the listing of one of several functions.
type Excerpt struct {
	Head  string       `json:"head"`
	Lines []SourceLine `json:"lines"`
}

// SourceLine is a line of a source file with its number.
type SourceLine struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// InfoLine matches the output of "info line" for a location:
//
//	Line 21 of "work.c" starts at address 0x1149 <helper> and ends at 0x1150 <helper+7>.
//	Line number 99 is out of range for "work.c".
var InfoLine = pattern.New(`Line (?:number )?(\d+) (?:of|is out of range for) "([^"]*)"`)

var (
	// functionHead matches the line before the listing of one of several functions.
	functionHead = pattern.New(`^file: "(.*)", line number: \d+, symbol: ".*"$`)
	numberedLine = pattern.New(`^(\d+)\t(.*)$`)
)

// ParseExcerpts reads the listing of several functions, and returns the file of the last one.
func ParseExcerpts(text string) (all []Excerpt, file string) {
	for line := range strings.SplitSeq(text, "\n") {
		if found := functionHead.FindStringSubmatch(line); found != nil {
			all, file = append(all, Excerpt{Head: line, Lines: []SourceLine{}}), found[1]
			continue
		}
		if found := numberedLine.FindStringSubmatch(line); found != nil && len(all) > 0 {
			n, _ := strconv.Atoi(found[1])
			e := &all[len(all)-1]
			e.Lines = append(e.Lines, SourceLine{N: n, Text: found[2]})
		}
	}
	return all, file
}
