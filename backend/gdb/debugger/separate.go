// State that gdb has once for all of its ranks, kept separate for each rank.

package debugger

import (
	"slices"
	"strconv"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// disturbs reports whether a line would change the other ranks of a shared gdb. Then the rank
// gets a gdb of its own, which executes the request.
func (ln *lines) disturbs(q *request.Request, line string) bool {
	if !ln.GDB.Shared() {
		return false
	}
	if !gdbtext.ConcernsAllRanks(line) && !(protocol.IsSetting(line) && ln.isForSome(q)) {
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
