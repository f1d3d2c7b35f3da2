package master

import (
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Servers that are lost after a rank has continued into MPI_Abort have ended with the job. Before
// that, and for ranks that were started again, the loss keeps its own cause.
func TestEndByAbort(t *testing.T) {
	states := session.NewStates(rank.Range(0, 3))
	var a aborts
	see := func(kind protocol.Kind, ranks rank.Set, body any, columns ...column.Column) {
		g := protocol.Group{Kind: kind, Ranks: ranks, Body: canonical.JSON(body), Columns: columns}
		states.Feed(session.NewEvent(g))
		a.observe(g)
	}
	lost := protocol.Group{Kind: protocol.KindLost, Ranks: rank.Range(0, 3), Body: canonical.JSON(protocol.Missing{Cause: "server 0 on vm: closed"})}
	cause := func() string { return string(a.withCause(lost, states).Body) }
	see(protocol.KindStopped, rank.Range(0, 3), protocol.Stop{Reason: "breakpoint-hit"})
	if got := cause(); !strings.Contains(got, "closed") {
		t.Errorf("without a call of MPI_Abort: %s", got)
	}
	see(protocol.KindRunning, rank.Range(0, 3), struct{}{})
	see(protocol.KindStopped, rank.Of(2), protocol.Stop{Reason: "mpi-abort"}, column.New("code", 2, "7", 0))
	if got := cause(); !strings.Contains(got, "closed") {
		t.Errorf("it stands there: %s", got)
	}
	if gone := a.resume(rank.Range(0, 3)); gone.String() != "2" {
		t.Errorf("ranks %v go on into it", gone)
	}
	if gone := a.resume(rank.Of(2)); !gone.IsEmpty() {
		t.Errorf("ranks %v go on into it a second time", gone)
	}
	if got := cause(); !strings.Contains(got, "called by rank 2") {
		t.Errorf("it is let go on: %s", got)
	}
	see(protocol.KindRunning, rank.Of(2), struct{}{})
	if got, want := cause(), `{"cause":"MPI_Abort(comm, 7), called by rank 2, has ended the job"}`; got != want {
		t.Errorf("it has gone on: %s, want %s", got, want)
	}
	see(protocol.KindStopped, rank.Of(1), protocol.Stop{Reason: "mpi-abort"}, column.New("code", 1, "9", 0))
	see(protocol.KindExited, rank.Of(1), protocol.Exit{})
	if got, want := cause(), `{"cause":"MPI_Abort(comm, code), called by ranks 1-2, has ended the job"}`; got != want {
		t.Errorf("two have: %s, want %s", got, want)
	}
	see(protocol.KindStarted, rank.Range(0, 3), protocol.Started{})
	if got := cause(); !strings.Contains(got, "closed") {
		t.Errorf("they have been started again: %s", got)
	}
	see(protocol.KindStopped, rank.Of(3), protocol.Stop{Reason: "mpi-abort"}, column.New("code", 3, "5", 0))
	a.resume(rank.Of(3))
	if got, want := cause(), `{"cause":"MPI_Abort(comm, 5), called by rank 3, has ended the job"}`; got != want {
		t.Errorf("after the restart: %s, want %s", got, want)
	}
}
