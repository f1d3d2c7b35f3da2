package debugger

import (
	"strings"
	"testing"
	"time"

	"sdm/backend"
)

// TestShellThatStaysIsTold checks that a shell that has not replaced itself by a program is told once,
// while it lasts, and that a wrapper that is no shell is not.
func TestShellThatStaysIsTold(t *testing.T) {
	for _, c := range []struct {
		program     string
		found, over bool
		want        int
	}{
		{program: "/bin/bash", want: 1},
		{program: "/bin/bash", found: true},
		{program: "/bin/bash", over: true},
		{program: "/usr/bin/nice"},
	} {
		d := New(1)
		m := NewMachine(backend.Target{Program: c.program, Wraps: true}, Host{})
		d.Add(m)
		m.now = time.Second
		m.State = backend.Running
		m.wrapper.seek("3")
		if c.found {
			m.wrapper.found()
		}
		if c.over {
			m.State = backend.Exited
		}
		if at := m.deadline(); (at == time.Second+seekPatience) != (c.program == "/bin/bash" && !c.found) {
			t.Errorf("%+v: next deadline %v", c, at)
		}
		d.Tick(seekPatience)
		early := drain(d, m)
		d.Tick(time.Second + seekPatience)
		d.Tick(2*time.Second + seekPatience)
		said := drain(d, m)
		if n := strings.Count(said, "no program in its place for 5s"); n != c.want || strings.Contains(early, "no program") {
			t.Errorf("%+v: said %q before, then %q", c, early, said)
		}
	}
}
