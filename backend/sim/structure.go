// Structures and lists as values: {x = rank, w = {1, 2}}.

package sim

import (
	"strings"

	"sdm/protocol"
)

// member is a member of a structure, or an element of a list, which has no name.
type member struct {
	name  string
	value value
}

// aggregate reads "{x = EXPR, y = EXPR}" or "{EXPR, EXPR}" after the opening brace.
func (e *expr) aggregate() (value, *protocol.Fault) {
	if e.depth++; e.depth > maxExprDepth {
		return value{}, gdbSays("expression is nested too deeply")
	}
	defer func() { e.depth-- }()
	out := value{opaque: true}
	for {
		m := member{name: e.memberName()}
		var bad *protocol.Fault
		if m.value, bad = e.binary(0); bad != nil {
			return value{}, bad
		}
		out.members = append(out.members, m)
		switch e.take(",", "}") {
		case "":
			return value{}, e.syntax()
		case "}":
			out.text = textOf(out.members)
			return out, nil
		}
	}
}

// memberName reads "x = ", if it is there.
func (e *expr) memberName() string {
	e.blanks()
	start := e.i
	for e.i < len(e.text) && isNameByte(e.text[e.i]) {
		e.i++
	}
	name := e.text[start:e.i]
	if !isName(name) || e.take("==") != "" || e.take("=") == "" {
		e.i = start
		return ""
	}
	return name
}

// textOf formats members as gdb does.
func textOf(members []member) string {
	var b strings.Builder
	for i, m := range members {
		b.WriteString([]string{"{", ", "}[min(i, 1)])
		if m.name != "" {
			b.WriteString(m.name + " = ")
		}
		b.WriteString(m.value.String())
	}
	return b.String() + "}"
}

// member finds a member of a structure by its path: "p.in.x".
func (s scope) member(path string) (value, bool) {
	name, rest, _ := strings.Cut(path, ".")
	v, ok := s.lookup(name)
	for ok && rest != "" {
		name, rest, _ = strings.Cut(rest, ".")
		v, ok = v.member(name)
	}
	return v, ok
}

func (v value) member(name string) (value, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}
