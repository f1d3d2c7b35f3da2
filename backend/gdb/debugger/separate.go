// State that gdb has once for all of its ranks, kept separate for each rank.

package debugger

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// sharedLines are gdb commands that would change or stop the other ranks of a shared
// gdb: the rank gets a gdb of its own for them.
var sharedLines = []string{
	"break", "b", "br", "tbreak", "tb", "hbreak", "hb", "thbreak", "thb", "watch", "rwatch", "awatch", "catch", "tcatch",
	"condition", "ignore", "delete", "d", "clear", "cl", "disable", "dis", "enable", "en", "dprintf", "save",
	"-break-insert", "-break-watch", "-break-delete", "-break-enable", "-break-disable", "-break-condition", "-break-after", "-break-commands",
	"-dprintf-insert", "-catch-load", "-catch-unload", "-catch-throw", "-catch-catch", "-catch-rethrow",
	"handle", "add-inferior", "remove-inferiors", "clone-inferior", "-add-inferior", "-remove-inferior", "record", "rec",
}

// frameFunction matches "frame function", at which a shared gdb 13.1 resumes the ranks.
var frameFunction = pattern.New(`^f(rame|ram|ra|r)?\s+fun`)

// disturbs reports whether a line would change the other ranks of a shared gdb. Then the rank
// gets a gdb of its own, which executes the request.
func (ln *lines) disturbs(q *request.Request, line string) bool {
	if !ln.GDB.Shared() {
		return false
	}
	word, _, _ := strings.Cut(line, " ")
	if !slices.Contains(sharedLines, word) && !frameFunction.MatchString(line) && !(protocol.IsSetting(line) && ln.isForSome(q)) {
		return false
	}
	ln.needsOwnGDB(q, strconv.Quote(line))
	return true
}

// isForSome reports whether a request is for some but not all of the remaining ranks of
// this gdb. A replayed request counts as given to the ranks that have the same in their
// journals.
func (ln *lines) isForSome(q *request.Request) bool {
	return slices.ContainsFunc(ln.GDB.ranks, func(o *core) bool {
		switch {
		case o.finished() || o.moving != nil:
			return false
		case q.Replayed:
			return !wasGiven(o.Target.Before, q.Command) && !o.journal.wasGiven(q.Command)
		}
		return !ln.GDB.Asked.Contains(o.Target.Rank)
	})
}
