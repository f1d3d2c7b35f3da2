// Decoding of commands.

package protocol

import (
	"bytes"
	"encoding/json"
)

// ReadCommand decodes the body of a command. Each server decodes each command once,
// and nearly all have only a few short strings and numbers. A special decoder for
// these takes a third of the time; package json decodes the others.
func ReadCommand(body []byte) (*Command, error) {
	c := new(Command)
	if readPlain(body, c) {
		return c, nil
	}
	*c = Command{}
	return c, json.Unmarshal(body, c)
}

// readPlain decodes a canonical command with plain arguments, or reports that it is
// not one; c may be partly filled then.
func readPlain(body []byte, c *Command) bool {
	p := plain(body)
	if !p.skip(`{"command":`) || !p.text(&c.Name) || !p.skip(`,"args":{`) {
		return false
	}
	for first := true; !p.skip("}}"); first = false {
		if !first && !p.skip(",") || !p.argument(&c.Args) {
			return false
		}
	}
	return len(p) == 0
}

// plain is the rest of a body.
type plain []byte

func (p *plain) skip(what string) bool {
	rest, found := bytes.CutPrefix(*p, []byte(what))
	*p = rest
	return found
}

// argument decodes a name and its value.
func (p *plain) argument(a *Args) bool {
	key, ok := p.quoted()
	if !ok || !p.skip(":") {
		return false
	}
	switch string(key) {
	case "expr":
		return p.text(&a.Expr)
	case "location":
		return p.text(&a.Location)
	case "condition":
		return p.text(&a.Condition)
	case "breakpoint":
		return p.number(&a.Breakpoint)
	case "count":
		return p.number(&a.Count)
	case "thread":
		return p.number(&a.Thread)
	case "by":
		return p.text(&a.By)
	case "limit":
		return p.number(&a.Limit)
	case "format":
		return p.text(&a.Format)
	}
	return false
}

func (p *plain) text(to *string) bool {
	s, ok := p.quoted()
	*to = string(s)
	return ok
}

// quoted decodes a string of printable ASCII without escapes.
func (p *plain) quoted() ([]byte, bool) {
	if len(*p) == 0 || (*p)[0] != '"' {
		return nil, false
	}
	for i, c := range (*p)[1:] {
		switch {
		case c == '"':
			s := (*p)[1 : i+1]
			*p = (*p)[i+2:]
			return s, true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// number decodes up to nine digits in JSON's syntax.
func (p *plain) number(to *int) bool {
	n := 0
	for n < len(*p) && '0' <= (*p)[n] && (*p)[n] <= '9' {
		n++
	}
	if n == 0 || n > 9 || n > 1 && (*p)[0] == '0' {
		return false
	}
	*to = 0
	for _, c := range (*p)[:n] {
		*to = *to*10 + int(c-'0')
	}
	*p = (*p)[n:]
	return true
}
