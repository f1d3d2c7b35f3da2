package master

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// stagers answers pieces as servers do: the second server is full after the first piece.
type stagers struct {
	mu   sync.Mutex
	sent map[string][]byte // by the ranks of the request
}

func (n *stagers) answer(f *fakeRoot, m wire.Message) {
	if m.Kind != wire.Command {
		obedient(f, m)
		return
	}
	var c protocol.Command
	json.Unmarshal(m.Body, &c)
	n.mu.Lock()
	n.sent[m.Ranks.String()] = append(n.sent[m.Ranks.String()], c.Args.Piece.Data...)
	n.mu.Unlock()
	groups := []protocol.Group{{Kind: protocol.KindResult, Ranks: m.Ranks.Minus(rank.Range(4, 7)), Body: []byte("{}")}}
	if m.Ranks.Contains(4) {
		full := canonical.JSON(&protocol.Fault{Kind: protocol.FaultState, Op: "stage", Message: "/d: full"})
		groups = append(groups, protocol.Group{Kind: protocol.KindFault, Ranks: rank.Range(4, 6), Body: full},
			protocol.Group{Kind: protocol.KindMissing, Ranks: rank.Of(7), Body: []byte(`{"cause":"no answer in 1s"}`)})
	}
	f.reply(m.ID, wire.Final, groups...)
}

func TestStageArchive(t *testing.T) {
	n := &stagers{sent: map[string][]byte{}}
	m, _ := standing(t, n.answer)
	defer closeNow(t, m)
	archive := bytes.Repeat([]byte("0123456789abcdef"), (2*protocol.MaxPiece+160)/16)
	var told []int64
	without, err := m.Stage(context.Background(), bytes.NewReader(archive), protocol.Piece{Dir: "/d", Packed: int64(len(archive))}, func(at int64) { told = append(told, at) })
	if err != nil {
		t.Fatal(err)
	}
	if len(without) != 2 || without[0].Cause != "/d: full" || without[0].Ranks.String() != "4-6" || strings.Join(without[0].Hosts, ",") != "node02" ||
		without[1].Cause != "no answer in 30s" || without[1].Ranks.String() != "7" {
		t.Errorf("without it: %+v", without)
	}
	n.mu.Lock()
	got := append(n.sent["0-7"], n.sent["0-3"]...)
	n.mu.Unlock()
	if !bytes.Equal(got, archive) || len(n.sent["0-7"]) != protocol.MaxPiece {
		t.Errorf("%d bytes of %d have come, %d to all", len(got), len(archive), len(n.sent["0-7"]))
	}
	if len(told) != 3 || told[2] != int64(len(archive)) {
		t.Errorf("told %v", told)
	}
	if _, err := m.Stage(context.Background(), strings.NewReader("short"), protocol.Piece{Packed: 100}, nil); err == nil {
		t.Error("an archive that is shorter than said")
	}
}

func TestStageEnds(t *testing.T) {
	m, _ := standing(t, mute)
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("interrupted")
	time.AfterFunc(10*time.Millisecond, func() { cancel(stop) })
	if _, err := m.Stage(ctx, strings.NewReader("x"), protocol.Piece{Packed: 1}, nil); !errors.Is(err, stop) {
		t.Errorf("cancelled: %v", err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		m.Stage(context.Background(), strings.NewReader("x"), protocol.Piece{Packed: 1}, nil)
	})
	closeNow(t, m)
	group.Wait()
}
