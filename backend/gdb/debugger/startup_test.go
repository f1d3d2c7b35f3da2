package debugger

import (
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/mi/mitest"
)

// TestBirth checks when a program that writes no GDB/MI is given up: earlier if it
// writes something else.
func TestBirth(t *testing.T) {
	for _, c := range []struct {
		name, line string
		after      time.Duration
		want       string
	}{
		{"nothing", "", silentWait, "./g has said nothing in 2m0s (try it by hand: ./g --version)"},
		{"something else", "hello\tworld", otherWait, `./g is no gdb: it says "hello\tworld" (give one with --gdb PATH)`},
		{"not text", strings.Repeat("\xff", 200), otherWait, `./g is no gdb: it says "?" (give one with --gdb PATH)`},
		{"a gdb", "(gdb)", 0, ""},
		{"a gdb behind a wrapper", "loading\n^done", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const began = time.Second
			d := New(1)
			m := NewMachine(backend.Target{Rank: 3, PID: 42}, Host{})
			d.Add(m)
			m.Start(0, 1, "", 0, false)
			d.Started("./g", began)
			for line := range strings.SplitSeq(c.line, "\n") {
				if line != "" {
					d.Record(began, mitest.Record(line))
				}
			}
			if c.after == 0 {
				if at := d.Deadline(); at != 0 {
					t.Errorf("it is given up at %v", at)
				}
				return
			}
			if at := d.Deadline(); at != began+c.after {
				t.Errorf("it is given up at %v", at)
			}
			d.Tick(began + c.after - 1)
			if d.Kill {
				t.Error("it was given up before its time")
			}
			d.Tick(began + c.after)
			if !d.Kill {
				t.Fatal("it was not given up")
			}
			d.Died(began+c.after, End{Cause: "killed by SIGKILL", Crashed: true}, true)
			if got := d.Startup.refusal("killed by SIGKILL").Error(); got != c.want {
				t.Errorf("got %s", got)
			}
			if got := drain(d, m); !strings.Contains(got, "1 error") || !strings.Contains(got, "lost") {
				t.Errorf("said %s", got)
			}
		})
	}
}
