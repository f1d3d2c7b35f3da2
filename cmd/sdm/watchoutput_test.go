package main

import (
	"os"
	"path/filepath"
	"testing"

	"sdm/protocol"
)

func TestTailOfOutput(t *testing.T) {
	const before = "Abort(1) of the job before\n"
	for _, c := range []struct{ name, now, want string }{
		{"what others wrote before is not of the job", before + "x\n", "x\n\n"},
		{"nothing was written", before, "\n"},
		{"the file has become shorter", "y\n", "y\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, []byte(c.now), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			o := &outputs{files: []outputFile{{f, protocol.KindStdout, int64(len(before))}}}
			defer o.close()
			if got := o.tail(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
