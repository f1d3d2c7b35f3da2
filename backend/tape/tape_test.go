package tape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sdm/backend"
	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/backend/tape"
	"sdm/protocol/rank"
)

func TestMain(m *testing.M) {
	tape.Main()
	goleak.VerifyTestMain(m)
}

// TestConformance plays the tapes of all recorded versions of gdb to the suite, on machines
// without a gdb. Tapes are recorded by backend/gdb: go test ./backend/gdb -run TestTapes -record.
func TestConformance(t *testing.T) {
	folders, err := filepath.Glob("../../testdata/tapes/gdb-*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no tapes: %v", err)
	}
	dir, _ := backendtest.Program("")
	source, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, backendtest.Subject{
				Without: map[string]string{"killed": "what a signal to a running rank brings about is on no tape"},
				Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
					path := tape.Player(t, filepath.Join(folder, s.Script), map[string]string{"source": source, "program": "/nonexistent"})
					engine, err := gdb.New(gdb.Config{Path: path, RanksPerGDB: backendtest.RanksPerTape(s), StandIns: true}, sink)
					if err != nil {
						t.Fatal(err)
					}
					return backendtest.Opened{Backend: engine, Hold: func(r rank.ID) backend.Target {
						return backend.Target{Rank: r, PID: tape.StandIn(t, r), Program: "work", Held: true}
					}}
				},
			})
		})
	}
}

// TestNoTapeIsLeftOver checks that the suite plays all tapes.
func TestNoTapeIsLeftOver(t *testing.T) {
	tapes, err := filepath.Glob("../../testdata/tapes/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tapes {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tape.Read(text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		script, _, _ := strings.Cut(filepath.Base(path), ".")
		if _, err := os.Stat(filepath.Join("../backendtest/testdata/script", script+".txt")); err != nil {
			t.Errorf("%s belongs to no script", path)
		}
	}
}
