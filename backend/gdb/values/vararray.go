// Elements of arrays as members: those of a long array are asked for as a section.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// arrayListed is how many elements an array has at most that is no section of its own for each page.
const arrayListed = 1000

// isArray reports whether gdb itself shows the elements of an array.
func (o object) isArray() bool { return !o.dynamic && arrayValue.MatchString(o.value) }

// arrayValue is the value that gdb gives to the object of an array (varobj.c, value_as_string).
var arrayValue = pattern.New(`^\[[0-9]+\]$`)

// elementNumber reads the number in "[3]", "(3)" or "(:,3)".
func elementNumber(name string) (n int, ok bool) {
	if !strings.HasPrefix(name, "[") && !strings.HasPrefix(name, "(") {
		return 0, false
	}
	digits := name[strings.LastIndexAny(name, "([,")+1:]
	n, err := strconv.Atoi(strings.TrimRight(digits, ")]"))
	return n, err == nil
}

// elements calls then with elements of an array. Those of a long one are asked for as a section, as gdb would make an
// object of each element.
func (w *walk) elements(o object, first, count int, then func(children []object, more bool)) {
	n := o.member.Count
	count = min(count, n-first)
	if count <= 0 {
		then(nil, false)
		return
	}
	low := w.lowest(o)
	named := func(children []object) {
		for i := range children {
			w.nameElement(o, &children[i], low+first+i)
		}
		then(children, first+count < n)
	}
	section := w.section(o, low+first, count)
	switch {
	case n <= arrayListed || section == "" && n <= maxListed:
		w.ask(o, first, first+count, func(all []object, _ bool) { named(all) })
	case section == "":
		w.fail("the elements of " + w.text(o) + " are too many for gdb")
	default:
		w.create(section, func(part object) {
			w.ask(part, 0, count, func(all []object, _ bool) {
				if dims := w.dimensions(o); len(dims) > 1 {
					for i := range all {
						all[i].member.Type = withBounds(all[i].member.Type, dims[:len(dims)-1])
					}
				}
				named(all)
			})
		})
	}
}

// lowest returns the lowest index of the outer dimension of an array.
func (w *walk) lowest(o object) int {
	if dims := w.dimensions(o); len(dims) > 0 {
		return dims[len(dims)-1].Low
	}
	return 0
}

// dimensions returns the dimensions of an array of Fortran; none for C.
func (w *walk) dimensions(o object) []protocol.Dim {
	if a, ok := gdbtext.ParseArray("", o.member.Type); w.fortran && ok && a.Shape.Fortran {
		return a.Shape.Dims
	}
	return nil
}

// section returns the expression for count elements of an array from an index on; "": there is none.
func (w *walk) section(o object, index, count int) string {
	expr := o.member.Expr
	switch dims := w.dimensions(o); {
	case expr == "":
		return ""
	case dims != nil:
		return fortranItem(expr, strconv.Itoa(index)+":"+strconv.Itoa(index+count-1), len(dims))
	case w.fortran:
		return ""
	}
	return gdbtext.PartExpr(expr, "["+strconv.Itoa(index)+"]@"+strconv.Itoa(count))
}

// nameElement names an element of an array, by its index.
func (w *walk) nameElement(o object, c *object, index int) {
	n := strconv.Itoa(index)
	dims := w.dimensions(o)
	switch {
	case w.fortran:
		c.member.Name = "(" + strings.Repeat(":,", max(len(dims)-1, 0)) + n + ")"
		if o.member.Expr != "" && dims != nil && !o.section {
			c.member.Expr = fortranItem(o.member.Expr, n, len(dims))
		}
	default:
		c.member.Name = "[" + n + "]"
		if o.member.Expr != "" {
			c.member.Expr = gdbtext.PartExpr(o.member.Expr, c.member.Name)
		}
	}
}

// fortranItem returns the expression for an index of the last of some dimensions of an array, which may be a part of
// another one: a and 3 are a(:,3), and a(:,3) and 2 are a(2,3).
func fortranItem(expr, index string, dims int) string {
	if found := fortranPart.FindStringSubmatch(expr); found != nil {
		return found[1] + strings.Repeat(":,", dims-1) + index + "," + found[2] + ")"
	}
	return expr + "(" + strings.Repeat(":,", dims-1) + index + ")"
}

// fortranPart is a part of an array: all of its first dimensions, and one index of each further one.
var fortranPart = pattern.New(`^(.*\()(?::,)+(-?[0-9]+(?:,-?[0-9]+)*)\)$`)

// withBounds returns the type of a part of an array with the bounds that it has there; gdb's begin at 1 in a section.
func withBounds(typ string, dims []protocol.Dim) string {
	start := strings.LastIndex(typ, " (")
	if start < 0 {
		return typ
	}
	var bounds []string
	for _, d := range dims {
		bound := strconv.Itoa(d.Low + d.Count - 1)
		if d.Low != 1 {
			bound = strconv.Itoa(d.Low) + ":" + bound
		}
		bounds = append(bounds, bound)
	}
	return typ[:start] + " (" + strings.Join(bounds, ",") + ")"
}
