package main

import (
	"testing"
	"testing/synctest"
	"time"

	"sdm/server"
	"sdm/tree/overlay"
)

// TestParentGreetsLate waits an hour, by a clock that the test controls, for the handshake of a
// parent that is connected.
func TestParentGreetsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool overlay.ReaderPool
		parent, link := pool.Pipe()
		self := overlay.Identity{Node: 1, Size: 1}
		p := &program{o: &options{}, self: server.NewSelf(self)}
		answered := make(chan error, 1)
		go func() {
			_, err := p.linked(t.Context(), link)
			answered <- err
		}()
		<-time.After(time.Hour)
		if _, err := overlay.Greet(t.Context(), parent, overlay.Identity{Size: 1}, 1); err != nil {
			t.Error(err)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
	})
}
