// Structures that are too long to be shown at once: they are paged by their members.

package gdb

import (
	"fmt"
	"strings"

	"sdm/protocol"
)

// segments parts the members of a structure into texts of at most so many bytes, with their names in front. A member that
// is longer is parted itself: "base.u = {1, 2}", "rows[3] = {...}". What has no members is cut off with a mark.
func segments(value string, most int) []string {
	var all []string
	if strings.HasPrefix(value, "{") {
		appendSegments(&all, value, "", most, mostDims)
	}
	return all
}

func appendSegments(all *[]string, value, path string, most, depth int) {
	i := 0
	for _, piece := range members(value[1:]) {
		element, times := repeats(piece)
		below := fmt.Sprintf("%s[%d]", path, i)
		name := memberName.FindString(element)
		if name == "" {
			name = baseClass.FindString(element)
		}
		if name != "" {
			element, below = element[len(name):], joined(path, strings.TrimSuffix(name, " = "))
		}
		i += times
		switch text := below + " = " + element; {
		case name == "" && path == "" && len(piece) <= most:
			*all = append(*all, piece)
		case len(text) <= most:
			*all = append(*all, text)
		case strings.HasPrefix(element, "{") && depth > 1:
			appendSegments(all, element, below, most, depth-1)
		default:
			short, _ := shortened(element, most)
			*all = append(*all, below+" = "+short)
		}
	}
}

// joined puts a member behind the path of its structure.
func joined(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// pageOfMembers writes segments from first on, as many as fit, and gives the last of them.
func pageOfMembers(all []string, first, most int) (text string, last int) {
	last = first
	text = "{" + all[first]
	for last+1 < len(all) && len(text)+len(all[last+1]) < most {
		last++
		text += ", " + all[last]
	}
	if last+1 < len(all) {
		text += "..."
	}
	return text + "}", last
}

// replyMembers answers with the members of a structure from first on; false where the value has none.
func (m *machine) replyMembers(q *request, value string, first int) bool {
	w := q.printing()
	all := segments(value, m.most(w))
	if first >= len(all) {
		return false
	}
	text, last := pageOfMembers(all, first, m.most(w))
	body := printed{Expr: q.args.Expr, Format: q.args.Format}
	if !acts(w.expr, false) { // else there is no way to the others
		body.Elements, body.First, body.Last, body.Members = len(all), first, last, true
	}
	m.replyValue(q, body, text)
	return true
}

// askMembers is page for a structure; the refusal is the answer where it is none.
func (m *machine) askMembers(q *request, w printing, first int, refusal *protocol.Fault) {
	m.askPrint(q, w, w.expr, func(a answer, value string) {
		value = value[len(referenceHead(value)):]
		if a.failed() || !m.replyMembers(q, value, first) {
			m.fail(q, refusal)
		}
	})
}
