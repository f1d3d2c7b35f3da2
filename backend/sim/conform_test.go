package sim_test

import (
	"os"
	"path/filepath"
	"testing"

	"sdm/backend"
	"sdm/backend/backendtest"
	"sdm/backend/sim"
	"sdm/protocol/rank"
)

// TestConformance runs the suite that the gdb back end passes too.
func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{
		Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
			return backendtest.Opened{
				Backend: sim.New(sim.Config{Size: s.Ranks, Loop: s.Loop}, sink),
				Hold:    func(r rank.ID) backend.Target { return backend.Target{Rank: r, Held: true} },
			}
		},
	})
}

// TestSource checks that Source is the program of the suite, byte for byte.
func TestSource(t *testing.T) {
	dir, _ := backendtest.Program("")
	b, err := os.ReadFile(filepath.Join(dir, "work.c"))
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != sim.Source+"\n" {
		t.Error("work.c of the suite is another program")
	}
}
