// What others do in a session that several front ends share.

package text

import (
	"fmt"
	"strings"

	"sdm/protocol"
)

// shared describes an event of a session that several front ends share; false if it cannot be read.
func shared(g protocol.Group) (lines []string, ok bool) {
	switch g.Kind {
	case protocol.KindCommand:
		var c protocol.Commanded
		ok = decode(g.Body, &c)
		line := "[" + c.Name + "] " + c.Command
		if c.Set != "" {
			line += " on " + c.Set
		}
		return []string{line}, ok
	case protocol.KindFront:
		var f protocol.FrontEnd
		ok = decode(g.Body, &f)
		return []string{FrontEnd(f) + map[string]string{"came": " has come", "left": " has left", "lost": " is gone"}[f.Change]}, ok
	}
	var gap protocol.Gap
	ok = decode(g.Body, &gap)
	return []string{fmt.Sprintf("%s could not be kept for here; this is how the ranks stand now:", Plural(int(gap.Missed), "event"))}, ok
}

// FrontEnd names a front end for people: "ann on login2", "ann (dap)".
func FrontEnd(f protocol.FrontEnd) string {
	name := f.Name
	if f.Host != "" {
		name += " on " + f.Host
	}
	if f.Door != "" && f.Door != "console" {
		name += " (" + f.Door + ")"
	}
	return name
}

// FrontEnds names several.
func FrontEnds(all []protocol.FrontEnd) string {
	var names []string
	for _, f := range all {
		names = append(names, FrontEnd(f))
	}
	return strings.Join(names, ", ")
}
