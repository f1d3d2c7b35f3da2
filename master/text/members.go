// What a value consists of.

package text

import (
	"strconv"

	"sdm/protocol"
)

// MembersOf reads the result of members, so that expand can continue after its end.
func MembersOf(g protocol.Group) protocol.Members {
	var body protocol.Members
	decode(g.Body, &body)
	return body
}

// members writes the type of a value, and a line for each of its members.
func members(_ *Writer, _ Asked, g protocol.Group) []answer {
	body := MembersOf(g)
	cols := columns(g)
	value := func(column string) string {
		if c, ok := cols[column]; ok {
			return spreadText(c)
		}
		return "?"
	}
	name := body.Expr
	for _, p := range body.Path {
		name += " " + p
	}
	x := answer{ranks: g.Ranks, lines: []string{name + " = " + value("value") + typeNote(body.Type, "")}}
	for _, m := range body.List {
		x.lines = append(x.lines, "  "+m.Name+" = "+value("value."+m.Name)+typeNote(m.Type, m.Access))
	}
	if body.More {
		end := body.First + len(body.List)
		text := "  " + strconv.Itoa(body.First) + " to " + strconv.Itoa(end-1)
		if body.Count > 0 {
			text += " of " + strconv.Itoa(body.Count)
		}
		x.lines = append(x.lines, text+"; expand for more")
	}
	return []answer{x}
}

// typeNote returns a type in parentheses.
func typeNote(typ, access string) string {
	switch {
	case typ == "":
		return ""
	case access != "":
		return "  (" + access + " " + typ + ")"
	}
	return "  (" + typ + ")"
}
