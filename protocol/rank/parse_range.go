// Numbers and ranges in the language of rank sets.

package rank

import (
	"errors"
	"strconv"
	"strings"
)

// atEnd reports whether this character starts an end of a range.
func (p *parser) atEnd(c byte) bool { return c == '$' || '0' <= c && c <= '9' }

// span parses a range, whose ends may be separated by "-" or the other separator,
// and returns its ranks that exist.
func (p *parser) span(separator string) Set {
	at := p.at
	first := p.end()
	if separator == "-" {
		p.refuseDots(first)
	}
	if p.err != nil {
		return Set{}
	}
	if !p.accept('-') && (separator == "-" || !p.acceptText(separator)) {
		if !p.env.All.Contains(first) {
			p.fail(at, "there is no rank %d; the ranks are %s", first, clip(p.env.All.String()))
			return Set{}
		}
		return Range(first, first)
	}
	last := p.end()
	step := p.step()
	switch {
	case p.err != nil:
		return Set{}
	case last < first:
		p.fail(at, "range %d-%d runs backwards; type %d-%d", first, last, last, first)
		return Set{}
	}
	return stepped(first, last, step).Intersect(p.env.All)
}

// refuseDots fails on "3.2" and "0..3".
func (p *parser) refuseDots(first ID) {
	switch rest := p.text[p.at:]; {
	case p.err != nil:
	case strings.HasPrefix(rest, ".."):
		p.fail(p.at, "a range has a \"-\"; type %d-%s", first, clip(strings.TrimLeft(rest, ".")))
	case strings.HasPrefix(rest, "."):
		p.fail(p.at, "threads of a rank cannot be chosen here; type the rank alone, %d", first)
	}
}

// end parses an end of a range: a rank that is not beyond the last.
func (p *parser) end() ID {
	c, at := p.peek(), p.at
	last, some := p.env.All.Max()
	if !p.atEnd(c) {
		p.unexpected("a rank")
		return 0
	}
	if !some {
		p.fail(at, "there are no ranks yet; start or attach to a program first")
		return 0
	}
	if p.accept('$') {
		return last
	}
	n, err := p.digits()
	if err != nil || ID(n) > last {
		p.fail(at, "there is no rank %s; the last is %d", clip(p.text[at:p.at]), last)
		return 0
	}
	return ID(n)
}

// step parses ":2", the distance of the ranks of a range. Without it, the distance
// is 1.
func (p *parser) step() ID {
	if p.peek() != ':' {
		return 1
	}
	p.at++
	p.skipSpace()
	at := p.at
	n, err := p.digits()
	if err != nil || n == 0 {
		p.fail(at, "expected a step from 1 to %d after \":\", as in 0-1023:2", MaxID)
		return 1
	}
	return ID(n)
}

var errNumber = errors.New("not a number up to the highest rank")

// digits parses a number of at most MaxID; it consumes all of the digits.
func (p *parser) digits() (int, error) {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(p.text[start:p.at])
	if err != nil || n > int(MaxID) {
		return 0, errNumber
	}
	return n, nil
}

func (p *parser) acceptText(text string) bool {
	if p.peek() == 0 || len(p.text)-p.at < len(text) || p.text[p.at:p.at+len(text)] != text {
		return false
	}
	p.at += len(text)
	return true
}

// stepped returns every step-th rank from first to last.
func stepped(first, last, step ID) Set {
	if step == 1 {
		return Range(first, last)
	}
	s := Set{first: uint32(first), pace: paced(uint32(step), 1)}
	return s.part(0, int((last-first)/step)+1)
}
