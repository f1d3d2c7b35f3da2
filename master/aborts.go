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

// aborts are the ranks that have stopped at their call of MPI_Abort, and the codes that they pass.
type aborts struct {
	ranks rank.Set
	stand rank.Set // of ranks: have not been resumed
	into  rank.Set // of ranks: have been resumed
	codes map[string]rank.Set
}

// observe processes an event of ranks. Ranks that are started again have not called MPI_Abort.
func (a *aborts) observe(g protocol.Group) {
	if g.Kind == protocol.KindStarted {
		a.ranks, a.into = a.ranks.Minus(g.Ranks), a.into.Minus(g.Ranks)
		for code, ranks := range a.codes {
			a.codes[code] = ranks.Minus(g.Ranks)
		}
	}
	if g.Kind == protocol.KindStopped || g.Kind.IsEnd() || g.Kind == protocol.KindStarted {
		a.stand = a.stand.Minus(g.Ranks)
	}
	var stop protocol.Stop
	if g.Kind != protocol.KindStopped || json.Unmarshal(g.Body, &stop) != nil || stop.Reason != "mpi-abort" {
		return
	}
	a.ranks, a.stand = a.ranks.Union(g.Ranks), a.stand.Union(g.Ranks)
	for _, c := range g.Columns {
		if c.Name != "code" {
			continue
		}
		for _, v := range c.Values() {
			if a.codes == nil {
				a.codes = map[string]rank.Set{}
			}
			a.codes[v.Value] = a.codes[v.Value].Union(v.Ranks)
		}
	}
}

// goOn records that ranks are resumed, and returns those that continue into MPI_Abort.
func (a *aborts) goOn(ranks rank.Set) rank.Set {
	gone := a.stand.Intersect(ranks)
	a.stand, a.into = a.stand.Minus(gone), a.into.Union(gone)
	return gone
}

// goOn reports the ranks that are about to continue into MPI_Abort. It must be called before they
// are resumed: the starter may then end the servers before any of them has sent an event.
func (m *Master) goOn(ranks rank.Set) {
	if gone := m.aborts.goOn(ranks); !gone.IsEmpty() {
		m.report(protocol.Group{Kind: protocol.KindNote, Ranks: gone, Body: canonical.JSON(protocol.Note{Text: protocol.IntoAbort})})
	}
}

// ended gives the loss of ranks its cause if ranks have continued into MPI_Abort: the starter ends
// the job, and with it our servers, if these run in the slots of the ranks. This replaces the error
// of a connection as the cause.
func (a *aborts) ended(lost protocol.Group, states *session.States) protocol.Group {
	gone := a.ranks.Minus(states.In(session.Stopped).Minus(a.into))
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
