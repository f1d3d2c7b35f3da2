// Ranks that call MPI_Abort, which ends the job.

package master

import (
	"encoding/json"
	"fmt"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// aborts holds the ranks that have stopped at their call of MPI_Abort, and the codes that they
// pass.
type aborts struct {
	ranks   rank.Set
	stopped rank.Set // of ranks: have not been resumed
	resumed rank.Set // of ranks: have been resumed
	codes   map[string]rank.Set
}

// observe processes an event of ranks. Ranks that are started again have not called MPI_Abort.
func (a *aborts) observe(g protocol.Group) {
	if g.Kind == protocol.KindStarted {
		a.ranks, a.resumed = a.ranks.Minus(g.Ranks), a.resumed.Minus(g.Ranks)
		for code, ranks := range a.codes {
			a.codes[code] = ranks.Minus(g.Ranks)
		}
	}
	if g.Kind == protocol.KindStopped || g.Kind.IsEnd() || g.Kind == protocol.KindStarted {
		a.stopped = a.stopped.Minus(g.Ranks)
	}
	var stop protocol.Stop
	if g.Kind != protocol.KindStopped || json.Unmarshal(g.Body, &stop) != nil || stop.Reason != "mpi-abort" {
		return
	}
	a.ranks, a.stopped = a.ranks.Union(g.Ranks), a.stopped.Union(g.Ranks)
	codes, _ := g.Column("code")
	for _, v := range codes.Values() {
		if a.codes == nil {
			a.codes = map[string]rank.Set{}
		}
		a.codes[v.Value] = a.codes[v.Value].Union(v.Ranks)
	}
}

// resume records that ranks are resumed, and returns those that continue into MPI_Abort.
func (a *aborts) resume(ranks rank.Set) rank.Set {
	gone := a.stopped.Intersect(ranks)
	a.stopped, a.resumed = a.stopped.Minus(gone), a.resumed.Union(gone)
	return gone
}

// withCause gives the loss of ranks its cause if ranks have continued into MPI_Abort: the starter ends
// the job, and with it sdm's servers, if these run in the slots of the ranks. This replaces the error
// of a connection as the cause.
func (a *aborts) withCause(lost protocol.Group, states *session.States) protocol.Group {
	gone := a.ranks.Minus(states.In(session.Stopped).Minus(a.resumed))
	if gone.IsEmpty() {
		return lost
	}
	lost.Body = canonical.JSON(protocol.Missing{Cause: fmt.Sprintf("MPI_Abort(comm, %s), called by %s, has ended the job", a.codeOf(gone), protocol.Ranks(gone))})
	return lost
}

// codeOf returns the code that the ranks have passed, or "code" if they have passed several.
func (a *aborts) codeOf(gone rank.Set) string {
	var codes []string
	for code, ranks := range a.codes {
		if ranks.Intersects(gone) {
			codes = append(codes, code)
		}
	}
	if len(codes) == 1 {
		return codes[0]
	}
	return "code"
}
