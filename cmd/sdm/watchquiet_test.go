package main

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestSilence(t *testing.T) {
	begin := time.Unix(1000, 0)
	s := &silence{wait: 2 * time.Second, last: begin, look: begin}
	for _, c := range []struct {
		at    time.Duration
		wrote bool
		want  bool
	}{
		{1500 * time.Millisecond, false, false}, {1900 * time.Millisecond, true, false}, {3800 * time.Millisecond, false, false},
		{4 * time.Second, false, true}, {5 * time.Second, false, false}, // once
		{6 * time.Second, true, false}, {7900 * time.Millisecond, false, false},
		{100 * time.Second, false, false}, // we were stopped
		{100*time.Second + 250*time.Millisecond, false, true},
	} {
		if got := s.step(begin.Add(c.at), c.wrote); got != c.want {
			t.Errorf("after %v: %v", c.at, got)
		}
	}
}

// TestEars hears writes to a pipe that nobody has read, but not what it has forgotten.
func TestEars(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	e, err := listen([]string{fmt.Sprintf("/proc/self/fd/%d", w.Fd())}, &outputs{})
	if err != nil {
		t.Fatal(err)
	}
	e.follow(time.Hour)
	defer e.close()
	w.WriteString("ours")
	e.forget()
	if e.wrote() {
		t.Error("it has heard its own output")
	}
	w.WriteString("theirs")
	if !e.wrote() {
		t.Error("it has not heard the output of the job")
	}
}
