// Parts of a value that gdb has cut off: a long array in a structure.

package gdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
)

// cutPart finds the first part of a value that gdb has cut off, below the value itself: how it is reached from
// there, and how many of its elements stand in the value.
//
//	{n = 3, u = {0, 1, 2...}, v = {...}}                          .u, 3
//	{{x = 1, name = "abc"...}, {...}}                             [0].name, 3
//	{<base> = {u = std::vector of length 9, capacity 9 = {1...}}} .u, 1
func cutPart(value string) (path string, shown int, ok bool) {
	if !strings.Contains(value, "...") {
		return "", 0, false
	}
	return cutWithin(strings.TrimSpace(value), "", mostDims)
}

var (
	memberName = regexp.MustCompile(`^([A-Za-z_]\w*) = `)
	baseClass  = regexp.MustCompile(`^<[^<>]+(?:<.*>)?> = `)
	vectorOf   = regexp.MustCompile(`^std::(vector|valarray) of length [0-9]+(?:, capacity [0-9]+)? = `)
	vectorHead = regexp.MustCompile(`(?:^|= )std::(?:vector|valarray) of length [0-9]+$`)
)

func cutWithin(value, path string, depth int) (string, int, bool) {
	head := vectorOf.FindStringSubmatch(value)
	items := path // what an index is put behind; a vector's own would be a call of the program
	if head != nil {
		value = value[len(head[0]):]
		items += map[string]string{"vector": "._M_impl._M_start", "valarray": "._M_data"}[head[1]]
	}
	braces := strings.HasPrefix(value, "{")
	if path != "" && isCut(value) && (braces && isRow(value) || isText(value)) {
		return path, elementsIn(value), true
	}
	if !braces || depth == 0 {
		return "", 0, false
	}
	i := 0
	for _, piece := range members(value[1:]) {
		element, times := repeats(piece)
		below := fmt.Sprintf("%s[%d]", items, i)
		if found := memberName.FindStringSubmatch(element); found != nil {
			element, below = element[len(found[0]):], path+"."+found[1]
		} else if base := baseClass.FindString(element); base != "" {
			element, below = element[len(base):], path
		}
		if p, n, ok := cutWithin(element, below, depth-1); ok {
			return p, n, true
		}
		i += times
	}
	return "", 0, false
}

// members are pieces, but the commas in "std::vector of length 9, capacity 9 = {" and in the name of a base
// class part none.
func members(text string) []string {
	var all []string
	for _, piece := range pieces(text) {
		piece = strings.TrimSpace(piece)
		if n := len(all); n > 0 && (vectorHead.MatchString(all[n-1]) || all[n-1] != "" && all[n-1][0] == '<' && !strings.Contains(all[n-1], "> = ")) {
			all[n-1] += ", " + piece
			continue
		}
		all = append(all, piece)
	}
	return all
}

// partOf is the expression for a part of a value.
func partOf(expr, path string) string {
	if plain.MatchString(expr) && expr[0] != '*' {
		return expr + path
	}
	return "(" + expr + ")" + path
}

// cutFortran is cutPart for the way in which gdb writes values of Fortran: how the part is reached, a member (%u) or the
// place of an element, from 0, at a time.
//
//	( point = ( x = 0, y = 0 ), u = (3, <repeats 200 times>, ...), name = 'cell' )       %u, 200
//	(( id = 1, u = (1, 2) ), ( id = 2, u = (1, 2, ...) ))                               1 %u, 2
func cutFortran(value string) (path []string, shown int, ok bool) {
	if !strings.Contains(value, "...") || !strings.HasPrefix(value, "( ") && !strings.HasPrefix(value, "(( ") {
		return nil, 0, false
	}
	return cutWithinFortran(value, nil, mostDims)
}

var memberFortran = regexp.MustCompile(`^(\w+) = `)

func cutWithinFortran(value string, path []string, depth int) ([]string, int, bool) {
	named := strings.HasPrefix(value, "( ")
	rows := strings.HasPrefix(value, "(( ")
	if len(path) > 0 && !named && !rows && isCut(value) && (value[0] == '(' && !strings.HasPrefix(value, "((") || isText(value)) {
		return path, elementsIn(value), true
	}
	if !named && !rows || depth == 0 {
		return nil, 0, false
	}
	i := 0
	for _, piece := range pieces(value[1:]) {
		element, times := repeats(strings.TrimSpace(piece))
		below := strconv.Itoa(i)
		if named {
			found := memberFortran.FindStringSubmatch(element)
			if found == nil {
				continue
			}
			element, below = element[len(found[0]):], "%"+found[1]
		}
		if element == "" { // the one before is one of them
			i += times - 1
			continue
		}
		if p, n, ok := cutWithinFortran(element, append(path[:len(path):len(path)], below), depth-1); ok {
			return p, n, true
		}
		i += times
	}
	return nil, 0, false
}

// goDown gives the expression for a part of a value of Fortran, whose elements are named by bounds that only their
// types tell; "" where it cannot be had.
func (m *machine) goDown(q *request, expr string, path []string, then func(expr string)) {
	switch {
	case len(path) == 0:
		then(expr)
	case path[0][0] == '%':
		m.goDown(q, expr+path[0], path[1:], then)
	default:
		m.arrayOf(q.about(expr), func(a array, bad *protocol.Fault) {
			i, _ := strconv.Atoi(path[0]) // by cutFortran
			if bad != nil || i >= a.shape.Elements() {
				then("")
				return
			}
			m.goDown(q, a.item(i), path[1:], then)
		})
	}
}

// about is a request for another expression, with the thread and the frame of this one, that nobody waits for.
func (q *request) about(expr string) *request {
	other := &request{command: &command{name: q.name, args: q.args}, id: q.id, began: q.began, answered: true}
	other.args.Expr = expr
	return other
}

// evaluatedPart answers with a value, and says of the first part which was cut off how many elements there
// are.
func (m *machine) evaluatedPart(q *request, value string) {
	w := q.printing()
	text, _ := shortened(value, m.most(w))
	if len(value) > m.most(w) && m.replyMembers(q, value, 0) {
		return
	}
	whole := func() { m.replyValue(q, printed{Expr: q.args.Expr}, text) }
	if items, n := containerItems(text); isCut(text) && len(items) > 0 {
		shown := 0
		for _, item := range items {
			_, times := repeats(item)
			shown += times
		}
		m.countOf(q, w, n, func(n int) {
			if n <= shown {
				whole()
				return
			}
			m.replyValue(q, printed{Expr: q.args.Expr, Format: q.args.Format, Elements: n, Last: shown - 1}, text)
		})
		return
	}
	part := func(expr string, shown int) {
		m.arrayOf(q.about(expr), func(a array, refusal *protocol.Fault) {
			n := a.shape.Elements()
			if refusal != nil || shown == 0 || n <= shown {
				whole()
				return
			}
			body := a.page(q.args, 0, shown-1)
			body.Part = expr
			m.replyValue(q, body, text)
		})
	}
	if path, shown, ok := cutFortran(value); ok {
		m.goDown(q, strings.TrimPrefix(w.expr, "*"), path, func(expr string) { part(expr, shown) })
	} else if path, shown, ok := cutPart(value); ok {
		part(partOf(w.expr, path), shown)
	} else {
		whole()
	}
}
