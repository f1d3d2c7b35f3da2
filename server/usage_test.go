package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUsageOf(t *testing.T) {
	proc := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(proc, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("7/statm", "5000 300 200 10 0 400 0\n")
	put("7/stat", "7 (a ) b) R 1 7 7 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 1 0 100 1 1\n")
	put("8/statm", "1 1\n")
	put("8/stat", "8 (cut) S 1\n")
	want := processUsage{rss: 300 * int64(os.Getpagesize()) / 1024, cpu: 1.75}
	if u, ok := usageOf(proc, 7); !ok || u != want {
		t.Errorf("%v, %v, want %v", u, ok, want)
	}
	for _, pid := range []int{0, 8, 9} {
		if u, ok := usageOf(proc, pid); ok {
			t.Errorf("process %d: %v", pid, u)
		}
	}
	if u, ok := usageOf("/proc", os.Getpid()); !ok || u.rss == 0 {
		t.Errorf("our own: %v, %v", u, ok)
	}
}
