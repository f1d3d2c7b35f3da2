package gdb

import (
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/mi"
)

// starting is a gdb with a bound that is told to attach to n processes, and has not spoken yet.
func starting(n int) *debugger {
	d := newDebugger(n)
	d.wait = 8 * time.Second
	for i := range n {
		d.add(newMachine(backend.Target{PID: 42 + i}, nil))
	}
	for _, m := range d.machines {
		m.start(0, 1, "", 0, false)
	}
	d.birth = birth{name: "./g", at: time.Second, wait: d.wait}
	return d
}

// A gdb that says nothing gets half of the time; another one gets the rest.
func TestSilentGDBIsReplaced(t *testing.T) {
	d := starting(1)
	if at := d.deadline(); at != 5*time.Second {
		t.Fatalf("it is given up at %v", at)
	}
	d.tick(5 * time.Second)
	killed := demise{cause: "killed by SIGKILL", crashed: true}
	if orphans := d.died(5*time.Second, killed, true); len(orphans) != 1 {
		t.Fatalf("%d ranks get another gdb", len(orphans))
	}
	m := d.machines[0]
	if got := drain(m); !strings.Contains(got, "it has said nothing in 4s") || strings.Contains(got, "error") {
		t.Errorf("said %s", got)
	}
	second := newDebugger(1)
	second.wait = d.wait
	second.add(m)
	m.takeOver(5 * time.Second)
	second.birth = birth{name: "./g", at: 5 * time.Second, wait: d.wait}
	second.tick(9 * time.Second)
	if orphans := second.died(9*time.Second, killed, true); len(orphans) != 0 {
		t.Error("a third gdb is started")
	}
	if got := drain(m); !strings.Contains(got, "./g has said nothing in 4s") {
		t.Errorf("said %s", got)
	}
}

// A gdb that speaks and does not attach is killed; only the rank that it was at is given up.
func TestAttachIsBounded(t *testing.T) {
	d := starting(2)
	d.take()
	d.record(time.Second, mi.ParseLine([]byte("(gdb)")))
	if at := d.deadline(); at != d.wait {
		t.Fatalf("it is given up at %v", at)
	}
	d.tick(d.wait)
	if !d.kill {
		t.Error("gdb lives")
	}
	if got := drain(d.machines[0]); !strings.Contains(got, "gdb has not taken control of process 42 in 8s") {
		t.Errorf("the first rank: %s", got)
	}
	orphans := d.died(d.wait, demise{cause: "killed by SIGKILL", crashed: true}, true)
	if len(orphans) != 1 || orphans[0] != d.machines[1] {
		t.Errorf("%d ranks get another gdb", len(orphans))
	}
}

// Without a bound gdb may take its time to attach.
func TestAttachIsUnbounded(t *testing.T) {
	d := starting(1)
	d.wait, d.machines[0].attach.late = 0, 0
	d.record(time.Second, mi.ParseLine([]byte("(gdb)")))
	if at := d.deadline(); at != 0 {
		t.Errorf("it is given up at %v", at)
	}
}
