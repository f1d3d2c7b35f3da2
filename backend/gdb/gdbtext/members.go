// Pages of the members of long structures.

package gdbtext

import (
	"fmt"
	"strings"
)

// Segments splits the members of a structure into texts of at most so many bytes that begin with the
// member's name. A longer member is split itself: "base.u = {1, 2}", "rows[3] = {...}". One without
// members is truncated.
func Segments(value string, most int) []string {
	var all []string
	if strings.HasPrefix(value, "{") {
		appendSegments(&all, value, "", most, maxDims)
	}
	return all
}

func appendSegments(all *[]string, value, path string, most, depth int) {
	i := 0
	for _, piece := range Members(value[1:]) {
		element, times := Repeats(piece)
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
			short, _ := Truncate(element, most)
			*all = append(*all, below+" = "+short)
		}
	}
}

// joined appends a member to the path of its structure.
func joined(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// PageOfMembers joins as many segments from first on as fit into most bytes, at least one, and returns
// the index of the last.
func PageOfMembers(all []string, first, most int) (text string, last int) {
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
