// Answers of the vertex's own ranks, kept until the root has them: one that was
// lost on its way is given again, and nothing is done twice.

package tree

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Bounds of what is kept when the root still waits for an earlier request. One that
// has been answered in full may be forgotten; asked for again, its answer is then a
// fault that says so.
const (
	maxAnswers     = 64      // requests
	maxAnswerBytes = 4 << 20 // about, of all together
)

// answers are the requests that the vertex's own back end has had, the oldest
// first.
type answers struct {
	newest [2]protocol.RequestID // of each series
	list   []answered
	size   int
}

// series is 0 for requests that front ends have made, 1 for those of the master
// itself. In each, numbers rise: what is not newer than the last has been there.
func series(id protocol.RequestID) int {
	if id >= protocol.FirstInner {
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

// open notes that the back end gets a request.
func (a *answers) open(id protocol.RequestID, ranks rank.Set) {
	newest := &a.newest[series(id)]
	*newest = max(*newest, id)
	a.list = append(a.list, answered{id: id, owed: ranks})
	a.trim()
}

// knows tells whether the back end has had a request.
func (a *answers) knows(id protocol.RequestID) bool { return id <= a.newest[series(id)] }

func (a *answers) find(id protocol.RequestID) *answered {
	i := slices.IndexFunc(a.list, func(e answered) bool { return e.id == id })
	if i < 0 {
		return nil
	}
	return &a.list[i]
}

// add keeps an answer.
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

// trim forgets the oldest requests that are answered in full.
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

// settled lets go of requests with lower numbers of one series: nobody will ask for
// them again.
func (a *answers) settled(before protocol.RequestID) {
	a.list = slices.DeleteFunc(a.list, func(e answered) bool {
		over := e.id < before && series(e.id) == series(before)
		if over {
			a.size -= e.size
		}
		return over
	})
}

// again gives what ranks have answered so far. Those that still owe an answer
// will give it.
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
