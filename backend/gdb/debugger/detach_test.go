package debugger

import (
	"strings"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/protocol/rank"
)

// TestDetachInSharedGDB detaches one of two ranks of a gdb: a thread of the other rank is selected
// before, and children of the rank are mended. A gdb with one rank needs no selection.
func TestDetachInSharedGDB(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		d := New(ranks)
		for i := range ranks {
			m := NewMachine(backend.Target{Rank: rank.ID(i), PID: 100 + i}, Host{})
			d.Add(m)
			m.Thread(i + 1)
		}
		m := d.Machines[0]
		d.Bytes = nil
		m.termination.detachFrom(request.Internal("detach"), func(request.Answer) {})
		commands := strings.Fields(string(d.Bytes))
		selects := ranks == 2 && len(commands) == 5 && strings.HasSuffix(commands[0], "-list-features") && commands[2] == "2"
		if selects != (ranks == 2) || !strings.HasSuffix(commands[len(commands)-2], "-target-detach") || commands[len(commands)-1] != "i1" {
			t.Errorf("%d ranks: %q", ranks, d.Bytes)
		}
		if !m.Out.ClearChildren {
			t.Errorf("%d ranks: children are not mended", ranks)
		}
	}
}
