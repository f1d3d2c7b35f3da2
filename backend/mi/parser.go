// Splitting a stream of bytes into records.

package mi

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxLine bounds one line, in bytes. A record reports that a longer line was skipped.
const MaxLine = 64 << 20

// keepBuffer bounds the memory that a Parser keeps between lines, in bytes: most lines are
// shorter, and memory for one long answer is released.
const keepBuffer = 256 << 10

// Parser splits a stream into records. Feed takes pieces of any size; records are passed in order
// to the callback. The zero Parser is ready. One goroutine uses it.
type Parser struct {
	// Want, if set, says which async records (Exec, Status, Notify) are wanted, by name; it is
	// called once for each name. Unwanted records are skipped without parsing, which is 15 times
	// faster and allocates nothing. Results, texts and prompts are always wanted. It must not be
	// changed after the first Feed.
	Want func(class Class, name string) bool

	partial  []byte // the partial line
	skipping bool   // the line is too long, and its rest is dropped
	head     []byte // first bytes of the line that is dropped
	skipped  int64
	limit    int // MaxLine, unless a test sets it
	lex      lexer
	wants    map[string]bool // results of Want, by mark and name
}

// Feed takes the next bytes of the stream, which it does not keep, and calls emit for every line
// that they complete. emit may keep its record; it must not call the Parser.
func (p *Parser) Feed(b []byte, emit func(Record)) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.keep(b)
			return
		}
		p.endLine(b[:i], emit)
		b = b[i+1:]
	}
}

// Finish handles a last line without newline at the end of the stream.
func (p *Parser) Finish(emit func(Record)) {
	if len(p.partial) > 0 || p.skipping {
		p.endLine(nil, emit)
	}
}

// endLine handles a line whose last bytes are b.
func (p *Parser) endLine(b []byte, emit func(Record)) {
	if p.skipping || len(p.partial)+len(b) > p.max() {
		p.skip(b)
		emit(tooLong(p.head, p.skipped))
		p.skipping, p.head, p.skipped = false, nil, 0
		return
	}
	if len(p.partial) > 0 {
		b = append(p.partial, b...)
		p.partial = b[:0]
	}
	if isPrompt(b) { // the most frequent line: one after each answer
		emit(Record{Class: Prompt, Token: -1})
	} else if p.wanted(b) {
		emit(p.lex.record(string(b)))
	}
	if cap(p.partial) > keepBuffer {
		p.drop()
	}
	if cap(p.lex.open)*64 > keepBuffer {
		p.lex.open = nil
	}
	p.lex.s = ""
}

// tooLong returns the record in place of a skipped line of n bytes: an error for a result record,
// otherwise a console text.
func tooLong(head []byte, n int64) Record {
	text := fmt.Sprintf("gdb has written a line of %d bytes, more than the %d that are read: it was skipped.", n, MaxLine)
	digits := 0
	for digits < len(head) && isDigit(head[digits]) {
		digits++
	}
	if digits < len(head) && head[digits] == '^' {
		token, err := strconv.ParseInt(string(head[:digits]), 10, 64)
		if err != nil {
			token = -1
		}
		return Record{Class: Result, Token: token, Name: "error", Results: Tuple{{Name: "msg", Value: Value{Str: text}}}}
	}
	return Record{Class: Console, Token: -1, Text: text + "\n"}
}

// isPrompt recognises the usual prompts; header recognises all.
func isPrompt(line []byte) bool {
	// The conversion to string does not allocate.
	return len(line) <= len("(gdb) \r") && strings.TrimRight(string(line), " \r") == "(gdb)"
}

// keep stores a partial line.
func (p *Parser) keep(b []byte) {
	if p.skipping || len(p.partial)+len(b) > p.max() {
		p.skip(b)
		return
	}
	p.partial = append(p.partial, b...)
}

// skip drops a piece of a line that is too long, except the first bytes of the line.
func (p *Parser) skip(b []byte) {
	if !p.skipping {
		head := slices.Concat(p.partial[:min(len(p.partial), maxHead)], b[:min(len(b), maxHead)])
		p.head = head[:min(len(head), maxHead)]
	}
	p.skipped += int64(len(p.partial) + len(b))
	p.skipping = true
	p.drop()
}

// maxHead is how many bytes are enough to recognise a line: a token and a mark.
const maxHead = 24

func (p *Parser) drop() { p.partial = nil }

func (p *Parser) max() int {
	if p.limit > 0 {
		return p.limit
	}
	return MaxLine
}

// maxToken and maxName bound what wanted reads, in bytes: a token has fewer digits, and names are
// shorter.
const (
	maxToken = 20
	maxName  = 64
)

// maxWants bounds wants. gdb has about 30 names; output of the program may look like further ones.
const maxWants = 256

// wanted reads only the first bytes of a line.
func (p *Parser) wanted(line []byte) bool {
	if p.Want == nil {
		return true
	}
	mark := 0
	for mark < len(line) && mark < maxToken && isDigit(line[mark]) {
		mark++
	}
	if mark == len(line) || line[mark] != '*' && line[mark] != '+' && line[mark] != '=' {
		return true
	}
	end := mark + 1
	for end < len(line) && end < mark+maxName &&
		(isLower(line[end]) || end > mark+1 && (line[end] == '-' || isDigit(line[end]))) {
		end++
	}
	if end == mark+1 {
		return true
	}
	wanted, known := p.wants[string(line[mark:end])] // does not allocate
	if !known {
		wanted = p.ask(string(line[mark:end]))
	}
	return wanted
}

func (p *Parser) ask(name string) bool {
	wanted := p.Want(Class(strings.IndexByte(marks, name[0])), name[1:])
	if p.wants == nil {
		p.wants = map[string]bool{}
	}
	if len(p.wants) < maxWants {
		p.wants[name] = wanted
	}
	return wanted
}
