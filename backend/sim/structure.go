// Structures and lists as values: {x = rank, w = {1, 2}}.

package sim

import (
	"strings"
)

// member is a member of a structure, or an element of a list, which has no name.
type member struct {
	name  string
	value value
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
