package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestFloodLosesNothingAndLetsRepliesThrough lets two ranks write as fast as they can while the
// third answers requests.
func TestFloodLosesNothingAndLetsRepliesThrough(t *testing.T) {
	const lines = 300_000
	_, d := startLocal(t, 1, 3)
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c",
		fmt.Sprintf("if [ $SDM_RANK = 2 ]; then exec sleep 1000; fi; exec seq 1 %d", lines)}}})
	d.do("continue", protocol.Args{})
	var got [2]strings.Builder
	eat := func(e session.Event) {
		for r := range got {
			if e.Group.Kind == protocol.KindStdout && e.Group.Ranks.Contains(rank.ID(r)) {
				got[r].Write(e.Group.Body)
			}
		}
	}
	for _, e := range d.seen {
		eat(e)
	}
	began := time.Now()
	var waits []time.Duration
	asked := time.Now()
	ask := func() protocol.RequestID {
		asked = time.Now()
		id, err := d.Do(soon(t), session.Call{Command: "interrupt", Ranks: "2"})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	id, left := ask(), 2
	d.until("end of the flood", func(e session.Event) bool {
		eat(e)
		if e.ID == id && e.Done != nil {
			waits = append(waits, time.Since(asked))
			id = ask()
		}
		left -= ends(e)
		d.seen = nil
		return left == 0
	})
	var want strings.Builder
	for i := range lines {
		fmt.Fprintln(&want, i+1)
	}
	for r := range got {
		if got[r].String() != want.String() {
			t.Errorf("of rank %d came %d bytes of %d, or others", r, got[r].Len(), want.Len())
		}
	}
	if len(waits) < 3 { // benchmarks measure how soon
		t.Fatalf("%d replies came during the flood", len(waits))
	}
	slices.Sort(waits)
	t.Logf("%d bytes in %v; %d replies, median %v, longest %v", 2*want.Len(), time.Since(began), len(waits), waits[len(waits)/2], waits[len(waits)-1])
}
