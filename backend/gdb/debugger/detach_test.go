package debugger

import (
	"strings"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
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

// TestDetachRefusedAfterDeadline detaches from a rank that does not stop in time, and gdb refuses.
func TestDetachRefusedAfterDeadline(t *testing.T) {
	d := New(1)
	m := NewMachine(backend.Target{PID: 100}, Host{})
	d.Add(m)
	m.Thread(1).Running = true
	m.State, m.phase = backend.Running, held
	m.run = &run{started: true, request: request.Internal("continue")}
	m.points.Claim(1, "main", nil)
	q := &request.Request{Command: &request.Command{Name: "detach"}, ID: 7}
	m.Open = append(m.Open, q)
	m.termination.detachRank(q)
	m.now = m.termination.giveUp
	m.termination.detachOverdue()
	last := d.Calls.queue[len(d.Calls.queue)-1]
	d.Record(m.now, mi.Record{Class: mi.Result, Token: last.token, Name: "error", Results: mi.Tuple{{Name: "msg", Value: mi.Value{Str: "refused"}}}})
	if n := len(m.Out.Messages); n != 1 || m.Out.Messages[0].Request != q.ID || m.Out.Messages[0].Group.Kind != protocol.KindFault || m.isLeaving() {
		t.Errorf("messages %+v, leaving %v", m.Out.Messages, m.isLeaving())
	}
}
