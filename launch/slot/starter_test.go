package slot

import (
	"bufio"
	"context"
	"os"
	"testing"
	"time"
)

// TestEndOfAShell checks that the end of a starter that a shell runs reaches what the shell has started, too.
func TestEndOfAShell(t *testing.T) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	s, err := Start(Spec{Argv: []string{"/bin/sh", "-c", "sleep 1000 & echo ready; wait"}, Stdout: theirs, Group: true})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	ours.SetReadDeadline(time.Now().Add(30 * time.Second))
	in := bufio.NewReader(ours)
	if line, err := in.ReadString('\n'); line != "ready\n" {
		t.Fatalf("it says %q (%v)", line, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	s.End(over)
	if s.Status() != 128+15 {
		t.Errorf("the shell has ended with status %d, want that of SIGTERM", s.Status())
	}
	if rest, err := in.ReadString('\n'); err == nil || os.IsTimeout(err) {
		t.Errorf("what the shell has started is still there (it says %q, %v)", rest, err)
	}
}
