package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestStreamsLoseNothing has a slow output: a message counts as written when the output has taken it, since the process
// may end then. Closing ends a message that is not taken.
func TestStreamsLoseNothing(t *testing.T) {
	taken, take := io.Pipe()
	s := newStreams(strings.NewReader(""), take)
	over := make(chan error, 1)
	write := func() {
		_, err := s.Write([]byte("abc"))
		over <- err
	}
	go write()
	b := make([]byte, 2)
	if _, err := io.ReadFull(taken, b); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-over:
		t.Fatalf("written though one byte is left: %v", err)
	default:
	}
	if _, err := io.ReadFull(taken, b[:1]); err != nil || <-over != nil {
		t.Fatal(err)
	}
	go write()
	s.Close()
	if err := <-over; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after Close: %v", err)
	}
	taken.Close() // ends the goroutine of that write
}
