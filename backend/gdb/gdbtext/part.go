// Parts of a value that gdb has truncated, such as a long array in a structure.

package gdbtext

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

// TruncatedPart finds the first part of a value that gdb has truncated, not the value itself: its path
// from the value, and how many of its elements are shown.
//
//	{n = 3, u = {0, 1, 2...}, v = {...}}                          .u, 3
//	{{x = 1, name = "abc"...}, {...}}                             [0].name, 3
//	{<base> = {u = std::vector of length 9, capacity 9 = {1...}}} .u, 1
func TruncatedPart(value string) (path string, shown int, ok bool) {
	if !strings.Contains(value, "...") {
		return "", 0, false
	}
	return truncatedWithin(strings.TrimSpace(value), "", maxDims)
}

var (
	memberName = pattern.New(`^([A-Za-z_]\w*) = `)
	baseClass  = pattern.New(`^<[^<>]+(?:<.*>)?> = `)
	VectorOf   = pattern.New(`^std::(vector|valarray) of length [0-9]+(?:, capacity [0-9]+)? = `)
	vectorHead = pattern.New(`(?:^|= )std::(?:vector|valarray) of length [0-9]+$`)
)

func truncatedWithin(value, path string, depth int) (string, int, bool) {
	head := VectorOf.FindStringSubmatch(value)
	items := path // to which an index is appended; operator[] of a vector would be a call of the program
	if head != nil {
		value = value[len(head[0]):]
		items += map[string]string{"vector": "._M_impl._M_start", "valarray": "._M_data"}[head[1]]
	}
	braces := strings.HasPrefix(value, "{")
	if path != "" && IsTruncated(value) && (braces && isRow(value) || IsText(value)) {
		return path, elementsIn(value), true
	}
	if !braces || depth == 0 {
		return "", 0, false
	}
	i := 0
	for _, piece := range Members(value[1:]) {
		element, times := Repeats(piece)
		below := fmt.Sprintf("%s[%d]", items, i)
		if found := memberName.FindStringSubmatch(element); found != nil {
			element, below = element[len(found[0]):], path+"."+found[1]
		} else if base := baseClass.FindString(element); base != "" {
			element, below = element[len(base):], path
		}
		if p, n, ok := truncatedWithin(element, below, depth-1); ok {
			return p, n, true
		}
		i += times
	}
	return "", 0, false
}

// Members splits the members between brackets. It does not split at the commas in
// "std::vector of length 9, capacity 9 = {" and in the name of a base class.
func Members(text string) []string {
	var all []string
	for _, piece := range pieces(text) {
		piece = strings.TrimSpace(piece)
		if n := len(all); n > 0 && (vectorHead.MatchString(all[n-1]) || all[n-1] != "" && all[n-1][0] == '<' &&
			!strings.Contains(all[n-1], "> = ")) {
			all[n-1] += ", " + piece
			continue
		}
		all = append(all, piece)
	}
	return all
}

// PartExpr returns the expression for the part of a value at a path.
func PartExpr(expr, path string) string {
	if Plain.MatchString(expr) && expr[0] != '*' {
		return expr + path
	}
	return "(" + expr + ")" + path
}

// Unparenthesized removes parentheses that change nothing from the path of a variable object: ((p)->x) is p->x.
func Unparenthesized(expr string) string {
	for {
		shorter := needless.ReplaceAllString(expr, "$1$2$3")
		if shorter == expr {
			return expr
		}
		expr = shorter
	}
}

// needless matches a name, a member or an element in parentheses, which is no argument and no cast.
var needless = pattern.New(`(^|[(*&\[])\(([A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[\w+\])*)\)(\.|->|\[|\)|$)`)

// TruncatedFortran is TruncatedPart for values of Fortran. The path is a list of members ("%u") and
// indices of elements, from 0.
//
//	( point = ( x = 0, y = 0 ), u = (3, <repeats 200 times>, ...), name = 'cell' )       %u, 200
//	(( id = 1, u = (1, 2) ), ( id = 2, u = (1, 2, ...) ))                               1 %u, 2
func TruncatedFortran(value string) (path []string, shown int, ok bool) {
	if !strings.Contains(value, "...") || !strings.HasPrefix(value, "( ") && !strings.HasPrefix(value, "(( ") {
		return nil, 0, false
	}
	return truncatedWithinFortran(value, nil, maxDims)
}

var memberFortran = pattern.New(`^(\w+) = `)

func truncatedWithinFortran(value string, path []string, depth int) ([]string, int, bool) {
	named := strings.HasPrefix(value, "( ")
	rows := strings.HasPrefix(value, "(( ")
	if len(path) > 0 && !named && !rows && IsTruncated(value) &&
		(value[0] == '(' && !strings.HasPrefix(value, "((") || IsText(value)) {
		return path, elementsIn(value), true
	}
	if !named && !rows || depth == 0 {
		return nil, 0, false
	}
	i := 0
	for _, piece := range pieces(value[1:]) {
		element, times := Repeats(strings.TrimSpace(piece))
		below := strconv.Itoa(i)
		if named {
			found := memberFortran.FindStringSubmatch(element)
			if found == nil {
				continue
			}
			element, below = element[len(found[0]):], "%"+found[1]
		}
		if element == "" { // the previous one is one of them
			i += times - 1
			continue
		}
		if p, n, ok := truncatedWithinFortran(element, append(path[:len(path):len(path)], below), depth-1); ok {
			return p, n, true
		}
		i += times
	}
	return nil, 0, false
}

// Plain matches expressions without side effects: variables, members and elements.
var Plain = pattern.New(`^\**[A-Za-z_]\w*((\.|->)[A-Za-z_]\w*|\[\w+\])*$`)
