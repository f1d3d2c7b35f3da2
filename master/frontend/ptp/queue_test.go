package ptp

import (
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// Output waits while Eclipse has too many events; answers do not.
func TestHeldOutput(t *testing.T) {
	q := newQueue()
	q.size(4)
	q.hold(true)
	q.send(ptp.EventOutput, rank.Of(0), "a\n")
	q.send(ptp.EventOK, rank.Of(1))
	q.send(ptp.EventOutput, rank.Of(0), "b\n")
	if batch := q.take(); len(batch) != 1 || batch[0].ID != ptp.EventOK {
		t.Errorf("sent while output is held: %v", batch)
	}
	q.hold(false)
	batch := q.take()
	text := ""
	for _, p := range batch {
		text += p.Args[1]
	}
	if text != "a\nb\n" {
		t.Errorf("sent then: %v", batch)
	}
}
