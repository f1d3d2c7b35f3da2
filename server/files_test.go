package server

import (
	"os"
	"testing"
	"time"
)

// waitForFile waits until another process has made a file and written to it.
func waitForFile(t *testing.T, path string) {
	t.Helper()
	eventually(t, path, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	})
}

// writeTo writes to a FIFO that another process makes.
func writeTo(t *testing.T, path, text string) {
	t.Helper()
	var f *os.File
	eventually(t, path, func() bool {
		var err error
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
		return err == nil
	})
	f.WriteString(text)
	f.Close()
}

// eventually polls a condition outside of this process, for which there is nothing to wait on.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(testTimeout)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: did not happen", what)
		}
	}
}
