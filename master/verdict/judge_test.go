package verdict

import (
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestJudge(t *testing.T) {
	answer := func(id protocol.RequestID, g protocol.Group) session.Event {
		return session.Event{Name: g.Kind.String(), ID: id, Command: "stacks", Group: g}
	}
	end := func(id protocol.RequestID) session.Event {
		return session.Event{Name: session.DoneName, ID: id, Command: "stacks", Done: &session.Done{Asked: 3}}
	}
	two := jobOf(3).in("0-1", "MPI_Barrier", "w").graph
	var j Judge
	j.Look(session.NewEvent(protocol.Group{Kind: protocol.KindExited, Ranks: rank.Of(2)}))
	j.Look(answer(1, protocol.Group{Kind: protocol.KindResult, Ranks: set("0-1"), Waits: two, Body: []byte(`{"samples":4}`)}))
	j.Look(answer(2, protocol.Group{Kind: protocol.KindResult, Ranks: set("0-1"), Body: []byte("{}")}))
	done := j.Look(end(1)).Done
	want := session.Finding{Kind: "cause", Certain: true, Ranks: set("0-2"), Text: "0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 has ended"}
	if len(done.Verdict) != 1 || done.Verdict[0].Text != want.Text || done.Verdict[0].Kind != want.Kind || !done.Verdict[0].Certain || !done.Verdict[0].Ranks.Equal(want.Ranks) {
		t.Errorf("got %+v, want %+v", done.Verdict, want)
	}
	if v := j.Look(end(2)).Done.Verdict; v != nil {
		t.Errorf("answers without waits: %+v", v)
	}
	j.Look(session.NewEvent(protocol.Group{Kind: protocol.KindRunning, Ranks: rank.Of(2)})) // it was started again
	j.Look(answer(3, protocol.Group{Kind: protocol.KindResult, Ranks: set("0-1"), Waits: two, Body: []byte("{}")}))
	if v := j.Look(end(3)).Done.Verdict; len(v) != 1 || v[0].Text != "0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 was not looked at" || v[0].Certain {
		t.Errorf("after a new start: %+v", v)
	}
	if len(j.answers) > 0 {
		t.Errorf("answers of ended calls are kept: %v", j.answers)
	}
}
