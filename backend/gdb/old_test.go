package gdb_test

import (
	"os"
	"path/filepath"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
)

// A gdb that does not know mi4 is asked for mi3. The old one here is the one of
// this machine, which refuses mi4 in the words of gdb 12.
func TestOldGDB(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gdb-12")
	script := "#!/bin/sh\ncase \"$*\" in *mi4*) echo \"Interpreter \\`mi4' unrecognized\" >&2; exit 1;; esac\nexec gdb \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, gdb.Config{Path: path})
	r.launch(build(t, "work.c"), 6)
	for _, g := range r.answers(r.send(6, "print", protocol.Args{Expr: "6 * 7"}, patience), 6) {
		if g.Kind != protocol.KindResult || column(g, "value") != "42" {
			t.Errorf("got %v", g)
		}
	}
}
