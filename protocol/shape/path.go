// Paths of the leaves of a template.

package shape

import (
	"strconv"
	"strings"
)

// Paths returns the paths of the leaves of a template as a program would write
// them, as far as the text allows: "x", "in.y", "w[2]"; in Fortran "z(3)", counted
// from 1. The leaf of a value without members has the path "".
func Paths(template string) []string {
	p := paths{template: template}
	p.element("")
	return p.all
}

type paths struct {
	template string
	at       int
	all      []string
}

// element processes an element of the value at path.
func (p *paths) element(path string) {
	from, done := p.at, false
	for p.at < len(p.template) {
		c := p.template[p.at]
		switch c {
		case elementMark, closeMark:
			return
		case leafMark:
			p.all = append(p.all, path)
		case openMark:
			p.list(path, p.template[p.at-1] == '(')
			continue
		case ' ':
			if done || !strings.HasPrefix(p.template[p.at:], " = ") {
				break
			}
			done = true // the rest is a value
			if name, ok := memberName(p.template[from:p.at]); ok {
				path = under(path, name)
			}
		}
		p.at++
	}
}

// list processes the elements of a list.
func (p *paths) list(path string, fortran bool) {
	indexed := !p.named()
	p.at++
	for i := 0; p.at < len(p.template); i++ {
		at := path
		switch {
		case indexed && fortran:
			at += "(" + strconv.Itoa(i+1) + ")"
		case indexed:
			at += "[" + strconv.Itoa(i) + "]"
		}
		p.element(at)
		if p.at == len(p.template) {
			return
		}
		p.at++
		if p.template[p.at-1] == closeMark {
			return
		}
	}
}

// named reports whether the first element of a list is a named member.
func (p *paths) named() bool {
	rest := p.template[p.at+1:]
	if end := strings.IndexAny(rest, marks); end >= 0 {
		rest = rest[:end]
	}
	name, _, ok := strings.Cut(rest, " = ")
	if !ok {
		return false
	}
	_, ok = memberName(name)
	return ok
}

// memberName parses the text before " = ": a name, a base class, a key.
func memberName(text string) (string, bool) {
	name := strings.TrimLeft(text, ", \n")
	name = strings.TrimPrefix(name, "static ")
	if name == "" || strings.ContainsAny(name, marks+" ") && name[0] != '[' && name[0] != '<' {
		return "", false
	}
	return name, true
}

// under returns the path of a member; a base class adds nothing.
func under(path, name string) string {
	switch {
	case name[0] == '<':
		return path
	case name[0] == '[' || path == "":
		return path + name
	}
	return path + "." + name
}
