package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/master/session/sessiontest"
	"sdm/protocol/rank"
)

// sourcing returns a console that executes source of a pipe, and the pipe.
func sourcing(t *testing.T, out *bytes.Buffer) (Config, string) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	tape, err := sessiontest.ReadTape("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tape.Close(context.Background()) })
	return Config{
		Session: tape, All: rank.Range(0, 1), Out: out, Err: out,
		Scripts: []Script{{Name: "script", Lines: []string{"source " + pipe, "echo after\\n"}}},
	}, pipe
}

// Ctrl-C ends the reading of a pipe without a writer, and the prompt comes.
func TestSourceIsInterrupted(t *testing.T) {
	var out bytes.Buffer
	cfg, pipe := sourcing(t, &out)
	interrupts := make(chan struct{}, 1)
	interrupts <- struct{}{} // taken once the script waits
	cfg.Interrupts, cfg.Interactive, cfg.Lines = interrupts, true, Pipe(io.NopCloser(strings.NewReader("echo at the prompt\\n\n")))
	status, err := Run(t.Context(), cfg)
	if want := "script:1: cannot read commands: " + pipe + " is not read to its end: interrupted\nat the prompt\n"; out.String() != want || status != 0 || err != nil {
		t.Errorf("%q, status %d, %v, want %q", out.String(), status, err, want)
	}
}

// The end of the time ends it, too.
func TestSourceIsUnderTheDeadline(t *testing.T) {
	var out bytes.Buffer
	cfg, _ := sourcing(t, &out)
	over := errors.New("the time is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, over)
	defer cancel()
	if status, err := Run(ctx, cfg); !errors.Is(err, over) {
		t.Errorf("status %d, %v, %q", status, err, out.String())
	}
}

// A pipe is executed when its writer has come.
func TestSourceOfAPipe(t *testing.T) {
	var out bytes.Buffer
	cfg, pipe := sourcing(t, &out)
	go os.WriteFile(pipe, []byte("echo within\\n\n"), 0o600) // ends with the reading
	if status, err := Run(t.Context(), cfg); out.String() != "within\nafter\n" || status != 0 || err != nil {
		t.Errorf("%q, status %d, %v", out.String(), status, err)
	}
}
