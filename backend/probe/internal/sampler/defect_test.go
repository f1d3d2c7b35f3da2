package sampler

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestDefect has what is known of a process be wrong, so that following its stacks panics: only its sample is lost.
func TestDefect(t *testing.T) {
	var pids []int
	for range 2 {
		c := exec.Command("cat")
		in, e1 := c.StdinPipe()
		out, e2 := c.StdoutPipe()
		if err := errors.Join(e1, e2, c.Start()); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // then its mappings stay
			t.Fatal(err)
		}
		defer func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		}()
		pids = append(pids, c.Process.Pid)
	}
	c := New("")
	line := Options{By: "line"}
	stacksOf := func(s Sample) int { return len(s.Threads) }
	for _, s := range c.Take(pids, line).Samples {
		if s.Err != nil || stacksOf(s) != 1 {
			t.Fatalf("%d threads, %v", stacksOf(s), s.Err)
		}
	}
	for _, spoil := range []func(p *process){
		func(p *process) { p.images, p.tables = nil, nil },
		func(p *process) { p.maps, p.text = nil, nil }, // which the end of its stack needs, while it is held
	} {
		spoil(c.processes[pids[0]])
		got := c.Take(pids, line).Samples
		if got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "a defect of sdm in ") || got[1].Err != nil || stacksOf(got[1]) != 1 {
			t.Errorf("got %v, %v", got[0].Err, got[1].Err)
		}
		if again := c.Take(pids, line).Samples; again[0].Err != nil || stacksOf(again[0]) != 1 {
			t.Errorf("afterwards: %v", again[0].Err)
		}
	}
}
