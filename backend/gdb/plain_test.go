package gdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/backend/gdb"
)

// TestOwnEnvironment uses a gdb that starts only with the original environment of its
// server.
func TestOwnEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gdb")
	script := "#!/bin/sh\n[ \"$OWN\" = yes ] || { echo broken library >&2; exit 127; }\nexec gdb \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, gdb.Config{Path: path, OwnEnvironment: func() ([]string, string) { return append(os.Environ(), "OWN=yes"), "with its own" }})
	r.launch(build(t, "work.c"), 2)
	const want = `{"text":"gdb does not start with the environment of the ranks (exit status 127: broken library); it is started with its own"}`
	if said := r.sink.transcript(); !strings.Contains(said, want) {
		t.Errorf("said %s", said)
	}
}
