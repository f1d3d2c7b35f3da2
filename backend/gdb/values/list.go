// Source lines.

package values

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
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
	// maxLines bounds the lines of one listing.
	maxLines = 10_000
)

// listSource shows ten lines around the selected frame, lines First to Last of its
// file, ten lines around a location, or the lines from one location to another.
func (fr *Frames) listSource(q *request.Request) {
	if q.Args.Location != "" || q.Args.To != "" {
		fr.locate(q)
		return
	}
	fr.Ask(q, func(a request.Answer) {
		f, ok := FrameIn(a.Results)
		switch {
		case a.Failed():
			fr.Refused(q, a)
		case !ok || f.Full == "":
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "No symbol table is loaded for the selected frame.", Hint: "go up to a frame with source, or compile with -g"})
		default:
			first, last := q.Args.First, q.Args.Last
			if first == 0 {
				first, last = fr.around(q, f.Line)
			}
			fr.replyLines(q, f.File, f.Full, first, last, f.Line)
		}
	}, "-stack-info-frame", fr.At(q)...)
}

// linesFor returns how many lines are shown at a time.
func (fr *Frames) linesFor(q *request.Request) int {
	if q.Args.Count > 0 {
		return min(q.Args.Count, maxLines)
	}
	return linesShown
}

// around returns the lines that gdb shows for a line.
func (fr *Frames) around(q *request.Request, line int) (first, last int) {
	n := fr.linesFor(q)
	first = max(line-n/2, 1)
	return first, first + n - 1
}

func (fr *Frames) replyLines(q *request.Request, file, full string, first, last, current int) {
	if last == 0 {
		last = first + fr.linesFor(q) - 1
	}
	last = min(last, first+maxLines-1)
	text, err := fr.Sources().lines(full, first, last)
	if err != nil {
		fault := &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("%s: %v", file, err)}
		if errors.Is(err, fs.ErrNotExist) {
			fault.Hint = elsewhereHint
		}
		fr.Fail(q, fault)
		return
	}
	if len(text) == 0 {
		all, _ := fr.Sources().lines(full, 1, first) // it is cached
		fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("Line number %d out of range; %s has %d lines.", first, file, len(all))})
		return
	}
	body := listing{File: file}
	for i, t := range text {
		body.Lines = append(body.Lines, gdbtext.SourceLine{N: first + i, Text: t})
		if first+i == current {
			body.Current = current
		}
	}
	fr.Reply(q, body)
}

// locate finds a location and shows the lines around it, or those from there to
// another.
func (fr *Frames) locate(q *request.Request) {
	fr.lineFor(q, q.Args.Location, func(file string, first int) {
		fr.lineFor(q, q.Args.To, func(other string, last int) {
			if file == "" {
				file = other
			}
			page := fr.linesFor(q) - 1
			switch {
			case other != "" && other != file:
				fr.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "Specified first and last lines are in different files."})
				return
			case q.Args.To == "":
				first, last = fr.around(q, first)
			case q.Args.To[0] == '+':
				last = first + offset(q.Args.To[1:], page)
			case strings.HasPrefix(q.Args.Location, "-"):
				first = max(last-offset(q.Args.Location[1:], page), 1)
			}
			if last < first {
				fr.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("The last line, %d, is before the first, %d.", last, first)})
				return
			}
			if file == "" {
				q.Unshare()
				q.Args.Location, q.Args.To, q.Args.First, q.Args.Last = "", "", first, last
				fr.listSource(q)
				return
			}
			fr.findFile(q, file, first, last)
		})
	})
}

// offset parses the number of "+9" and "-9"; without one it is the size of a page.
func offset(text string, page int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return page
	}
	return min(max(n, 0), maxLines)
}

// lineFor finds one end of the listing. A bare line number is in the file of the other
// end, or of the selected frame; an offset needs no search. gdb's path may be relative
// to the compilation directory. -symbol-info… does not give it for a line; info line
// does.
func (fr *Frames) lineFor(q *request.Request, location string, then func(file string, line int)) {
	if n, err := strconv.Atoi(location); location == "" || location[0] == '+' || location[0] == '-' || err == nil {
		then("", n)
		return
	}
	k := fr.Ask(q, func(a request.Answer) {
		found := gdbtext.InfoLine.FindStringSubmatch(a.Text)
		switch {
		case a.Failed():
			fr.Refused(q, a)
		case found == nil:
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(a.Text)})
		default:
			line, _ := strconv.Atoi(found[1])
			one := func() { then(found[2], line) }
			if q.Args.To == "" && len(gdbtext.InfoLine.FindAllString(a.Text, 2)) > 1 {
				fr.listSeveral(q, one)
				return
			}
			one()
		}
	}, "-interpreter-exec", append(fr.At(q), "console", "info line "+location)...)
	k.Print = true
}

// listSeveral lists the functions of a name, as gdb does. It calls one if there is only
// one, in several places.
func (fr *Frames) listSeveral(q *request.Request, one func()) {
	k := fr.Ask(q, func(a request.Answer) {
		all, file := gdbtext.ParseExcerpts(a.Text)
		if a.Failed() || len(all) < 2 {
			one()
			return
		}
		last := all[len(all)-1]
		fr.Reply(q, listing{File: file, Lines: last.Lines, Head: last.Head, Before: all[:len(all)-1]})
	}, "-interpreter-exec", append(fr.At(q), "console", fmt.Sprintf("with listsize %d -- list %s", fr.linesFor(q), q.Args.Location))...)
	k.Print = true
}

// findFile asks gdb for the full path of a file.
func (fr *Frames) findFile(q *request.Request, file string, first, last int) {
	if filepath.IsAbs(file) {
		fr.replyLines(q, file, file, first, last, 0)
		return
	}
	k := fr.Ask(q, func(request.Answer) {}, "-interpreter-exec", append(fr.At(q), "console", fmt.Sprintf("list %s:%d", file, first))...)
	k.Print = true // discarded: it makes the file gdb's current one
	fr.Ask(q, func(a request.Answer) {
		full := a.Results.Str("fullname")
		if full == "" {
			full = file
		}
		fr.replyLines(q, file, full, first, last, 0)
	}, "-file-list-exec-source-file", fr.At(q)...)
}

// codeLines is the body of lines: those with code, rising.
type codeLines struct {
	Lines []int `json:"lines"`
}

// linesOfCode answers with the lines of a source that have code. gdb tells each piece of code with its line; 0 is code
// of no line.
func (fr *Frames) linesOfCode(q *request.Request) {
	file := q.Args.Location
	if strings.HasPrefix(file, "-") { // gdb would take it for an option
		fr.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(file) + " is no name of a source"})
		return
	}
	fr.Ask(q, func(a request.Answer) {
		if a.Failed() {
			fr.Refused(q, a)
			return
		}
		body := codeLines{Lines: []int{}}
		for _, f := range a.Results.Path("lines").Fields {
			n, err := strconv.Atoi(f.Value.Fields.Str("line"))
			if err == nil && n > 0 && n >= q.Args.First && (q.Args.Last == 0 || n <= q.Args.Last) {
				body.Lines = append(body.Lines, n)
			}
		}
		slices.Sort(body.Lines)
		body.Lines = slices.Compact(body.Lines)
		body.Lines = body.Lines[:min(len(body.Lines), maxLines)]
		fr.Reply(q, body)
	}, "-symbol-list-lines", append(fr.Where(q), file)...)
}
