package gdb_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"sdm/backend"
	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/backend/tape"
	"sdm/protocol/rank"
)

var (
	recordTapes = flag.Bool("record", false, "write what TestTapes records to testdata/tapes/gdb-VERSION")
	recordedGDB = flag.String("gdb", "gdb", "the gdb that TestTapes records")
)

// TestTapes records a gdb while it passes the suite, and plays the tapes in its place.
// With -record the tapes are kept, and backend/tape plays them on every machine; -gdb
// PATH records another gdb.
func TestTapes(t *testing.T) {
	folder := t.TempDir()
	if *recordTapes {
		version, err := tape.Version(*recordedGDB)
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join("..", "..", "testdata", "tapes", "gdb-"+version)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir, _ := backendtest.Program("")
	source, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"source": source, "program": filepath.Dir(suiteProgram(t))}
	without := map[string]string{"killed": "what a signal to a running rank brings about is on no tape"}
	t.Run("record", func(t *testing.T) {
		backendtest.Run(t, backendtest.Subject{Without: without, Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
			path := tape.Recorder(t, *recordedGDB, filepath.Join(folder, s.Script), names)
			return openForSuite(t, gdb.Config{Path: path, RanksPerGDB: backendtest.RanksPerTape(s)}, s, sink, false)
		}})
	})
	t.Run("play", func(t *testing.T) {
		backendtest.Run(t, backendtest.Subject{Without: without, Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
			engine, err := gdb.New(gdb.Config{Path: tape.Player(t, filepath.Join(folder, s.Script), names), RanksPerGDB: backendtest.RanksPerTape(s), StandIns: true}, sink)
			if err != nil {
				t.Fatal(err)
			}
			return backendtest.Opened{Backend: engine, Hold: func(r rank.ID) backend.Target {
				return backend.Target{Rank: r, PID: tape.StandIn(t, r), Program: "work", Held: true}
			}}
		}})
	})
}
