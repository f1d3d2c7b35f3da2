package master

import (
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Ranks that answer without hashes are in the result.
func TestWithoutHash(t *testing.T) {
	group := func(kind protocol.Kind, ranks rank.Set, body any) session.Event {
		return session.Event{Group: protocol.Group{Kind: kind, Ranks: ranks, Body: canonical.JSON(body)}}
	}
	got := withoutHash([]session.Event{
		group(protocol.KindResult, rank.Of(0), struct{}{}),
		group(protocol.KindFault, rank.Of(1), &protocol.Fault{Kind: protocol.FaultGDB, Op: "hash", Message: "no"}),
		group(protocol.KindMissing, rank.Of(2), protocol.Missing{}),
		group(protocol.KindLost, rank.Of(3), protocol.Missing{Cause: "gone"}),
	})
	want := []string{`error [1] {"kind":"gdb","op":"diff","message":"no"}`, `missing [2] {"cause":""}`, `lost [3] {"cause":"gone"}`}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, g := range got {
		if g.String() != want[i] {
			t.Errorf("got %s, want %s", g, want[i])
		}
	}
}
