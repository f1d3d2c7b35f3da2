// Answers of the vertex's own ranks, kept until the root has them. An answer that
// was lost on its way up is repeated, and no command is executed twice.

package tree

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Limits of the stored answers. Beyond them the oldest requests that are answered
// in full are forgotten, even if the root still waits for them. If such a request
// is received again, its answer is a fault that says so.
const (
	maxAnswers     = 64      // requests
	maxAnswerBytes = 4 << 20 // about, of all together
)

// answers holds the requests that the vertex's own back end has received, the
// oldest first.
type answers struct {
	newest [2]protocol.RequestID // by series
	list   []answered
	size   int
}

// series returns 0 for requests of front ends and 1 for internal requests of the
// master. Numbers rise within a series: a number up to the newest is a repetition.
func series(id protocol.RequestID) int {
	if id.IsInternal() {
		return 1
	}
	return 0
}

type answered struct {
	id     protocol.RequestID
	owed   rank.Set
	groups []protocol.Group
	size   int
}

// open records that the back end receives a request.
func (a *answers) open(id protocol.RequestID, ranks rank.Set) {
	newest := &a.newest[series(id)]
	*newest = max(*newest, id)
	a.list = append(a.list, answered{id: id, owed: ranks})
	a.trim()
}

// knows reports whether the back end has received a request.
func (a *answers) knows(id protocol.RequestID) bool { return id <= a.newest[series(id)] }

func (a *answers) find(id protocol.RequestID) *answered {
	i := slices.IndexFunc(a.list, func(e answered) bool { return e.id == id })
	if i < 0 {
		return nil
	}
	return &a.list[i]
}

// add stores an answer.
func (a *answers) add(id protocol.RequestID, g protocol.Group) {
	e := a.find(id)
	if e == nil {
		return
	}
	size := g.Size()
	e.owed = e.owed.Minus(g.Ranks)
	e.groups = append(e.groups, g)
	e.size, a.size = e.size+size, a.size+size
	a.trim()
}

// trim forgets the oldest requests that are answered in full, until the limits
// hold.
func (a *answers) trim() {
	for i := 0; i < len(a.list) && (len(a.list) > maxAnswers || a.size > maxAnswerBytes); {
		if !a.list[i].owed.IsEmpty() {
			i++
			continue
		}
		a.size -= a.list[i].size
		a.list = slices.Delete(a.list, i, i+1)
	}
}

// settled forgets the requests of one series with lower numbers: they will not be
// received again.
func (a *answers) settled(before protocol.RequestID) {
	a.list = slices.DeleteFunc(a.list, func(e answered) bool {
		over := e.id < before && series(e.id) == series(before)
		if over {
			a.size -= e.size
		}
		return over
	})
}

// again returns the answers of ranks so far. Ranks that still owe one will answer.
func (a *answers) again(id protocol.RequestID, ranks rank.Set) []protocol.Group {
	e := a.find(id)
	if e == nil {
		return []protocol.Group{{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(protocol.Fault{
			Kind: protocol.FaultState, Message: "it was done, but the answer was lost with a server and is not kept any more",
		})}}
	}
	var groups []protocol.Group
	for _, g := range e.groups {
		if g.Ranks.Intersects(ranks) {
			groups = append(groups, g)
		}
	}
	return groups
}
