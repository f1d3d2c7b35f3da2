package gdb

import (
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/mi/mitest"
)

// starting returns a gdb with a bound that is told to attach to n processes, and has
// not written anything yet.
func starting(n int) *debugger {
	d := newDebugger(n)
	d.bound = boundOf(0, 8*time.Second)
	for i := range n {
		d.add(newMachine(backend.Target{PID: 42 + i}, host{}))
	}
	for _, m := range d.machines {
		m.start(0, 1, "", 0, false)
	}
	d.born("./g", 2*time.Second)
	return d
}

// TestSilentGDBIsReplaced checks that a silent gdb gets half of the remaining time, and
// another one the rest.
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
	if got := drain(m); !strings.Contains(got, "it has said nothing in 3s") || strings.Contains(got, "error") {
		t.Errorf("said %s", got)
	}
	second := newDebugger(1)
	second.bound = d.bound
	second.add(m)
	m.takeOver(5 * time.Second)
	second.born("./g", 5*time.Second)
	if at := second.deadline(); at != 8*time.Second {
		t.Fatalf("the second is given up at %v", at)
	}
	second.tick(8 * time.Second)
	if orphans := second.died(8*time.Second, killed, true); len(orphans) != 0 {
		t.Error("a third gdb is started")
	}
	if got := drain(m); !strings.Contains(got, "./g has said nothing in 3s") {
		t.Errorf("said %s", got)
	}
}

// TestSecondGDBHasSomeTime checks that a replacement gdb has some time even if the
// first has used it up.
func TestSecondGDBHasSomeTime(t *testing.T) {
	b := boundOf(0, 8*time.Second).begin(7*time.Second, true)
	if at, lasted := b.silence(true), b.since(9*time.Second); at != 10*time.Second || lasted != 9*time.Second {
		t.Errorf("it is given up at %v, and says that this has lasted %v at 9s", at, lasted)
	}
	if at := boundOf(0, 2*time.Second).begin(1900*time.Millisecond, true).silence(true); at != 2900*time.Millisecond {
		t.Errorf("of a wait of 2s: it is given up at %v", at)
	}
}

// TestAttachIsBounded checks that a gdb that does not attach is killed, and that only
// its current rank is given up while time remains for the other.
func TestAttachIsBounded(t *testing.T) {
	d := starting(2)
	d.take()
	d.record(time.Second, mitest.Record("(gdb)"))
	if at := d.deadline(); at != 6*time.Second {
		t.Fatalf("it is given up at %v", at)
	}
	d.tick(6 * time.Second)
	if !d.kill {
		t.Error("gdb lives")
	}
	if got := drain(d.machines[0]); !strings.Contains(got, "gdb has not taken control of process 42 in 6s") {
		t.Errorf("the first rank: %s", got)
	}
	orphans := d.died(6*time.Second, demise{cause: "killed by SIGKILL", crashed: true}, true)
	if len(orphans) != 1 || orphans[0] != d.machines[1] {
		t.Errorf("%d ranks get another gdb", len(orphans))
	}
}

// TestAttachIsUnbounded checks that without a bound an attach may take any time.
func TestAttachIsUnbounded(t *testing.T) {
	d := starting(1)
	d.bound = bound{}
	d.record(time.Second, mitest.Record("(gdb)"))
	if at := d.deadline(); at != 0 {
		t.Errorf("it is given up at %v", at)
	}
}

// TestTakingOverIsBounded checks that a silent gdb that is to take over a rank is the
// last one: the remaining time is for all of them together.
func TestTakingOverIsBounded(t *testing.T) {
	d := starting(1)
	m := d.machines[0]
	m.attach.request, m.open, m.state = nil, nil, backend.Stopped
	crashed := demise{cause: "killed by SIGSEGV", crashed: true}
	d.birth.speaks = true
	if orphans := d.died(10*time.Second, crashed, true); len(orphans) != 1 {
		t.Fatal("no gdb takes the rank over")
	}
	for _, at := range []time.Duration{10 * time.Second, 12 * time.Second} {
		d = newDebugger(1)
		d.bound = boundOf(0, 8*time.Second)
		d.add(m)
		m.takeOver(at)
		d.born("./g", at)
		d.record(at, mitest.Record("(gdb)"))
		if due := d.deadline(); due != 18*time.Second {
			t.Fatalf("a gdb that began at %v is given up at %v", at, due)
		}
		if at == 10*time.Second {
			d.died(at+time.Second, crashed, true)
		}
	}
	drain(m)
	d.tick(18 * time.Second)
	if orphans := d.died(18*time.Second, demise{cause: "killed by SIGKILL", crashed: true}, true); !d.kill || len(orphans) != 0 {
		t.Errorf("kill %v, and %d ranks get another gdb", d.kill, len(orphans))
	}
	if got := drain(m); !strings.Contains(got, "no other could take the rank over: it has not taken control of process 42 in 8s: it is at ") {
		t.Errorf("said %s", got)
	}
}
