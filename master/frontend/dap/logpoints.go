// What the client writes into a breakpoint: hit conditions and log messages.

package dap

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// hitCount returns the hit from which on a breakpoint stops.
func hitCount(text string) (int, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return 0, nil
	}
	more := 0
	switch {
	case strings.HasPrefix(s, ">="):
		s = s[2:]
	case strings.HasPrefix(s, ">"):
		s, more = s[1:], 1
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("hit condition %q: a number, >N or >=N (from that hit on, of each rank)", clip(text))
	}
	return n + more, nil
}

// expressions returns the expressions in a log message: those in braces.
func expressions(message string) []string {
	var found []string
	pieces(message, func(string) {}, func(expr string) { found = append(found, expr) })
	if len(found) == 0 {
		found = []string{"1"} // log shows a value at least
	}
	return found
}

// pieces calls word with each text and value with each expression of a log message: "x is {x}".
func pieces(message string, word, value func(string)) {
	for {
		open := strings.IndexByte(message, '{')
		if open < 0 {
			break
		}
		end := closing(message[open:])
		if end < 0 {
			break
		}
		word(message[:open])
		if expr := strings.TrimSpace(message[open+1 : open+end]); expr != "" {
			value(expr)
		}
		message = message[open+end+1:]
	}
	word(message)
}

// closing returns the index of the brace that closes the first one; -1: none does.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// logged shows a log message with the values of the ranks that have passed it.
func (a *adapter) logged(e session.Event) {
	var l protocol.Logged
	x := (*placed)(nil)
	if json.Unmarshal(e.Group.Body, &l) == nil {
		x = a.points.numbers[l.Breakpoint]
	}
	if x == nil || x.log == "" {
		a.say("console", trim(a.writer.Event(e)))
		return
	}
	var b strings.Builder
	b.WriteString("[" + text.Ranks(e.Group.Ranks) + "] ")
	n := 0
	pieces(x.log, func(s string) { b.WriteString(s) }, func(string) {
		if c, ok := e.Group.Column("value." + strconv.Itoa(n)); ok {
			b.WriteString(text.Spread(c))
		}
		n++
	})
	a.say("console", text.Clean(b.String()))
}
