// Settings of gdb that are refused.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// refusedSettings are settings that are refused, with the reason and an alternative.
var refusedSettings = []struct {
	setting   *pattern.Pattern
	why, hint string
}{
	{pattern.New(`^detach-on-fork off`), "a rank is one process: a second one would stand still unseen", "set follow-fork-mode child goes with the child"},
	{pattern.New(`^follow-exec-mode new`), "a rank is one process, also when it starts another program in its place", "set follow-exec-mode same"},
	{pattern.New(`^p(?:r|ri|rin|rint)? frame-info [^a]`), "where ranks stand is told in one form, in which equal places are one line", "set print frame-arguments, entry-values and the like are obeyed"},
}

// refuses answers a line that is refused, or that a shared gdb cannot execute; false: it is neither.
func (ln *lines) refuses(q *request.Request, line string) bool {
	words := strings.Fields(line)
	if len(words) > 1 && (words[0] == "catch" || words[0] == "tcatch") && words[1] == "vfork" && !ln.Target.AllStop {
		ln.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "catch vfork is not handed to gdb", Hint: "without gdb in front it gives the rank a gdb that can resume it"})
		return true
	}
	if len(words) < 3 || words[0] != "set" && words[0] != "-gdb-set" {
		return false
	}
	setting := strings.Join(words[1:], " ")
	if ln.GDB.Shared() && setting == "follow-fork-mode child" {
		ln.needsOwnGDB(q, strconv.Quote(line))
		return true
	}
	for _, s := range refusedSettings {
		if s.setting.MatchString(setting) {
			ln.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: setting + ": " + s.why, Hint: s.hint})
			return true
		}
	}
	return false
}
