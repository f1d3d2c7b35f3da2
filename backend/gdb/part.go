// Parts of a value that gdb has cut off: a long array in a structure.

package gdb

import (
	"fmt"
	"regexp"
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
	if path != "" && isCut(value) && (braces && isRow(value) || strings.HasPrefix(value, "\"")) {
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

// evaluatedPart answers with a value, and says of the first part which was cut off how many elements there
// are.
func (m *machine) evaluatedPart(q *request, value string) {
	body := printed{Expr: q.args.Expr}
	if items, n := containerItems(value); q.args.Format == "" && isCut(value) && n > len(items) && !strings.Contains(value, "<repeats ") {
		body.Elements, body.Last = n, len(items)-1
		m.replyValue(q, body, value)
		return
	}
	path, shown, ok := cutPart(value)
	if !ok || q.args.Format != "" {
		m.replyValue(q, body, value)
		return
	}
	part := &request{command: &command{name: q.name, args: q.args}, id: q.id, began: q.began, answered: true}
	part.args.Expr = partOf(strings.TrimSpace(q.args.Expr), path)
	m.arrayOf(part, func(a array, refusal *protocol.Fault) {
		if n := a.shape.Elements(); refusal == nil && shown > 0 && n > shown {
			body = a.page(q.args.Expr, 0, shown-1)
			body.Part = part.args.Expr
		}
		m.replyValue(q, body, value)
	})
}
