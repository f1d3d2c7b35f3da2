// Paging of long answers at a prompt.

package console

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/master/language"
)

// pager keeps the rest of an answer. The zero value pages by the size of the screen.
type pager struct {
	off    bool   // set pagination off
	height int    // set height: lines of a page; 0 is the screen's height, below 0 no limit
	width  int    // set width: columns of a line; 0 is the screen's width, below 0 any number
	rest   string // the rest of the answer; if not empty, the prompt asks whether to continue
}

// morePrompt is gdb's.
const morePrompt = "--Type <RET> for more, q to quit, c to continue without paging--"

// paged writes an answer: as much as the screen holds if it is the answer to a typed command that
// the prompt waits for, all otherwise.
func (s *screen) paged(text string, typed bool) {
	text = s.fitted(text)
	if rows, columns := s.pageSize(); rows > 0 && typed {
		text, s.pager.rest = cutPage(text, rows, columns)
	}
	s.cfg.Out.Write([]byte(text))
}

// pageSize returns how many lines may be written before the prompt asks, 0 for any number: the last
// line of the screen is for the prompt.
func (s *screen) pageSize() (rows, columns int) {
	if s.cfg.Screen == nil || !s.cfg.Interactive || s.pager.off || s.pager.height < 0 {
		return 0, 0
	}
	rows, columns = s.cfg.Screen()
	if s.pager.height > 0 {
		rows = s.pager.height
	}
	return max(rows-1, 1), columns
}

// turnPage processes the answer to morePrompt.
func (s *screen) turnPage(line string) {
	text := s.pager.rest
	s.pager.rest = ""
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case strings.HasPrefix("quit", word) && word != "":
		return
	case word == "c":
	default:
		rows, columns := s.cfg.Screen()
		if s.pager.height > 0 {
			rows = s.pager.height
		}
		text, s.pager.rest = cutPage(text, max(rows-1, 1), columns)
	}
	s.cfg.Out.Write([]byte(text))
}

// cutPage splits a text after a number of lines of the screen; a long line takes several.
func cutPage(s string, rows, columns int) (page, rest string) {
	at := 0
	for row := 0; row < rows && at < len(s); row++ {
		at += screenLine(s[at:], columns)
	}
	if at == len(s) {
		return s, ""
	}
	page = s[:at]
	if !strings.HasSuffix(page, "\n") { // within a long line
		page += "\n"
	}
	return page, s[at:]
}

// screenLine returns the length in bytes of the text in one line of the screen, including its
// newline.
func screenLine(s string, columns int) int {
	n, width := 0, 0
	for n < len(s) {
		switch {
		case s[n] == '\n':
			return n + 1
		case colour(s[n:]) > 0:
			n += colour(s[n:])
			continue
		case width >= columns && columns > 0:
			return n
		}
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
		width++
	}
	return n
}

// setPaging executes set height, set width and set pagination, and their show.
func (s *screen) setPaging(cmd language.Command) {
	rows, columns := 0, 0
	if s.cfg.Screen != nil {
		rows, columns = s.cfg.Screen()
	}
	switch cmd.Name {
	case language.SetPagination:
		s.pager.off = cmd.Number == 0
	case language.ShowPagination:
		s.say("State of pagination is " + map[bool]string{true: "off", false: "on"}[s.pager.off] + ".")
	case language.SetHeight:
		if s.pager.height = cmd.Number; cmd.Number == 0 {
			s.pager.height = -1
		}
	case language.SetWidth:
		if s.pager.width = cmd.Number; cmd.Number == 0 {
			s.pager.width = -1
		}
	case language.ShowHeight:
		s.say("Number of lines gdb thinks are in a page is " + limit(s.pager.height, rows) + ".")
	case language.ShowWidth:
		s.say("Number of characters gdb thinks are in a line is " + limit(s.pager.width, columns) + ".")
	}
}

// limit returns what was set, or what the screen has.
func limit(set, screen int) string {
	if set == 0 {
		set = screen
	}
	if set <= 0 {
		return "unlimited"
	}
	return strconv.Itoa(set)
}
