package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAskVersion checks that a gdb that does not answer in time is not told as one that is not there.
func TestAskVersion(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "gdb")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		slow:         "gdb -nx --version has not answered: 10ms are over",
		"/no/such":   "no gdb (",
		"/bin/false": "no gdb (",
	} {
		wait := 10 * time.Millisecond
		if path != slow {
			wait = time.Minute
		}
		if text, err := askVersion(path, wait); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}
