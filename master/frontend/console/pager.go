// Long answers at a prompt: a screenful at a time.

package console

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/master/frontend/console/command"
)

// pager keeps what of an answer has not been shown yet. The zero value asks before it scrolls, by the size of the screen.
type pager struct {
	off    bool   // set pagination off
	height int    // set height: lines of a page; 0 is the screen, below 0 no limit
	rest   string // what is not shown yet; then the prompt asks whether to go on
}

// morePrompt is what gdb asks.
const morePrompt = "--Type <RET> for more, q to quit, c to continue without paging--"

// paged writes an answer to what was typed: as much as the screen holds, or all where nothing pages.
func (c *console) paged(x *call, s string) {
	if rows, columns := c.pageSize(x); rows > 0 {
		s, c.pager.rest = cutPage(s, rows, columns)
	}
	c.cfg.Out.Write([]byte(s))
}

// pageSize gives how many lines may be written before the prompt asks, 0 for any number: the last line of the screen is for
// the question.
func (c *console) pageSize(x *call) (rows, columns int) {
	if c.cfg.Screen == nil || !c.cfg.Interactive || !x.typed || c.pager.off || c.pager.height < 0 || c.await.call != x {
		return 0, 0
	}
	rows, columns = c.cfg.Screen()
	if c.pager.height > 0 {
		rows = c.pager.height
	}
	return max(rows-1, 1), columns
}

// turnPage takes what was answered to morePrompt.
func (c *console) turnPage(line string) {
	s := c.pager.rest
	c.pager.rest = ""
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case strings.HasPrefix("quit", word) && word != "":
		return
	case word == "c":
	default:
		rows, columns := c.cfg.Screen()
		if c.pager.height > 0 {
			rows = c.pager.height
		}
		s, c.pager.rest = cutPage(s, max(rows-1, 1), columns)
	}
	c.cfg.Out.Write([]byte(s))
}

// cutPage parts a text behind so many lines of a screen; a long line takes several.
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

// screenLine gives the length of what stands in one line of the screen, its end included.
func screenLine(s string, columns int) int {
	n, width := 0, 0
	for n < len(s) {
		switch {
		case s[n] == '\n':
			return n + 1
		case s[n] == '\x1b': // a colour takes no room
			if end := strings.IndexByte(s[n:], 'm'); end > 0 && end < 8 {
				n += end + 1
				continue
			}
		case width >= columns && columns > 0:
			return n
		}
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
		width++
	}
	return n
}

// setPaging carries out set height and set pagination, and their show.
func (c *console) setPaging(cmd command.Command) {
	switch cmd.Name {
	case command.SetPagination:
		c.pager.off = cmd.Number == 0
	case command.ShowPagination:
		c.say("State of pagination is " + map[bool]string{true: "off", false: "on"}[c.pager.off] + ".")
	case command.SetHeight:
		if c.pager.height = cmd.Number; cmd.Number == 0 {
			c.pager.height = -1
		}
	case command.ShowHeight:
		rows := c.pager.height
		if rows == 0 && c.cfg.Screen != nil {
			rows, _ = c.cfg.Screen()
		}
		text := strconv.Itoa(rows)
		if rows <= 0 {
			text = "unlimited"
		}
		c.say("Number of lines gdb thinks are in a page is " + text + ".")
	}
}
