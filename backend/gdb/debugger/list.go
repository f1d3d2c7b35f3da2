// Source lines.

package debugger

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// listing is the body of list.
type listing struct {
	File    string               `json:"file"`
	Lines   []gdbtext.SourceLine `json:"lines"`
	Current int                  `json:"current,omitempty"` // line of the selected frame
	// which of several functions of that name this is
	Head   string            `json:"head,omitempty"`
	Before []gdbtext.Excerpt `json:"before,omitempty"` // the others
}

const (
	linesShown = 10 // as gdb's listsize
	// mostLines bounds the lines of one listing.
	mostLines = 10_000
)

// listSource shows ten lines around the selected frame, lines First to Last of its
// file, ten lines around a location, or the lines from one location to another.
func (m *Machine) listSource(q *Request) {
	if q.args.Location != "" || q.args.To != "" {
		m.locate(q)
		return
	}
	m.ask(q, func(a answer) {
		f, ok := frameIn(a.Results)
		switch {
		case a.failed():
			m.refused(q, a)
		case !ok || f.Full == "":
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "No symbol table is loaded for the selected frame.", Hint: "go up to a frame with source, or compile with -g"})
		default:
			first, last := q.args.First, q.args.Last
			if first == 0 {
				first, last = m.around(q, f.Line)
			}
			m.replyLines(q, f.File, f.Full, first, last, f.Line)
		}
	}, "-stack-info-frame", m.at(q)...)
}

// linesFor returns how many lines are shown at a time.
func (m *Machine) linesFor(q *Request) int {
	if q.args.Count > 0 {
		return min(q.args.Count, mostLines)
	}
	return linesShown
}

// around returns the lines that gdb shows for a line.
func (m *Machine) around(q *Request, line int) (first, last int) {
	n := m.linesFor(q)
	first = max(line-n/2, 1)
	return first, first + n - 1
}

func (m *Machine) replyLines(q *Request, file, full string, first, last, current int) {
	if last == 0 {
		last = first + m.linesFor(q) - 1
	}
	last = min(last, first+mostLines-1)
	text, err := m.Host.lines(full, first, last)
	if err != nil {
		fault := &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("%s: %v", file, err)}
		if errors.Is(err, fs.ErrNotExist) {
			fault.Hint = elsewhereHint
		}
		m.fail(q, fault)
		return
	}
	if len(text) == 0 {
		all, _ := m.Host.lines(full, 1, first) // it is cached
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("Line number %d out of range; %s has %d lines.", first, file, len(all))})
		return
	}
	body := listing{File: file}
	for i, t := range text {
		body.Lines = append(body.Lines, gdbtext.SourceLine{N: first + i, Text: t})
		if first+i == current {
			body.Current = current
		}
	}
	m.reply(q, body)
}

// locate finds a location and shows the lines around it, or those from there to
// another.
func (m *Machine) locate(q *Request) {
	m.lineFor(q, q.args.Location, func(file string, first int) {
		m.lineFor(q, q.args.To, func(other string, last int) {
			if file == "" {
				file = other
			}
			page := m.linesFor(q) - 1
			switch {
			case other != "" && other != file:
				m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "Specified first and last lines are in different files."})
				return
			case q.args.To == "":
				first, last = m.around(q, first)
			case q.args.To[0] == '+':
				last = first + offset(q.args.To[1:], page)
			case strings.HasPrefix(q.args.Location, "-"):
				first = max(last-offset(q.args.Location[1:], page), 1)
			}
			if last < first {
				m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("The last line, %d, is before the first, %d.", last, first)})
				return
			}
			if file == "" {
				q.apart()
				q.args.Location, q.args.To, q.args.First, q.args.Last = "", "", first, last
				m.listSource(q)
				return
			}
			m.findFile(q, file, first, last)
		})
	})
}

// offset parses the number of "+9" and "-9"; without one it is that of a page.
func offset(text string, page int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return page
	}
	return min(max(n, 0), mostLines)
}

// lineFor finds one end of the listing. A bare line number is in the file of the other
// end, or of the selected frame; an offset needs no search. gdb's path may be relative
// to the compilation directory. -symbol-info… does not give it for a line; info line
// does.
func (m *Machine) lineFor(q *Request, location string, then func(file string, line int)) {
	if n, err := strconv.Atoi(location); location == "" || location[0] == '+' || location[0] == '-' || err == nil {
		then("", n)
		return
	}
	k := m.ask(q, func(a answer) {
		found := gdbtext.InfoLine.FindStringSubmatch(a.text)
		switch {
		case a.failed():
			m.refused(q, a)
		case found == nil:
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(a.text)})
		default:
			line, _ := strconv.Atoi(found[1])
			one := func() { then(found[2], line) }
			if q.args.To == "" && len(gdbtext.InfoLine.FindAllString(a.text, 2)) > 1 {
				m.listSeveral(q, one)
				return
			}
			one()
		}
	}, "-interpreter-exec", append(m.at(q), "console", "info line "+location)...)
	k.print = true
}

// listSeveral lists the functions of a name, as gdb does. It calls one if there is only
// one, in several places.
func (m *Machine) listSeveral(q *Request, one func()) {
	k := m.ask(q, func(a answer) {
		all, file := gdbtext.ParseExcerpts(a.text)
		if a.failed() || len(all) < 2 {
			one()
			return
		}
		last := all[len(all)-1]
		m.reply(q, listing{File: file, Lines: last.Lines, Head: last.Head, Before: all[:len(all)-1]})
	}, "-interpreter-exec", append(m.at(q), "console", fmt.Sprintf("with listsize %d -- list %s", m.linesFor(q), q.args.Location))...)
	k.print = true
}

// findFile asks gdb for the full path of a file.
func (m *Machine) findFile(q *Request, file string, first, last int) {
	if filepath.IsAbs(file) {
		m.replyLines(q, file, file, first, last, 0)
		return
	}
	k := m.ask(q, func(answer) {}, "-interpreter-exec", append(m.at(q), "console", fmt.Sprintf("list %s:%d", file, first))...)
	k.print = true // discarded: it makes the file gdb's current one
	m.ask(q, func(a answer) {
		full := a.Results.Str("fullname")
		if full == "" {
			full = file
		}
		m.replyLines(q, file, full, first, last, 0)
	}, "-file-list-exec-source-file", m.at(q)...)
}
