// What a value consists of.

package sim

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// members lists the members of a structure or the elements of an array, as the gdb back end does.
func (m *machine) members(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	level, bad := m.level(s, a)
	if bad != nil {
		return answer{}, bad
	}
	if a.First < 0 || a.Count > protocol.MaxMembers {
		return answer{}, protocol.NoSuchPage()
	}
	sc := m.scope(s, level)
	w := walk{scope: sc, expr: a.Expr}
	if w.value, bad = evaluate(a.Expr, sc); bad != nil {
		return answer{}, bad
	}
	w.array, w.isArray = sc.arrayNamed(a.Expr)
	for _, name := range a.Path {
		if bad := w.enter(name); bad != nil {
			return answer{}, bad
		}
	}
	body := protocol.Members{Expr: a.Expr, Path: a.Path, Type: w.typeOf(), Count: w.count(), First: a.First}
	body.List = []protocol.Member{}
	count := a.Count
	if count == 0 {
		count = protocol.DefaultMembers
	}
	cells := []cell{{"value", w.text()}}
	for i := a.First; i < min(a.First+count, body.Count); i++ {
		child, bad := w.child(i)
		if bad != nil {
			return answer{}, bad
		}
		cells = append(cells, cell{"value." + child.name, child.text()})
		listed := protocol.Member{Name: child.name, Type: child.typeOf(), Count: child.count(), Expr: child.expr}
		if !child.isArray && listed.Count > 0 {
			listed.Count = protocol.SomeMembers
		}
		body.List = append(body.List, listed)
	}
	body.More = a.First+len(body.List) < body.Count && count > 0
	return answer{kind: protocol.KindResult, body: canonical.JSON(body), cells: sorted(cells)}, nil
}

// walk is a value or a part of it.
type walk struct {
	scope   scope
	name    string
	expr    string
	value   value
	array   int // of the scope, if isArray
	isArray bool
}

func (w *walk) enter(name string) *protocol.Fault {
	n, err := strconv.Atoi(strings.Trim(name, "[]"))
	at := []int{n}
	if err != nil {
		at = make([]int, len(w.value.members))
		for i := range at {
			at[i] = i
		}
	}
	for _, i := range at {
		if i < 0 || i >= w.count() {
			break
		}
		if child, bad := w.child(i); bad == nil && child.name == name {
			*w = child
			return nil
		}
	}
	return gdbSays("there is no %s in %s", protocol.Clip(name), w.expr)
}

func (w *walk) count() int {
	if w.isArray {
		return w.scope.globals[w.array].Elements
	}
	return len(w.value.members)
}

func (w *walk) child(i int) (walk, *protocol.Fault) {
	if w.isArray {
		v, bad := w.scope.element(w.array, int64(i))
		name := "[" + strconv.Itoa(i) + "]"
		return walk{scope: w.scope, name: name, expr: w.expr + name, value: v}, bad
	}
	m := w.value.members[i]
	if m.name == "" {
		name := "[" + strconv.Itoa(i) + "]"
		return walk{scope: w.scope, name: name, expr: w.expr + name, value: m.value}, nil
	}
	return walk{scope: w.scope, name: m.name, expr: w.expr + "." + m.name, value: m.value}, nil
}

func (w *walk) text() string {
	switch {
	case w.isArray || len(w.value.members) > 0 && w.value.members[0].name == "":
		return "[" + strconv.Itoa(w.count()) + "]"
	case len(w.value.members) > 0:
		return "{...}"
	}
	return w.value.String()
}

func (w *walk) typeOf() string {
	switch {
	case w.isArray || len(w.value.members) > 0 && w.value.members[0].name == "":
		return "long [" + strconv.Itoa(w.count()) + "]"
	case len(w.value.members) > 0:
		return "struct {...}"
	case w.value.opaque:
		return "const char *"
	}
	return "long"
}
