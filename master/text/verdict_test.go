package text

import (
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// TestVerdict: the reason is in front of the trees, and ranks without stacks are among those that are
// waited for.
func TestVerdict(t *testing.T) {
	world := wait.Comm{Key: "w", Name: "MPI_COMM_WORLD", Members: rank.Range(0, 3)}
	barrier := wait.Call{Function: "MPI_Barrier", Comm: "w", Root: wait.No, Bytes: wait.No}
	in := rank.Range(0, 1)
	result := protocol.Group{Kind: protocol.KindResult, Ranks: in, Body: []byte(`{"by":"line","samples":4,"every":"1s"}`),
		Stack: stack.Of(in, []stack.Frame{{Func: "main"}}), Waits: wait.Of(in, wait.Rank{Comms: []wait.Comm{world}, Calls: []wait.Call{barrier}})}
	silent := protocol.Group{Kind: protocol.KindMissing, Ranks: rank.Of(2), Body: []byte(`{"cause":"no answer in 10s"}`)}
	asked := Asked{Command: "stacks", Ranks: rank.Range(0, 3), Gone: []session.StatusGroup{{Ranks: rank.Of(3)}}}
	groups := []protocol.Group{result, silent}
	var w Writer
	const want = "so far: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for some of 2-3; 2 did not answer, 3 has ended\n"
	if got, _ := w.Answers(asked, groups); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want it to begin with %s", got, want)
	}
	asked.Export = "folded"
	if got, _ := w.Answers(asked, groups); strings.Contains(got, "certain") {
		t.Errorf("for other programs: %s", got)
	}
}
