// Sending of a gdb to the servers.

package master

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

const (
	// pieceWait bounds the time of a node for a piece.
	pieceWait = 30 * time.Second
	// unpackWait is the same for the last piece, after which the node unpacks the archive and tries
	// the gdb, which reads most of it again.
	unpackWait = 2 * time.Minute
)

// Stage sends an archive with a gdb down the tree to the servers of all ranks, before their first
// launch or attach. head describes it, without At and Data; sent is called with the number of bytes
// sent so far, and may be nil. without are the servers that could not take it; the error is from
// reading the archive, or the context's.
func (m *Master) Stage(ctx context.Context, archive io.Reader, head protocol.Piece,
	sent func(int64)) (without []session.Absent, err error) {
	m.mu.Lock()
	ranks := m.states.All().Minus(m.never.ranks())
	m.mu.Unlock()
	buffer := make([]byte, protocol.MaxPiece)
	for head.At < head.Packed && !ranks.IsEmpty() {
		n, err := io.ReadFull(archive, buffer[:min(int64(len(buffer)), head.Packed-head.At)])
		if err != nil {
			return without, err
		}
		head.Data = buffer[:n]
		lacking, err := m.stagePiece(ctx, ranks, head)
		if err != nil {
			return without, err
		}
		for _, l := range lacking {
			ranks = ranks.Minus(l.Ranks)
		}
		without = append(without, lacking...)
		if head.At += int64(n); sent != nil {
			sent(head.At)
		}
	}
	return without, nil
}

// stagePiece returns the ranks whose servers have not taken a piece.
func (m *Master) stagePiece(ctx context.Context, ranks rank.Set, p protocol.Piece) ([]session.Absent, error) {
	wait := pieceWait
	if p.At+int64(len(p.Data)) == p.Packed {
		wait = unpackWait
	}
	answered, broken := make(chan []session.Absent, 1), make(chan error, 1)
	m.mu.Lock()
	o := &operation{command: "stage", fail: func(f *protocol.Fault) { broken <- f }}
	m.ask(o, "stage", ranks, wait, protocol.Args{Piece: &p}, func(events []session.Event, done session.Done) {
		answered <- m.lacking(events, done, wait)
	})
	m.mu.Unlock()
	select {
	case lacking := <-answered:
		return lacking, nil
	case err := <-broken:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// lacking returns the ranks without the piece, with the reasons. The lock must be held.
func (m *Master) lacking(events []session.Event, done session.Done, wait time.Duration) (list []session.Absent) {
	add := func(ranks rank.Set, cause string) {
		if !ranks.IsEmpty() {
			list = append(list, session.Absent{Ranks: ranks, Hosts: m.routes.hostsOf(ranks), Cause: cause})
		}
	}
	for _, e := range events {
		var f protocol.Fault
		if e.Group.Kind == protocol.KindFault && json.Unmarshal(e.Group.Body, &f) == nil {
			add(e.Group.Ranks, f.Message)
		}
	}
	add(done.Missing, protocol.NoAnswer(wait))
	add(done.Lost, "the server is lost")
	return list
}
